// Break it to understand it: the model of make run without one of its parts.
//
// Works out note 004 on a text (tied W_Q and W_K), and what a model loses without each part.
// Key idea: only an experiment shows what a part does, and a low loss can be a sign of cheating.
// The switches are those of the command: fledge train --without mask, --tie-qk, --freeze q,k.
// Next: nn/variant.h, nn/gpt/held_parameters.h.
#include "examples/lessons/attention/variants.h"
#include "examples/lessons/vocabulary.h"
#include "nn/inspect/least_loss.h"

using namespace fledge;
using namespace support;

namespace {
using variants::all_variants, variants::Broken, variants::mean_outcome, variants::outcome,
    variants::Outcome, variants::seeds, variants::without;

std::vector<std::string> cells(const std::string& name, const Outcome& found) {
  const bool has_attention = name != "without attention";
  return {"   " + name, formatted("%.3f", found.loss),
          has_attention ? formatted("%.2f", found.attention) : "-", formatted("%.0f", found.slowly),
          formatted("%.0f", found.flying)};
}

Table table_of_outcomes() {
  constexpr auto right = Table::Align::right;
  return Table(
      {{"   the model"}, {"loss", right}, {"weight", right}, {"slowly", right}, {"flying", right}});
}

void lesson(LessonText& to) {
  const Corpus text = birds::read_text();
  const double floor = least_loss(text.train);

  to.set("seeds", "%d", seeds);
  to.set("floor", "%.3f", floor);
  Table table = table_of_outcomes();
  std::vector<Outcome> rows;
  for (const Broken& broken : all_variants()) {
    rows.push_back(mean_outcome(text, broken.variant));
    table.row(cells(broken.name, rows.back()));
  }
  to.set("models", table.text());
  const auto row = [&](std::size_t i) { return rows.at(i); };
  const Outcome whole = row(0), no_mask = row(1), no_attention = row(8), frozen = row(10);

  to.set("loss without mask", "%.4f", no_mask.loss);
  to.claim("cheats", no_mask.loss < floor / 10);
  to.set("filled without mask", "%.0f", no_mask.slowly + no_mask.flying);
  to.claim("fills few", no_mask.slowly + no_mask.flying < 20);
  double least = whole.loss;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i != 1) least = std::min(least, rows[i].loss);
  to.set("lowest", "%.3f", least);
  to.claim("floor", least >= floor);

  to.set("loss without positions", "%.3f", row(2).loss);
  to.set("loss without value", "%.3f", row(5).loss);
  to.set("loss", "%.3f", whole.loss);
  to.set("right without residual", "%.0f", row(6).slowly);
  to.set("right without norm", "%.0f", row(7).slowly);
  to.set("frozen", "%.2f", frozen.attention);
  to.set("slowly, frozen V", "%.0f", row(11).slowly);
  to.set("flying, frozen V", "%.0f", row(11).flying);
  to.claim("no attention", no_attention.slowly + no_attention.flying == 0);
  to.claim("even split",
           std::abs(frozen.attention - 0.25) < 0.02 && frozen.slowly >= 18 && frozen.flying >= 18);
  to.set("weight", "%.2f", whole.attention);
  to.claim("whole", whole.attention > 0.8 && whole.slowly >= 18 && whole.flying >= 18);
  to.claim("residual, norm", row(6).loss > whole.loss + 0.05 && row(7).loss > whole.loss + 0.05);
}

void without_part(Lesson& to, const std::string& part) {
  const Corpus text = birds::read_text();
  Table table = table_of_outcomes();
  table.row(cells("nothing left out", outcome(text, {}, 1)));
  table.row(cells("without " + part, outcome(text, without(part), 1)));
  to.say("One run each, with seed 1:\n");
  to.show(table.text());
  to.say("Below 'slowly' and 'flying', 1 means that the blank is filled with this word.");
}
}  // namespace

int main(int argc, char** argv) {
  return run_lesson(argc, argv, {lesson}, {{"--without", without_part}});
}
