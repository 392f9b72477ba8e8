// Break it to understand it: the model of make run without one of its parts. The switches are those
// of the command: fledge train --without mask, --with tied-qk, --freeze q,k.
#include "examples/lessons/attention/blanks.h"
#include "nn/inspect/ngram_losses.h"

namespace fledge::lessons::in_break_it {

using blanks::Outcome, blanks::seeds;

/// "without mask", "W_Q = W_K" and so on.
struct Broken {
  std::string name;
  Recipe recipe;
};

std::vector<Broken> all_variants() {
  std::vector<Broken> all{{"nothing left out", {}}};
  for (const std::string part :
       {"mask", "positions", "scale", "mlp", "value", "residual", "norm", "attention"})
    all.emplace_back(Broken{"without " + part, {}})
        .recipe.each([&]<class Part>(const char* word, Part& member) {
          if (part == word) member = Part::none;
        });
  all.push_back({"W_Q = W_K", {.tie_qk = true}});
  all.push_back({"W_Q, W_K frozen", {.learned = {.q = Learning::none, .k = Learning::none}}});
  all.push_back({"W_V frozen", {.learned = {.v = Learning::none}}});
  return all;
}

void lesson(LessonText& to) {
  const double floor = least_loss(blanks::text().train);
  Table table = Table::of_numbers({"   the model", "loss", "weight", "slowly", "flying"});
  std::vector<Outcome> rows;
  for (const auto& [name, recipe] : all_variants()) {
    const Outcome& found = rows.emplace_back(blanks::outcome(recipe, seeds));
    const bool has_attention = name != "without attention";
    table.row("   %s | %.3f | %s | %d | %d", name.c_str(), found.loss,
              has_attention ? formatted("%.2f", found.to_birds).c_str() : "-", found.slowly,
              found.flying);
  }
  to.set_all("seeds", seeds, "floor", floor, "models", table);
  const auto row = [&](std::size_t i) { return rows.at(i); };
  const Outcome whole = row(0), no_mask = row(1), no_attention = row(8), frozen = row(10);

  to.set_all("loss without mask", no_mask.loss, "filled without mask",
             no_mask.slowly + no_mask.flying);
  to.claim("cheats", no_mask.loss < floor / 10);
  to.claim("fills few", no_mask.slowly + no_mask.flying < 20);
  double least = whole.loss;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i != 1) least = std::min(least, rows[i].loss);
  to.claim("floor", least >= floor);

  to.set_all("lowest", least, "weight", whole.to_birds, "right without residual", row(6).slowly,
             "right without norm", row(7).slowly, "frozen", frozen.to_birds, "slowly, frozen V",
             row(11).slowly, "flying, frozen V", row(11).flying);
  to.claim("no attention", no_attention.slowly + no_attention.flying == 0);
  to.claim("even split",
           std::abs(frozen.to_birds - 0.25) < 0.02 && frozen.slowly >= 18 && frozen.flying >= 18);
  to.claim("whole", whole.to_birds > 0.8 && whole.slowly >= 18 && whole.flying >= 18);
  to.claim("residual, norm", row(6).loss > whole.loss + 0.05 && row(7).loss > whole.loss + 0.05);
}

const LessonProgram program({lesson});

}  // namespace fledge::lessons::in_break_it
