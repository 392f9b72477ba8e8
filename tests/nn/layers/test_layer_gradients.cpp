// Every module, with respect to its input and every number of every parameter, by the oracle of the
// build.
#include "nn/gradcheck.h"
#include "nn/layers/block.h"
#include "nn/layers/embedding.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

using namespace tests;

namespace {

/// Checks make(seed) on inputs (B, T, width) of 1 and 3 batches and of 1, 2 and 17 tokens.
template <class Make>
void check(Dim width, Make make) {
  std::uint64_t seed = 1;
  for (const Dim B : {1, 3})
    for (const Dim T : {1, 2, 17}) {
      if (testing::sanitized && B * T > 17) continue;
      const auto module = make(seed++);
      GradcheckOptions options;
      options.seed = seed;
      const GradcheckReport report = gradcheck(module, uniform({B, T, width}, seed), options);
      INFO("input (" << B << ", " << T << ", " << width << "): " << to_string(report));
      CHECK(report.ok);
      CHECK(report.elements == count_parameters(module) + B * T * width);
    }
}

/// A module called with a mask, as a module of one input.
template <Module M>
struct Masked {
  M inner;
  Mask mask;
  Tensor operator()(const Tensor& x) const { return inner(x, mask); }
  void visit(auto&& f) const { f("inner", inner); }
};

struct Dropping {
  Block block;
  Tensor operator()(const Tensor& x) const {
    Rng rng(5);
    return block(x, causal(), Mode::training(rng));
  }
  void visit(auto&& f) const { f("block", block); }
};

}  // namespace

TEST_CASE("gradients of Linear") {
  check(3, [](std::uint64_t seed) { return drawn<Linear>(seed, 3, 5); });
  check(3, [](std::uint64_t seed) {
    Rng rng(seed);
    return Linear(3, 2, rng, Bias::without);
  });
}

TEST_CASE("gradients of LayerNorm") {
  check(5, [](std::uint64_t seed) {
    const LayerNorm norm(5);
    redraw(norm, seed);
    return norm;
  });
}

TEST_CASE("gradients of MLP") {
  check(3, [](std::uint64_t seed) { return drawn<MLP>(seed, 3, 5); });
}

TEST_CASE("gradients of Embedding, words repeated") {
  const Embedding table = drawn<Embedding>(1, 7, 3);
  for (const Dim B : {1, 3})
    for (const Dim T : {1, 2, 17}) {
      std::vector<Dim> ids(static_cast<std::size_t>(B * T));
      Rng rng(9);
      for (Dim& id : ids) id = rng.below(7);
      const GradcheckReport report = gradcheck(table, [&] { return table(Indices({B, T}, ids)); });
      INFO(to_string(report));
      CHECK(report.ok);
      CHECK(report.elements == 21);
    }
}

TEST_CASE("gradients of Attention, one head and more, of odd size") {
  const auto masked = [](Dim heads, const Mask& mask) {
    return [=](std::uint64_t seed) {
      return Masked<Attention>{drawn<Attention>(seed, 3 * heads, heads), mask};
    };
  };
  check(3, masked(1, {}));
  check(6, masked(2, causal()));
  check(6, masked(2, causal() & window(2)));
}

TEST_CASE("gradients of Attention with padding and with a row that may look nowhere") {
  const Mask blind = custom(3, 3, {true, false, true, false, false, false, false, true, true});
  for (const Mask& mask : {padding({1, 3, 2}), blind, causal() & padding({3, 0, 2})}) {
    const Masked<Attention> module{drawn<Attention>(1, 6, 2), mask};
    const GradcheckReport report = gradcheck(module, uniform({3, 3, 6}, 2));
    INFO(to_string(report));
    CHECK(report.ok);
  }
}

TEST_CASE("gradients of CrossAttention with respect to queries, source and parameters") {
  for (const Dim B : {1, 3})
    for (const Dim T : {1, 2, 5})
      for (const Dim S : {2, 17}) {
        if (testing::sanitized && B * T * S > 51) continue;
        const CrossAttention cross = drawn<CrossAttention>(1, 6, 3, 2);
        const Tensor x = parameter(uniform({B, T, 6}, 1)),
                     source = parameter(uniform({B, S, 3}, 2));
        std::vector<NamedTensor> named{{"x", x}, {"source", source}};
        for (const auto& [name, p] : named_parameters(cross)) named.push_back({name, p});
        const GradcheckReport report =
            gradcheck([&] { return cross(x, source, T <= S ? causal() : Mask()); }, named);
        INFO(to_string(report));
        CHECK(report.ok);
        CHECK(report.elements == B * T * 6 + B * S * 3 + count_parameters(cross));
      }
}

// A softmax over one key is 1 whatever the query: mathematics says that nothing arrives there.
TEST_CASE("gradients of CrossAttention over one key") {
  const CrossAttention cross = drawn<CrossAttention>(1, 6, 3, 2);
  const Tensor x = parameter(uniform({2, 3, 6}, 1)), source = parameter(uniform({2, 1, 3}, 2));
  std::vector<NamedTensor> named{{"x", x}, {"source", source}};
  for (const auto& [name, p] : named_parameters(cross)) named.push_back({name, p});
  GradcheckOptions options;
  CHECK_FALSE(gradcheck([&] { return cross(x, source); }, named, options).ok);
  options.zero_gradients = {"x", "q_attn.weight", "q_attn.bias"};
  const GradcheckReport report = gradcheck([&] { return cross(x, source); }, named, options);
  INFO(to_string(report));
  CHECK(report.ok);
}

TEST_CASE("gradients of Block") {
  check(6, [](std::uint64_t seed) {
    Rng rng(seed);
    const Masked<Block> module{Block(6, 2, 5, rng), causal()};
    redraw(module, seed);
    return module;
  });
}

TEST_CASE("gradients of Block while it drops") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    if (testing::sanitized && seed > 1) break;
    Rng rng(seed);
    const Dropping module{Block(6, 2, 5, rng, 0.3)};
    redraw(module, seed);
    const GradcheckReport report = gradcheck(module, uniform({3, 4, 6}, seed));
    INFO(to_string(report));
    CHECK(report.ok);
  }
}
