#include "engine/ops.h"
#include "examples/fledge/gradients/table.h"

namespace fledge {

namespace {

using In = const std::vector<Tensor>&;
constexpr Draw positive = Draw::positive, apart = Draw::apart;

// Row numbers: one is repeated, and some rows are not used.
const Indices ids({2, 3}, {4, 0, 4, 1, 4, 2});

const Axes first_and_last{0, -1}, last_first{2, 0, 1};

Array some_true() { return {{2, 3}, {1, 0, 0, 1, 1, 0}}; }

Mask some_hidden() {  // the second query sees no key
  return custom(3, 4,
                {true, false, true, true, false, false, false, false, false, true, true, false});
}

/// qkv (120, 3C) made of few numbers x (1, 3C): the kernel cuts it into several blocks of queries,
/// and the check of so few inputs is fast.
Tensor many_times(const Tensor& x) {
  Rng rng(7);
  return matmul(Tensor(random_normal({120, 1}, 0, 1, rng)), x);
}

}  // namespace

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> cases = {
      {"add", {{{2, 3}}, {{2, 3}}}, [](In x) { return x[0] + x[1]; }},
      {"add broadcast", {{{2, 1, 3}}, {{4, 1}}}, [](In x) { return x[0] + x[1]; }},
      {"add a number", {{{}}, {{2, 3}}}, [](In x) { return x[0] + x[1]; }},
      {"add itself", {{{3}}}, [](In x) { return x[0] + x[0]; }},
      {"sub", {{{2, 3}}, {{3}}}, [](In x) { return x[0] - x[1]; }},
      {"sub broadcast", {{{1, 3}}, {{4, 1}}}, [](In x) { return x[0] - x[1]; }},
      {"mul", {{{2, 3}}, {{2, 3}}}, [](In x) { return x[0] * x[1]; }},
      {"mul broadcast", {{{3, 1}}, {{2, 1, 4}}}, [](In x) { return x[0] * x[1]; }},
      {"mul itself", {{{5}}}, [](In x) { return x[0] * x[0]; }},
      {"div", {{{2, 3}}, {{2, 3}, positive}}, [](In x) { return x[0] / x[1]; }},
      {"div broadcast", {{{3}}, {{2, 1}, positive}}, [](In x) { return x[0] / x[1]; }},
      {"neg", {{{7}}}, [](In x) { return -x[0]; }},
      {"pow", {{{2, 3}, positive}, {{2, 3}}}, [](In x) { return pow(x[0], x[1]); }},
      {"pow broadcast", {{{2, 1}, positive}, {{3}}}, [](In x) { return pow(x[0], x[1]); }},
      {"pow of a number", {{{2, 3}}}, [](In x) { return pow(x[0], 3); }},
      {"where", {{{2, 3}}, {{2, 3}}}, [](In x) { return where(some_true(), x[0], x[1]); }},
      {"where broadcast", {{{3}}, {{2, 1}}}, [](In x) { return where(some_true(), x[0], x[1]); }},

      {"exp", {{{2, 3}}}, [](In x) { return exp(x[0]); }},
      {"log", {{{2, 3}, positive}}, [](In x) { return log(x[0]); }},
      {"sqrt", {{{2, 3}, positive}}, [](In x) { return sqrt(x[0]); }},
      {"tanh", {{{2, 3}}}, [](In x) { return tanh(x[0]); }},
      {"sigmoid", {{{2, 3}}}, [](In x) { return sigmoid(x[0]); }},
      {"relu", {{{3, 5}, apart}}, [](In x) { return relu(x[0]); }},
      {"gelu", {{{3, 5}}}, [](In x) { return gelu(x[0]); }},
      {"gelu_tanh", {{{3, 5}}}, [](In x) { return gelu_tanh(x[0]); }},

      {"sum", {{{2, 3}}}, [](In x) { return sum(x[0]); }},
      {"sum axis 0", {{{2, 3, 4}}}, [](In x) { return sum(x[0], {0}); }},
      {"sum axes 0 and 2 kept",
       {{{2, 3, 4}}},
       [](In x) { return sum(x[0], first_and_last, true); }},
      {"mean", {{{2, 3}}}, [](In x) { return mean(x[0]); }},
      {"mean axis 1", {{{2, 3, 4}}}, [](In x) { return mean(x[0], {1}); }},
      {"max", {{{3, 4}, apart}}, [](In x) { return max(x[0]); }},
      {"max axis 1", {{{2, 3, 4}, apart}}, [](In x) { return max(x[0], {1}); }},
      {"max axes 0 and 2 kept",
       {{{2, 3, 4}, apart}},
       [](In x) { return max(x[0], first_and_last, true); }},

      {"matmul", {{{2, 3}}, {{3, 4}}}, [](In x) { return matmul(x[0], x[1]); }},
      {"matmul batched", {{{2, 2, 3}}, {{2, 3, 4}}}, [](In x) { return matmul(x[0], x[1]); }},
      {"matmul one for all", {{{2, 2, 3}}, {{3, 4}}}, [](In x) { return matmul(x[0], x[1]); }},
      {"matmul broadcast", {{{2, 1, 2, 3}}, {{3, 3, 2}}}, [](In x) { return matmul(x[0], x[1]); }},
      {"matmul itself", {{{3, 3}}}, [](In x) { return matmul(x[0], x[0]); }},
      {"matmul odd sizes", {{{9, 17}}, {{17, 5}}}, [](In x) { return matmul(x[0], x[1]); }},
      {"linear", {{{2, 3, 4}}, {{4, 5}}, {{5}}}, [](In x) { return linear(x[0], x[1], x[2]); }},
      {"linear without bias", {{{3, 4}}, {{4, 2}}}, [](In x) { return linear(x[0], x[1]); }},
      {"linear one row", {{{4}}, {{4, 3}}, {{3}}}, [](In x) { return linear(x[0], x[1], x[2]); }},
      {"linear odd sizes",
       {{{7, 17}}, {{17, 9}}, {{9}}},
       [](In x) { return linear(x[0], x[1], x[2]); }},
      {"matmul_transposed",
       {{{2, 3, 4}}, {{5, 4}}},
       [](In x) { return matmul_transposed(x[0], x[1]); }},
      {"matmul_transposed one row",
       {{{4}}, {{3, 4}}},
       [](In x) { return matmul_transposed(x[0], x[1]); }},
      {"matmul_transposed itself", {{{4, 3}}}, [](In x) { return matmul_transposed(x[0], x[0]); }},
      {"cosine_similarity",
       {{{3, 4}}, {{3, 4}}},
       [](In x) { return cosine_similarity(x[0], x[1]); }},
      {"cosine_similarity axis 0",
       {{{4, 2}}, {{4, 2}}},
       [](In x) { return cosine_similarity(x[0], x[1], 0); }},

      {"reshape",
       {{{2, 6}}},
       [](In x) {
         return reshape(x[0], {3, 4}) * 2.0;
       }},
      {"permute", {{{2, 3, 4}}}, [](In x) { return permute(x[0], last_first); }},
      {"transpose", {{{2, 3, 4}}}, [](In x) { return transpose(x[0]); }},
      {"transpose axes 0 and 2", {{{2, 3, 4}}}, [](In x) { return transpose(x[0], 0, 2); }},
      {"slice", {{{3, 5, 2}}}, [](In x) { return slice(x[0], 1, 1, 4) + slice(x[0], 1, 2, 5); }},
      {"concat",
       {{{2, 3}}, {{2, 1}}, {{2, 4}}},
       [](In x) {
         return concat({x[0], x[1], x[2]}, 1);
       }},
      {"concat itself",
       {{{2, 3}}},
       [](In x) {
         return concat({x[0], x[0]}, 0);
       }},
      {"split",
       {{{2, 6}}},
       [](In x) {
         const std::vector<Tensor> parts = split(x[0], 3, 1);
         return parts[0] * parts[2] + parts[1];
       }},

      {"softmax", {{{3, 5}}}, [](In x) { return softmax(x[0]); }},
      {"softmax causal", {{{2, 4, 4}}}, [](In x) { return softmax(x[0], causal()); }},
      {"softmax padding",
       {{{2, 3, 4}}},
       [](In x) {
         return softmax(x[0], padding({2, 4}));
       }},
      {"softmax custom", {{{2, 3, 4}}}, [](In x) { return softmax(x[0], some_hidden()); }},
      {"log_softmax", {{{3, 5}}}, [](In x) { return log_softmax(x[0]); }},
      {"attention", {{{2, 4, 6}}}, [](In x) { return attention(x[0], 1, Mask()); }},
      {"attention causal", {{{2, 5, 12}}}, [](In x) { return attention(x[0], 2, causal()); }},
      {"attention one time", {{{2, 1, 6}}}, [](In x) { return attention(x[0], 1, causal()); }},
      {"attention without batch", {{{7, 9}}}, [](In x) { return attention(x[0], 3, causal()); }},
      {"attention odd head size",
       {{{1, 4, 30}}},
       [](In x) { return attention(x[0], 2, causal()); }},
      {"attention window",
       {{{1, 9, 12}}},
       [](In x) { return attention(x[0], 2, causal() & window(3)); }},
      {"attention padding",
       {{{3, 4, 6}}},
       [](In x) {
         return attention(x[0], 1, padding({2, 4, 0}) & window(2));
       }},
      {"attention two leading axes",
       {{{2, 2, 3, 6}}},
       [](In x) {
         return attention(x[0], 2, padding({1, 3}) & causal());
       }},
      {"attention heads of four",
       {{{1, 9, 24}}},
       [](In x) { return attention(x[0], 2, causal()); }},
      {"attention heads of eight",
       {{{1, 6, 24}}},
       [](In x) { return attention(x[0], 1, causal()); }},
      {"attention wide heads", {{{1, 4, 54}}}, [](In x) { return attention(x[0], 2, causal()); }},
      {"attention many times",
       {{{1, 54}}},
       [](In x) { return attention(many_times(x[0]), 2, causal()); }},
      {"attention many times in a window",
       {{{1, 27}}},
       [](In x) { return attention(many_times(x[0]), 1, window(50)); }},
      {"attention of separate tensors",
       {{{2, 3, 4}}, {{2, 5, 4}}, {{2, 5, 4}}},
       [](In x) { return attention(x[0], x[1], x[2], 2, causal()); }},
      {"attention separate, wide heads",
       {{{7, 18}}, {{4, 18}}, {{4, 18}}},
       [](In x) { return attention(x[0], x[1], x[2], 2, window(3)); }},
      {"attention of one tensor thrice",
       {{{1, 3, 4}}},
       [](In x) { return attention(x[0], x[0], x[0], 2, padding({2})); }},
      // The scores of hidden places are −∞, which no check can compare. softmax skips them.
      {"attention_scores",
       {{{2, 3, 5}}, {{2, 4, 5}}},
       [](In x) { return attention_scores(x[0], x[1], Mask()); }},
      {"attention_scores masked",
       {{{2, 3, 5}}, {{2, 4, 5}}},
       [](In x) { return softmax(attention_scores(x[0], x[1], some_hidden()), some_hidden()); }},
      {"weighted_sum",
       {{{2, 3, 4}}, {{2, 4, 5}}},
       [](In x) { return weighted_sum(x[0], x[1], Mask()); }},
      {"weighted_sum masked",
       {{{2, 4, 4}}, {{2, 4, 5}}},
       [](In x) { return weighted_sum(x[0], x[1], causal()); }},

      {"layer_norm", {{{3, 5}}, {{5}}, {{5}}}, [](In x) { return layer_norm(x[0], x[1], x[2]); }},
      {"layer_norm large eps",
       {{{2, 2, 4}}, {{4}}, {{4}}},
       [](In x) { return layer_norm(x[0], x[1], x[2], 0.5); }},
      {"embedding", {{{6, 3}}}, [](In x) { return embedding(x[0], ids); }},
      {"embedding with positions",
       {{{6, 2}}, {{3, 2}}},
       [](In x) { return embedding(x[0], x[1], ids); }},
      {"embedding from a later position",
       {{{6, 2}}, {{5, 2}}},
       [](In x) { return embedding(x[0], x[1], ids, 2); }},
      {"cross_entropy", {{{2, 3, 5}}}, [](In x) { return cross_entropy(x[0], ids) * 3.0; }},
      {"cross_entropy ignored", {{{2, 3, 5}}}, [](In x) { return cross_entropy(x[0], ids, 4); }},
      {"dropout",
       {{{4, 5}}},
       [](In x) {
         Rng rng(9);
         return dropout(x[0], 0.4, rng);
       }},
  };
  return cases;
}

}  // namespace fledge
