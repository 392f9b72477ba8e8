// Break it to understand it: the model of make run without one of its parts. The switches are those
// of the command: fledge train --without mask, --with tied-qk, --freeze q,k.
#include "examples/lessons/attention/blanks.h"
#include "nn/inspect/ngram_losses.h"

namespace fledge::lessons::in_break_it {

using blanks::seeds;

/// "without mask", "W_Q = W_K" and so on.
struct Broken {
  std::string name;
  Recipe recipe;
};

Recipe without(const std::string& part) {
  Recipe recipe;
  recipe.each([&]<class Part>(const char* word, Part& member) {
    if (part == word) member = Part::none;
  });
  return recipe;
}

std::vector<Broken> all_variants() {
  std::vector<Broken> all{{"nothing left out", {}}};
  for (const char* part :
       {"mask", "positions", "scale", "mlp", "value", "residual", "norm", "attention"})
    all.push_back({std::string("without ") + part, without(part)});
  all.push_back({"W_Q = W_K", {.tie_qk = true}});
  all.push_back({"W_Q, W_K frozen", {.learned = {.q = Learning::none, .k = Learning::none}}});
  all.push_back({"W_V frozen", {.learned = {.v = Learning::none}}});
  return all;
}

/// Of one run, or means over runs.
struct Outcome {
  double loss = 0, attention = 0;  // nats a word, over the whole text; 'walk' to 'birds'
  double slowly = 0, flying = 0;   // in how many runs the word is the likeliest
};

Outcome outcome(const Corpus& text, const Recipe& recipe, std::uint64_t seed) {
  const LanguageModel model = birds::new_model(text, seed, recipe);
  birds::train(model, text, seed);
  return {mean_loss(model, text.train, text.train.documents()),
          birds::watch(model, text, birds::watches()[0]).attention,
          blanks::is_filled(model, text, blanks::slowly) ? 1. : 0.,
          blanks::is_filled(model, text, blanks::flying) ? 1. : 0.};
}

/// The mean of the loss and of the attention, and the sum of the counts, over the seeds 1 to 20.
Outcome mean_outcome(const Corpus& text, const Recipe& recipe) {
  Outcome sum;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Outcome one = outcome(text, recipe, seed);
    sum.loss += one.loss / seeds, sum.attention += one.attention / seeds;
    sum.slowly += one.slowly, sum.flying += one.flying;
  }
  return sum;
}

std::vector<std::string> cells(const std::string& name, const Outcome& found) {
  const bool has_attention = name != "without attention";
  return {"   " + name, formatted("%.3f", found.loss),
          has_attention ? formatted("%.2f", found.attention) : "-", formatted("%.0f", found.slowly),
          formatted("%.0f", found.flying)};
}

void lesson(LessonText& to) {
  const double floor = least_loss(blanks::text().train);
  constexpr auto right = Table::Align::right;
  Table table(
      {{"   the model"}, {"loss", right}, {"weight", right}, {"slowly", right}, {"flying", right}});
  std::vector<Outcome> rows;
  for (const Broken& broken : all_variants()) {
    rows.push_back(mean_outcome(blanks::text(), broken.recipe));
    table.row(cells(broken.name, rows.back()));
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

  to.set_all("lowest", least, "weight", whole.attention, "right without residual", row(6).slowly,
             "right without norm", row(7).slowly, "frozen", frozen.attention, "slowly, frozen V",
             row(11).slowly, "flying, frozen V", row(11).flying);
  to.claim("no attention", no_attention.slowly + no_attention.flying == 0);
  to.claim("even split",
           std::abs(frozen.attention - 0.25) < 0.02 && frozen.slowly >= 18 && frozen.flying >= 18);
  to.claim("whole", whole.attention > 0.8 && whole.slowly >= 18 && whole.flying >= 18);
  to.claim("residual, norm", row(6).loss > whole.loss + 0.05 && row(7).loss > whole.loss + 0.05);
}

const LessonProgram program({lesson});

}  // namespace fledge::lessons::in_break_it
