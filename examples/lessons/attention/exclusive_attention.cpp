// Exclusive self-attention: what a head brings has nothing of the direction of the word's own value,
// so looking at itself brings a word nothing.                                        Zhai 2026
#include "examples/lessons/attention/blanks.h"

namespace fledge::lessons::in_exclusive_attention {

/// y − (y·v̂)v̂, where v̂ = v/‖v‖.   y, v (1, D)
Tensor without_own(const Tensor& y, const Tensor& v) { return y - v * (dot(y, v) / dot(v, v)); }

void what_is_left(LessonText& to) {
  const Tensor birds = Array({1, 2}, {1, 2}), walk = Array({1, 2}, {2, 0});
  Table table = Table::of_numbers({"to itself", "to birds", "mixture", "exclusive"});
  double along = 0;
  for (const double itself : {0., 0.5, 0.9, 1.}) {
    const Tensor y = walk * itself + birds * (1 - itself), z = without_own(y, walk);
    table.row("%.1f | %.1f | (%.2f, %.2f) | (%.2f, %.2f)", itself, 1 - itself, number(y, 0),
              number(y, 1), number(z, 0), number(z, 1));
    along = std::max(along, std::abs(dot(z, walk)));
  }
  to.set("mixtures", table);
  to.claim("nothing of itself", along < 1e-6);
}

constexpr int seeds = 10;

void walk_and_birds(LessonText& to) {
  const Corpus& text = blanks::text();
  Table table = Table::of_numbers({"heads", "loss", "to birds", "to itself", "right of 20"});
  std::vector<std::array<double, 4>> found;
  for (const Recipe& recipe : {Recipe{}, Recipe{.exclusive = Exclusive::own_value}}) {
    double loss = 0, to_birds = 0, to_itself = 0, right = 0;  // means over the seeds; a sum
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const LanguageModel model = birds::new_model(text, seed, recipe);
      birds::train(model, text, seed);
      const auto weight = [&](const std::string& looks_at) {
        return birds::watch(model, text, {"birds sometimes walk", "walk", looks_at}).attention;
      };
      loss += mean_loss(model, text.train, text.train.documents()) / seeds;
      to_birds += weight("birds") / seeds, to_itself += weight("walk") / seeds;
      for (const auto& blank : {blanks::slowly, blanks::flying})
        right += blanks::is_filled(model, text, blank) ? 1 : 0;
    }
    table.row("%s | %.3f | %.2f | %.2f | %.0f", found.empty() ? "usual" : "exclusive", loss,
              to_birds, to_itself, right);
    found.push_back({loss, to_birds, to_itself, right});
  }
  to.set_all("models", table, "seeds", seeds, "itself", found[1][2]);
  to.claim("learns", found[1][3] >= 15);
  to.claim("itself", found[1][2] > found[0][2] && found[1][1] < found[0][1]);
  to.claim("no better", found[1][0] > found[0][0]);
}

const LessonProgram program({what_is_left, walk_and_birds});

}  // namespace fledge::lessons::in_exclusive_attention
