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
  Table table = Table::of_numbers({"heads", "loss", "to birds", "to itself", "right of 20"});
  const blanks::Outcome usual = blanks::outcome({}, seeds),
                        exclusive = blanks::outcome({.exclusive = Exclusive::own_value}, seeds);
  for (const auto& [name, found] : {std::pair{"usual", usual}, {"exclusive", exclusive}})
    table.row("%s | %.3f | %.2f | %.2f | %d", name, found.loss, found.to_birds, found.to_itself,
              found.slowly + found.flying);
  to.set_all("models", table, "seeds", seeds, "itself", exclusive.to_itself);
  to.claim("learns", exclusive.slowly + exclusive.flying >= 15);
  to.claim("itself", exclusive.to_itself > usual.to_itself && exclusive.to_birds < usual.to_birds);
  to.claim("no better", exclusive.loss > usual.loss);
}

const LessonProgram program({what_is_left, walk_and_birds});

}  // namespace fledge::lessons::in_exclusive_attention
