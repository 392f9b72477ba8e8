// The smallest model that learns walk → birds: a board of entries, each trained with ten seeds. Ours
// is the first on it; exercise 18 grades yours.
#include "examples/lessons/attention/smallest.h"

namespace fledge::lessons::in_smallest {
using smallest::Entry, smallest::Grade, smallest::grade;

constexpr Entry ours{7, 4, Bias::without, 0.05}, of_make_run{16, 32, Bias::with, 0.04},
    narrower{4, 8, Bias::without, 0.06};

void board(LessonText& to) {
  Table table = Table::of_numbers(
      {"   entry", "width", "hidden", "biases", "rate", "parameters", "learned, of 10"});
  std::vector<Grade> grades;
  for (const auto& [name, entry] :
       {std::pair{"make run", of_make_run}, {"ours", ours}, {"narrower", narrower}}) {
    const Grade& found = grades.emplace_back(grade(entry));
    table.row("   %s | %d | %d | %s | %.2f | %s | %d", name, int(entry.width), int(entry.hidden),
              entry.bias == Bias::with ? "yes" : "no", entry.rate,
              thousands(found.parameters).c_str(), found.learned);
  }
  const Dim V = blanks::text().tokenizer.size(), T = birds::model_sizes(blanks::text()).context,
            C = ours.width, tables = (V + T) * C, attention = 4 * C * C, mlp = 2 * C * ours.hidden,
            norms = 6 * C;
  to.set_all("board", table, "words", V, "positions", T, "width", C, "hidden", ours.hidden, "ours",
             grades[1].parameters, "tables", tables, "attention", attention, "mlp", mlp, "norms",
             norms);
  to.claim("counted", grades[0].parameters == 3680 &&
                          grades[1].parameters == tables + attention + mlp + norms);
  to.claim_rate("make run learns", grades[0].learned, 10, smallest::enough);
  to.claim_rate("ours learns", grades[1].learned, 10, smallest::enough);
  to.claim("narrower fails", grades[2].learned < smallest::enough);
}

void other_seeds(LessonText& to) {
  const Grade found = grade(ours, 11);
  to.set("other seeds", found.learned);
  to.claim_rate("unseen", found.learned, 10, 7);
}

const LessonProgram program({board, other_seeds});

}  // namespace fledge::lessons::in_smallest
