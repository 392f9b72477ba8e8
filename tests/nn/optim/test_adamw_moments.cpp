// The moments of AdamW: saved and restored.
#include <algorithm>

#include "nn/optim/adamw.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

/// Two parameters with gradients of a seed; the second only from its second step on.
struct TwoWeights {
  Tensor a = parameter(Array({2}, {1, 2})), b = parameter(Array({1, 1}, {3}));
  AdamW adamw{{a, b}, {}};

  void step(int number) {
    Rng rng(static_cast<std::uint64_t>(number));
    adamw.zero_grad();
    a.set_grad(Array({2}, {rng.normal(), rng.normal()}));
    if (number > 0) b.set_grad(Array({1, 1}, {rng.normal()}));
    adamw.step();
  }
};

}  // namespace

TEST_CASE("AdamW: with its moments restored it goes on in the same bits") {
  for (const int stop : {0, 1, 2, 5}) {
    TwoWeights whole, first, second;
    for (int step = 0; step < 8; ++step) whole.step(step);
    for (int step = 0; step < stop; ++step) first.step(step);
    const std::vector<AdamW::Moments> moments = first.adamw.moments();
    CHECK(moments[0].t == stop);
    CHECK(moments[1].t == std::max(stop - 1, 0));
    CHECK(moments[1].m.exists() == (stop > 1));
    assign(second.a, first.a.value());
    assign(second.b, first.b.value());
    second.step(5);  // what it remembers before is gone
    assign(second.a, first.a.value());
    assign(second.b, first.b.value());
    second.adamw.restore(moments);
    first.step(stop);  // the moments are copies: neither moves the other's
    for (int step = stop; step < 8; ++step) second.step(step);
    CHECK(same_bits(second.a.value(), whole.a.value()));
    CHECK(same_bits(second.b.value(), whole.b.value()));
  }
}

TEST_CASE("AdamW: moments that no steps give are refused, and change nothing") {
  TwoWeights pair;
  for (int step = 0; step < 3; ++step) pair.step(step);
  const std::vector<AdamW::Moments> good = pair.adamw.moments();
  const auto bent = [&](auto change) {
    std::vector<AdamW::Moments> moments = good;
    change(moments);
    return moments;
  };
  const auto refused = [&](auto change) {
    return refusal<ValueError>([&] { pair.adamw.restore(bent(change)); });
  };
  CHECK(refused([](auto& m) { m.pop_back(); }) == "AdamW: has 2 parameters: got the moments of 1");
  const std::string misfit = " gradients, and its moments do not fit that number";
  CHECK(refused([](auto& m) { m[1].t = -1; }) == "AdamW: parameter 1 has had -1" + misfit);
  CHECK(refused([](auto& m) {
          m[1] = {Array(), Array(), -1};
        }) == "AdamW: parameter 1 has had -1" + misfit);
  CHECK(refused([](auto& m) { m[1].t = 0; }) == "AdamW: parameter 1 has had 0" + misfit);
  CHECK(refused([](auto& m) { m[0].v = Array(); }) == "AdamW: parameter 0 has had 3" + misfit);
  CHECK(refusal<ShapeError>([&] {
          pair.adamw.restore(bent([](auto& m) { m[1].m = Array({1}, {0}); }));
        }) == "AdamW: the moments of parameter 1 of shape (1, 1) have shapes (1) and (1, 1)");
  const std::vector<AdamW::Moments> now = pair.adamw.moments();
  for (std::size_t p = 0; p < good.size(); ++p) {
    CHECK(now[p].t == good[p].t);
    CHECK(same_bits(now[p].m, good[p].m));
    CHECK(same_bits(now[p].v, good[p].v));
  }
}
