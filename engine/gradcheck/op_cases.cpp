#include "engine/gradcheck/op_cases.h"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace fledge {

namespace {

using In = const std::vector<Tensor>&;
constexpr Draw positive = Draw::positive, apart = Draw::apart;
constexpr bool by_value = true;

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

// -- references -----------------------------------------------------------------------------------

Shape lead_of(const Shape& shape) { return shape.without(-1).without(-1); }

/// c·a + (1 − c)·b
Tensor blend(const Array& c, const Tensor& a, const Tensor& b) {
  return Tensor(c) * a + (1.0 - Tensor(c)) * b;
}

Tensor gelu_tanh_by_tanh(const Tensor& x) {
  const Tensor u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * (x * x * x));
  return 0.5 * x * (1.0 + tanh(u));
}

/// Σ_p a_ip·b_pj
Tensor sum_of_products(const Tensor& a, const Tensor& b) {
  const Shape columns = lead_of(b.shape()).append({1, b.dim(-2), b.dim(-1)});
  return sum(reshape(a, a.shape().append({1})) * reshape(b, columns), {-2});
}

/// x (…, in) as rows of one matrix, times W (in, out).
Tensor rows_times(const Tensor& x, const Tensor& weight) {
  const Shape lead = x.shape().without(-1);
  return reshape(sum_of_products(reshape(x, {lead.size(), x.dim(-1)}), weight),
                 lead.append({weight.dim(1)}));
}

Tensor cosine_of_sums(const Tensor& a, const Tensor& b, int axis) {
  const Array zeros = Array::zeros(broadcast(a.shape(), b.shape(), "reference"));
  const Tensor A = a + zeros, B = b + zeros;
  return sum(A * B, {axis}) / sqrt(sum(A * A, {axis}) * sum(B * B, {axis}));
}

Tensor softmax_of_exp(const Tensor& x) {
  const Tensor e = exp(x);
  return e / sum(e, {-1}, true);
}

/// A row that may look nowhere is divided by 1.
Tensor softmax_of_visible(const Tensor& x, const Mask& mask) {
  const Array visible = table_of(mask, x.shape());
  const Tensor e = where(visible, exp(x), 0.0);
  return e / (sum(e, {-1}, true) + relu(1.0 - sum(Tensor(visible), {-1}, true)));
}

/// (…, T, H·D) -> (…, H, T, D), with at least one leading axis.
Tensor heads_apart(const Tensor& x, Dim heads) {
  const Shape lead = x.rank() == 2 ? Shape{1, x.dim(0)} : x.shape().without(-1);
  return transpose(reshape(x, lead.append({heads, x.dim(-1) / heads})), -3, -2);
}

OpFunction sum_of_visible(const Mask& mask) {
  return [mask](In x) {
    return sum_of_products(where(table_of(mask, x[0].shape()), x[0], 0.0), x[1]);
  };
}

Tensor normalised(In x, double eps) {
  const Tensor centred = x[0] - mean(x[0], {-1}, true);
  const Tensor variance = mean(centred * centred, {-1}, true);
  return x[1] * (centred / sqrt(variance + eps)) + x[2];
}

/// Row i has a 1 in column rows[i], or none where that is `ignored`.
Array one_hot(const Indices& rows, Dim columns, Dim ignored = -1) {
  std::vector<double> choice(static_cast<std::size_t>(rows.size() * columns));
  for (Dim i = 0; i < rows.size(); ++i)
    if (rows[i] != ignored) choice[static_cast<std::size_t>(i * columns + rows[i])] = 1;
  return {rows.shape().append({columns}), choice};
}

Tensor looked_up(const Tensor& table) {
  return rows_times(Tensor(one_hot(ids, table.dim(0))), table);
}

Tensor mean_of_chosen(const Tensor& logits, Dim ignored, double kept) {
  const Tensor log_p = logits - log(sum(exp(logits), {-1}, true));
  return -sum(log_p * one_hot(ids, logits.dim(-1), ignored)) / kept;
}

Tensor some_left_out(const Tensor& x) {
  Rng rng(9);
  return dropout(x, 0.4, rng);
}

// -- calls that are refused -------------------------------------------------------------------------

using Reduction = Tensor (*)(const Tensor& x, const Axes& axes, bool keep_axes);

std::vector<Refused> impossible_axes(Reduction reduce) {
  const auto over = [reduce](const Axes& axes) -> OpFunction {
    return [=](In x) { return reduce(x[0], axes, true); };
  };
  std::vector<Refused> refused = {{{{2, 3}}, "no axis 2 in shape (2, 3)", over({2})},
                                  {{{2, 3}}, "no axis -3 in shape (2, 3)", over({0, -3})},
                                  {{{}}, "no axis 0 in shape ()", over({0})},
                                  {{{}}, "no axis -1 in shape ()", over({-1})},
                                  {{{2, 3}}, "named twice for shape (2, 3)", over({1, 1})},
                                  {{{2, 3}}, "named twice for shape (2, 3)", over({1, -1})}};
  if (reduce != sum)
    refused.push_back({{{2, 0}}, "over nothing is not defined: got shape (2, 0)", over({1})});
  return refused;
}

OpFunction attention_with(Dim heads, const Mask& mask) {
  return [=](In x) { return attention(x[0], heads, mask); };
}
OpFunction permuted_by(const Axes& order) {
  return [=](In x) { return permute(x[0], order); };
}
OpFunction sliced(int axis, Dim begin, Dim end) {
  return [=](In x) { return slice(x[0], axis, begin, end); };
}
OpFunction split_into(Dim parts, int axis) {
  return [=](In x) { return split(x[0], parts, axis)[0]; };
}
OpFunction cosine_along(int axis) {
  return [=](In x) { return cosine_similarity(x[0], x[1], axis); };
}
OpFunction norm_with(double eps) {
  return [=](In x) { return layer_norm(x[0], x[1], x[2], eps); };
}
OpFunction rows_of_table(const Indices& rows) {
  return [=](In x) { return embedding(x[0], rows); };
}
OpFunction rows_from(const Indices& rows, Dim first) {
  return [=](In x) { return embedding(x[0], x[1], rows, first); };
}
OpFunction loss_of(const Indices& targets, std::optional<Dim> ignored = {}) {
  return [=](In x) { return cross_entropy(x[0], targets, ignored); };
}
OpFunction dropping(double p) {
  return [=](In x) {
    Rng rng(1);
    return dropout(x[0], p, rng);
  };
}

}  // namespace

Array table_of(const Mask& mask, const Shape& scores) {
  const std::vector<unsigned char> visible = mask.table(scores, "table_of");
  return {scores, std::vector<double>(visible.begin(), visible.end())};
}

Tensor attention_by_small_ops(const Tensor& q, const Tensor& k, const Tensor& v, Dim heads,
                              const Mask& mask) {
  const Tensor Q = heads_apart(q, heads), K = heads_apart(k, heads), V = heads_apart(v, heads);
  const Tensor scores = matmul(Q, transpose(K)) / std::sqrt(static_cast<double>(Q.dim(-1)));
  const Tensor mixed = matmul(softmax_of_visible(scores, mask), V);
  return reshape(transpose(mixed, -3, -2), q.shape());
}

Tensor attention_by_small_ops(const Tensor& qkv, Dim heads, const Mask& mask) {
  const std::vector<Tensor> parts = split(qkv, 3, -1);
  return attention_by_small_ops(parts[0], parts[1], parts[2], heads, mask);
}

namespace {

/// A row of attention, of qkv or of q, k and v, of what `made` makes of its inputs.
OpCase attention_case(std::string name, const std::vector<Input>& inputs, Dim heads,
                      const Mask& mask, const std::vector<std::vector<Shape>>& more = {},
                      const std::vector<Refused>& refused = {}) {
  const bool is_packed = inputs.size() == 1;
  OpFunction f = [=](In x) {
    return is_packed ? attention(x[0], heads, mask) : attention(x[0], x[1], x[2], heads, mask);
  };
  OpFunction by_small_ops = [=](In x) {
    return is_packed ? attention_by_small_ops(x[0], heads, mask)
                     : attention_by_small_ops(x[0], x[1], x[2], heads, mask);
  };
  return {std::move(name), inputs, std::move(f), std::move(by_small_ops), more, refused};
}

}  // namespace

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> cases = {
      {"add",
       {{{2, 3}}, {{2, 3}}},
       [](In x) { return x[0] + x[1]; },
       {},
       {{{}, {}}, {{17}, {17}}, {{0, 3}, {3}}},
       {{{{2}, {3}}, "(2) and (3); sizes 2 and 3 differ"},
        {{{2, 3}, {2}}, "(2, 3) and (2)"},
        {{{0}, {3}}, "(0) and (3); sizes 0 and 3 differ"},
        {{{2, 3, 4}, {3}}, "(2, 3, 4) and (3)"}}},
      {"add broadcast", {{{2, 1, 3}}, {{4, 1}}}, [](In x) { return x[0] + x[1]; }},
      {"add a number", {{{}}, {{2, 3}}}, [](In x) { return x[0] + x[1]; }},
      {"add itself", {{{3}}}, [](In x) { return x[0] + x[0]; }, [](In x) { return x[0] * 2.0; }},
      {"sub",
       {{{2, 3}}, {{3}}},
       [](In x) { return x[0] - x[1]; },
       [](In x) { return x[0] + x[1] * -1.0; },
       {{{}, {}}, {{17}, {17}}, {{0, 3}, {3}}},
       {{{{2, 3}, {2}}, "(2, 3) and (2)"}}},
      {"sub broadcast", {{{1, 3}}, {{4, 1}}}, [](In x) { return x[0] - x[1]; }},
      {"mul",
       {{{2, 3}}, {{2, 3}}},
       [](In x) { return x[0] * x[1]; },
       {},
       {{{}, {}}, {{17}, {17}}, {{0, 3}, {3}}},
       {{{{2, 3}, {2}}, "(2, 3) and (2)"}}},
      {"mul broadcast", {{{3, 1}}, {{2, 1, 4}}}, [](In x) { return x[0] * x[1]; }},
      {"mul itself", {{{5}}}, [](In x) { return x[0] * x[0]; }},
      {"div",
       {{{2, 3}}, {{2, 3}, positive}},
       [](In x) { return x[0] / x[1]; },
       [](In x) { return x[0] * pow(x[1], -1); },
       {{{}, {}}, {{17}, {17}}, {{0, 3}, {3}}},
       {{{{2, 3}, {2}}, "(2, 3) and (2)"}}},
      {"div broadcast", {{{3}}, {{2, 1}, positive}}, [](In x) { return x[0] / x[1]; }},
      {"neg",
       {{{7}}},
       [](In x) { return -x[0]; },
       [](In x) { return x[0] * -1.0; },
       {{{}}, {{2, 0}}, {{5, 7}}}},
      {"pow",
       {{{2, 3}, positive}, {{2, 3}}},
       [](In x) { return pow(x[0], x[1]); },
       [](In x) { return exp(x[1] * log(x[0])); },
       {{{}, {}}, {{17}, {17}}, {{0, 3}, {3}}},
       {{{{2, 3}, {2}}, "(2, 3) and (2)"}}},
      {"pow broadcast", {{{2, 1}, positive}, {{3}}}, [](In x) { return pow(x[0], x[1]); }},
      {"pow of a number",
       {{{2, 3}}},
       [](In x) { return pow(x[0], 3); },
       [](In x) { return x[0] * x[0] * x[0]; }},
      {"where",
       {{{2, 3}}, {{2, 3}}},
       [](In x) { return where(some_true(), x[0], x[1]); },
       [](In x) { return blend(some_true(), x[0], x[1]); },
       {{{}, {2, 3}}, {{4, 1, 3}, {2, 1}}},
       {{{{2}, {3}}, "(2) and (3)"},
        {{{4}, {}}, "(4) and (2, 3)"},
        {{{0}, {}}, "(0) and (2, 3); sizes 0 and 3 differ"}}},
      {"where broadcast", {{{3}}, {{2, 1}}}, [](In x) { return where(some_true(), x[0], x[1]); }},

      {"exp", {{{2, 3}}}, [](In x) { return exp(x[0]); }, {}, {{{}}, {{2, 0}}}},
      {"log", {{{2, 3}, positive}}, [](In x) { return log(x[0]); }, {}, {{{}}, {{2, 0}}}},
      {"sqrt",
       {{{2, 3}, positive}},
       [](In x) { return sqrt(x[0]); },
       [](In x) { return pow(x[0], 0.5); },
       {{{}}, {{2, 0}}}},
      {"tanh",
       {{{2, 3}}},
       [](In x) { return tanh(x[0]); },
       [](In x) { return 2.0 * sigmoid(2.0 * x[0]) - 1.0; },
       {{{}}, {{2, 0}}}},
      {"sigmoid",
       {{{2, 3}}},
       [](In x) { return sigmoid(x[0]); },
       [](In x) { return 1.0 / (1.0 + exp(-x[0])); },
       {{{}}, {{2, 0}}}},
      {"relu",
       {{{3, 5}, apart}},
       [](In x) { return relu(x[0]); },
       [](In x) { return 0.5 * (x[0] + sqrt(x[0] * x[0])); },
       {{{}}, {{2, 0}}}},
      {"gelu", {{{3, 5}}}, [](In x) { return gelu(x[0]); }, {}, {{{}}, {{2, 0}}}},
      {"gelu_tanh",
       {{{3, 5}}},
       [](In x) { return gelu_tanh(x[0]); },
       [](In x) { return gelu_tanh_by_tanh(x[0]); },
       {{{}}, {{2, 0}}}},

      {"sum",
       {{{2, 3}}},
       [](In x) { return sum(x[0]); },
       {},
       {{{}}, {{0}}, {{300}}},
       impossible_axes(sum)},
      {"sum axis 0",
       {{{2, 3, 4}}},
       [](In x) { return sum(x[0], {0}); },
       {},
       {{{2, 0, 4}}, {{0, 3}}, {{300, 2}}}},
      {"sum axes 0 and 2 kept",
       {{{2, 3, 4}}},
       [](In x) { return sum(x[0], first_and_last, true); }},
      {"mean",
       {{{2, 3}}},
       [](In x) { return mean(x[0]); },
       [](In x) { return sum(x[0]) / static_cast<double>(x[0].size()); },
       {{{}}, {{300}}},
       impossible_axes(mean)},
      {"mean axis 1", {{{2, 3, 4}}}, [](In x) { return mean(x[0], {1}); }, {}, {{{0, 3}}}},
      {"max",
       {{{3, 4}, apart}},
       [](In x) { return max(x[0]); },
       {},
       {{{}}, {{300}}},
       impossible_axes(max)},
      {"max axis 1", {{{2, 3, 4}, apart}}, [](In x) { return max(x[0], {1}); }, {}, {{{0, 3}}}},
      {"max axes 0 and 2 kept",
       {{{2, 3, 4}, apart}},
       [](In x) { return max(x[0], first_and_last, true); }},

      {"matmul",
       {{{2, 3}}, {{3, 4}}},
       [](In x) { return matmul(x[0], x[1]); },
       [](In x) { return sum_of_products(x[0], x[1]); },
       {{{1, 1}, {1, 1}},
        {{33, 65}, {65, 64}},
        {{0, 3}, {3, 2}},
        {{2, 0}, {0, 3}},
        {{2, 3}, {3, 0}}},
       {{{{3}, {3, 2}}, "(3) x (3, 2)"},
        {{{2, 3}, {3}}, "(2, 3) x (3)"},
        {{{}, {}}, "() x ()"},
        {{{2, 3}, {4, 5}}, "(2, 3) x (4, 5), 3 vs 4"},
        {{{2, 3}, {2, 3}}, "(2, 3) x (2, 3), 3 vs 2; transposing the second would fit"},
        {{{4, 2, 0}, {1, 3}}, "(4, 2, 0) x (1, 3), 0 vs 1"},
        {{{2, 3, 4}, {3, 4, 5}}, "(2, 3, 4) x (3, 4, 5)"}}},
      {"matmul batched",
       {{{2, 2, 3}}, {{2, 3, 4}}},
       [](In x) { return matmul(x[0], x[1]); },
       [](In x) { return sum_of_products(x[0], x[1]); },
       {{{0, 2, 3}, {0, 3, 4}}, {{3, 1, 5}, {3, 5, 1}}}},
      {"matmul one for all",
       {{{2, 2, 3}}, {{3, 4}}},
       [](In x) { return matmul(x[0], x[1]); },
       [](In x) { return sum_of_products(x[0], x[1]); },
       {{{2, 3}, {2, 3, 4}}, {{0, 2, 3}, {3, 4}}, {{2, 3, 2, 4}, {4, 3}}}},
      {"matmul broadcast",
       {{{2, 1, 2, 3}}, {{3, 3, 2}}},
       [](In x) { return matmul(x[0], x[1]); },
       [](In x) { return sum_of_products(x[0], x[1]); },
       {{{1, 2, 3}, {3, 3, 4}},
        {{3, 2, 3}, {1, 3, 4}},
        {{0, 2, 3}, {1, 3, 4}},
        {{2, 1, 2, 3}, {1, 3, 3, 4}},
        {{2, 0, 2, 3}, {2, 1, 3, 4}},
        {{4, 1, 2, 1, 5}, {3, 1, 5, 1}}}},
      {"matmul itself", {{{3, 3}}}, [](In x) { return matmul(x[0], x[0]); }},
      {"matmul odd sizes", {{{9, 17}}, {{17, 5}}}, [](In x) { return matmul(x[0], x[1]); }},
      {"linear",
       {{{2, 3, 4}}, {{4, 5}}, {{5}}},
       [](In x) { return linear(x[0], x[1], x[2]); },
       [](In x) { return rows_times(x[0], x[1]) + x[2]; },
       {{{5, 1, 1}, {1, 1}, {1}},
        {{100, 65}, {65, 70}, {70}},
        {{5, 600}, {600, 9}, {9}},
        {{0, 3}, {3, 2}, {2}},
        {{2, 0}, {0, 3}, {3}}},
       {{{{2, 3}, {4, 5}, {5}}, "(2, 3) x (4, 5)"},
        {{{5, 4}, {5, 4}, {4}}, "(5, 4) x (5, 4)"},
        {{{}, {1, 2}, {2}}, "() x (1, 2)"},
        {{{3}, {3}, {1}}, "(3) x (3)"},
        {{{2, 3}, {1, 3, 4}, {4}}, "(2, 3) x (1, 3, 4)"},
        {{{2, 3}, {3, 4}, {3}}, "shape (4): got (3)"},
        {{{2, 3}, {3, 4}, {1}}, "shape (4): got (1)"},
        {{{2, 3}, {3, 4}, {1, 4}}, "shape (4): got (1, 4)"},
        {{{2, 3}, {3, 4}, {}}, "shape (4): got ()"}}},
      {"linear without bias",
       {{{3, 4}}, {{4, 2}}},
       [](In x) { return linear(x[0], x[1]); },
       [](In x) { return rows_times(x[0], x[1]); },
       {{{2, 3, 17}, {17, 33}}, {{2, 0, 3}, {3, 2}}, {{2, 0}, {0, 3}}}},
      {"linear one row", {{{4}}, {{4, 3}}, {{3}}}, [](In x) { return linear(x[0], x[1], x[2]); }},
      {"linear odd sizes",
       {{{7, 17}}, {{17, 9}}, {{9}}},
       [](In x) { return linear(x[0], x[1], x[2]); }},
      {"matmul_transposed",
       {{{2, 3, 4}}, {{5, 4}}},
       [](In x) { return matmul_transposed(x[0], x[1]); },
       [](In x) { return rows_times(x[0], transpose(x[1])); },
       {{{100, 65}, {70, 65}}, {{2, 0, 4}, {3, 4}}, {{2, 0}, {3, 0}}},
       {{{{2, 3}, {3, 4}}, "(2, 3) and (3, 4)"},
        {{{}, {1, 1}}, "() and (1, 1)"},
        {{{3}, {3}}, "(3) and (3)"},
        {{{2, 3}, {2, 2, 3}}, "(2, 3) and (2, 2, 3)"}}},
      {"matmul_transposed one row",
       {{{4}}, {{3, 4}}},
       [](In x) { return matmul_transposed(x[0], x[1]); }},
      {"matmul_transposed itself", {{{4, 3}}}, [](In x) { return matmul_transposed(x[0], x[0]); }},
      {"cosine_similarity",
       {{{3, 4}}, {{3, 4}}},
       [](In x) { return cosine_similarity(x[0], x[1]); },
       [](In x) { return cosine_of_sums(x[0], x[1], -1); },
       {{{5, 65}, {5, 65}}, {{2, 3}, {1, 3}}, {{2, 1, 3}, {1, 4, 3}}, {{0, 4}, {0, 4}}},
       {{{{2, 3}, {2, 4}}, "(2, 3) and (2, 4); sizes 3 and 4 differ"},
        {{{}, {}}, "() and ()"},
        {{{2, 3}, {3}}, "(2, 3) and (3)"},
        {{{2, 3}, {2, 3}}, "no axis 2 in shape (2, 3)", cosine_along(2)},
        {{{2, 3}, {2, 3}}, "no axis -3 in shape (2, 3)", cosine_along(-3)}}},
      {"cosine_similarity axis 0",
       {{{4, 2}}, {{4, 2}}},
       [](In x) { return cosine_similarity(x[0], x[1], 0); },
       [](In x) { return cosine_of_sums(x[0], x[1], 0); },
       {{{2, 3, 4}, {2, 3, 4}}}},

      {"reshape",
       {{{2, 6}}},
       [](In x) {
         return reshape(x[0], {3, 4}) * 2.0;
       },
       {},
       {{{12}}, {{1, 3, 2, 2}}},
       {{{{2, 3}}, "(2, 3) to (3, 4), 6 vs 12 numbers"},
        {{{2, 3}}, "(2, 3) to (), 6 vs 1 numbers", [](In x) { return reshape(x[0], {}); }}}},
      {"permute",
       {{{2, 3, 4}}},
       [](In x) { return permute(x[0], last_first); },
       {},
       {{{1, 1, 1}}, {{2, 0, 4}}, {{5, 7, 9}}},
       {{{{2, 3}}, "names 3 axes for shape (2, 3)"},
        {{{2, 3}}, "names 0 axes for shape (2, 3)", permuted_by({})},
        {{{2, 3}}, "no axis 2 in shape (2, 3)", permuted_by({0, 2})},
        {{{2, 3}}, "named twice for shape (2, 3)", permuted_by({0, -2})}}},
      {"transpose",
       {{{2, 3, 4}}},
       [](In x) { return transpose(x[0]); },
       {},
       {{{3, 1}}, {{0, 3}}},
       {{{{3}}, "shape (3)"},
        {{{2, 3}}, "no axis 2 in shape (2, 3)", [](In x) { return transpose(x[0], 0, 2); }},
        {{{2, 3}}, "no axis -3 in shape (2, 3)", [](In x) { return transpose(x[0], -3); }}}},
      {"transpose axes 0 and 2", {{{2, 3, 4}}}, [](In x) { return transpose(x[0], 0, 2); }},
      {"slice",
       {{{3, 5, 2}}},
       [](In x) { return slice(x[0], 1, 1, 4) + slice(x[0], 1, 2, 5); },
       {},
       {{{1, 5}}, {{0, 5}}},
       {{{{3}}, "no axis 1 in shape (3)"},
        {{{2, 3}}, "of axis 1 are not inside shape (2, 3)"},
        {{{2, 3}}, "elements -1 to 2 of axis 1 are not inside", sliced(1, -1, 2)},
        {{{2, 3}}, "elements 2 to 1 of axis -1 are not inside", sliced(-1, 2, 1)}}},
      {"concat",
       {{{2, 3}}, {{2, 1}}, {{2, 4}}},
       [](In x) {
         return concat({x[0], x[1], x[2]}, 1);
       },
       {},
       {{{2, 0}, {2, 1}, {2, 0}}, {{0, 3}, {0, 1}, {0, 4}}, {{1, 2, 3}, {1, 2, 3}, {1, 1, 3}}},
       {{{{2, 3}, {3, 3}, {2, 3}}, "axis 1: (2, 3) and (3, 3)"},
        {{{2, 3}, {2, 3}, {2, 3, 1}}, "axis 1: (2, 3) and (2, 3, 1)"},
        {{{3}, {3}, {3}}, "no axis 1 in shape (3)"},
        {{{}, {}, {}}, "no axis 1 in shape ()"},
        {{}, "got none", [](In) { return concat({}, 0); }}}},
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
       },
       {},
       {{{0, 3}}, {{5, 9, 2}}},
       {{{{2, 4}}, "axis 1 of shape (2, 4) does not split into 3 equal parts"},
        {{{2, 3}}, "axis 0 of shape (2, 3) does not split into 0 equal parts", split_into(0, 0)},
        {{{2, 3}}, "axis 0 of shape (2, 3) does not split into -1 equal parts", split_into(-1, 0)},
        {{{2, 3}}, "no axis 2 in shape (2, 3)", split_into(2, 2)}}},

      {"softmax",
       {{{3, 5}}},
       [](In x) { return softmax(x[0]); },
       [](In x) { return softmax_of_exp(x[0]); },
       {{{7}}, {{2, 3, 65}}, {{3, 1000}}, {{0, 4}}, {{2, 0}}},
       {{{{}}, "shape ()"}}},
      {"softmax causal",
       {{{2, 4, 4}}},
       [](In x) { return softmax(x[0], causal()); },
       [](In x) { return softmax_of_visible(x[0], causal()); },
       {{{3, 5}}, {{2, 1, 7}}, {{7, 4}}, {{33, 33}}, {{0, 3, 4}}, {{2, 3, 0}}},
       {{{{3}}, "shape (3)"},
        {{{}}, "shape ()"},
        {{{}}, "shape ()", [](In x) { return softmax(x[0], Mask()); }}}},
      {"softmax padding",
       {{{2, 3, 4}}},
       [](In x) {
         return softmax(x[0], padding({2, 4}));
       },
       [](In x) {
         return softmax_of_visible(x[0], padding({2, 4}));
       },
       {{{2, 3, 5, 6}}},
       {{{{3, 4}}, "2 lengths needs scores (2, ..., queries, keys): got shape (3, 4)"},
        {{{3, 3, 4}}, "2 lengths needs scores (2, ..., queries, keys): got shape (3, 3, 4)"},
        {{{2, 3, 3}}, "length of 4 exceeds the keys of shape (2, 3, 3)"}}},
      {"softmax custom",
       {{{2, 3, 4}}},
       [](In x) { return softmax(x[0], some_hidden()); },
       [](In x) { return softmax_of_visible(x[0], some_hidden()); },
       {{{3, 4}}, {{2, 5, 3, 4}}},
       {{{{4, 3}}, "mask (3, 4) does not fit scores of shape (4, 3)"},
        {{{3, 4}},
         "1 lengths needs scores (1, ..., queries, keys): got shape (3, 4)",
         [](In x) { return softmax(x[0], causal() & some_hidden() & padding({1})); }}}},
      {"log_softmax",
       {{{3, 5}}},
       [](In x) { return log_softmax(x[0]); },
       [](In x) { return x[0] - log(sum(exp(x[0]), {-1}, true)); },
       {{{7}}, {{2, 3, 65}}, {{3, 1000}}, {{0, 4}}, {{2, 0}}},
       {{{{}}, "shape ()"}}},
      attention_case(
          "attention", {{{2, 4, 6}}}, 1, Mask(), {{{1, 3}}, {{33, 6}}, {{2, 0, 6}}, {{0, 3, 6}}},
          {{{{}}, "shape ()"},
           {{{3}}, "shape (3)"},
           {{{2, 4}}, "shape (2, 4)"},
           {{{2, 0}}, "0 channels do not split into 1 equal heads", {}, by_value},
           {{{2, 12}}, "4 channels do not split into 0 ", attention_with(0, Mask()), by_value},
           {{{2, 12}}, "4 channels do not split into 3 ", attention_with(3, Mask()), by_value},
           {{{2, 12}}, "4 channels do not split into -1 ", attention_with(-1, Mask()), by_value},
           {{{1, 6}}, "custom mask", attention_with(1, custom(1, 1, {true})), by_value}}),
      attention_case("attention causal", {{{2, 5, 12}}}, 2, causal(), {{{1, 6}}, {{70, 18}}}),
      attention_case("attention one time", {{{2, 1, 6}}}, 1, causal()),
      attention_case("attention without batch", {{{7, 9}}}, 3, causal()),
      attention_case("attention odd head size", {{{1, 4, 30}}}, 2, causal()),
      attention_case("attention window", {{{1, 9, 12}}}, 2, causal() & window(3)),
      attention_case(
          "attention padding", {{{3, 4, 6}}}, 1, padding({2, 4, 0}) & window(2),
          {{{3, 2, 5, 6}}},
          {{{{2, 4, 6}}, "3 lengths needs scores (3, ..., queries, keys): got shape (2, 1, 4, 4)"},
           {{{3, 2, 6}}, "length of 4 exceeds the keys of shape (3, 1, 2, 2)"}}),
      attention_case("attention two leading axes", {{{2, 2, 3, 6}}}, 2, padding({1, 3}) & causal()),
      attention_case("attention heads of four", {{{1, 9, 24}}}, 2, causal()),
      attention_case("attention heads of eight", {{{1, 6, 24}}}, 1, causal()),
      attention_case("attention wide heads", {{{1, 4, 54}}}, 2, causal()),
      {"attention many times",
       {{{1, 54}}},
       [](In x) { return attention(many_times(x[0]), 2, causal()); },
       [](In x) { return attention_by_small_ops(many_times(x[0]), 2, causal()); }},
      {"attention many times in a window",
       {{{1, 27}}},
       [](In x) { return attention(many_times(x[0]), 1, window(50)); },
       [](In x) { return attention_by_small_ops(many_times(x[0]), 1, window(50)); }},
      attention_case("attention of separate tensors",
                     {{{2, 3, 4}}, {{2, 5, 4}}, {{2, 5, 4}}}, 2, causal(),
                     {{{9, 4}, {5, 4}, {5, 4}},
                      {{1, 4}, {7, 4}, {7, 4}},
                      {{2, 2, 3, 4}, {2, 2, 3, 4}, {2, 2, 3, 4}},
                      {{2, 4}, {0, 4}, {0, 4}}},
                     {{{{2}, {2}, {2}}, "(2), (2), (2)"},
                      {{{3, 2}, {4, 2}, {5, 2}}, "(3, 2), (4, 2), (5, 2)"},
                      {{{3, 2}, {4, 4}, {4, 4}}, "(3, 2), (4, 4), (4, 4)"},
                      {{{2, 3, 2}, {3, 4, 2}, {3, 4, 2}}, "(2, 3, 2) and (3, 4, 2)"},
                      {{{3, 2}, {1, 4, 2}, {1, 4, 2}}, "(3, 2) and (1, 4, 2)"}}),
      attention_case("attention separate, wide heads", {{{7, 18}}, {{4, 18}}, {{4, 18}}}, 2,
                     window(3)),
      {"attention of one tensor thrice",
       {{{1, 3, 4}}},
       [](In x) { return attention(x[0], x[0], x[0], 2, padding({2})); },
       [](In x) { return attention_by_small_ops(x[0], x[0], x[0], 2, padding({2})); }},
      // The scores of hidden places are −∞, which no check can compare. softmax skips them.
      {"attention_scores",
       {{{2, 3, 5}}, {{2, 4, 5}}},
       [](In x) { return attention_scores(x[0], x[1], Mask()); },
       [](In x) { return sum_of_products(x[0], transpose(x[1])); },
       {{{2, 1, 3}, {2, 6, 3}},
        {{2, 3, 3, 4}, {2, 3, 3, 4}},
        {{9, 17}, {9, 17}},
        {{0, 3, 5}, {0, 4, 5}},
        {{2, 0, 5}, {2, 4, 5}},
        {{2, 3, 5}, {2, 0, 5}},
        {{2, 3, 0}, {2, 4, 0}}},
       {{{{3}, {3}}, "(3) and (3)"},
        {{{2, 3, 3}, {3, 3}}, "(2, 3, 3) and (3, 3)"},
        {{{2, 3, 3}, {1, 3, 3}}, "(2, 3, 3) and (1, 3, 3)"},
        {{{3, 4}, {3, 5}}, "(3, 4) and (3, 5)"}}},
      {"attention_scores masked",
       {{{2, 3, 5}}, {{2, 4, 5}}},
       [](In x) { return softmax(attention_scores(x[0], x[1], some_hidden()), some_hidden()); },
       [](In x) {
         return softmax_of_visible(sum_of_products(x[0], transpose(x[1])), some_hidden());
       },
       {{{3, 1}, {4, 1}}},
       {{{{4, 2}, {3, 2}}, "mask (3, 4) does not fit scores of shape (4, 3)"}}},
      {"weighted_sum",
       {{{2, 3, 4}}, {{2, 4, 5}}},
       [](In x) { return weighted_sum(x[0], x[1], Mask()); },
       sum_of_visible(Mask()),
       {{{2, 1, 6}, {2, 6, 3}}, {{0, 3, 4}, {0, 4, 5}}, {{2, 3, 0}, {2, 0, 5}}},
       {{{{3}, {3}}, "(3) and (3)"},
        {{{2, 3, 3}, {3, 3}}, "(2, 3, 3) and (3, 3)"},
        {{{2, 3, 3}, {1, 3, 3}}, "(2, 3, 3) and (1, 3, 3)"},
        {{{3, 4}, {5, 4}}, "(3, 4) and (5, 4)"},
        {{{2, 3, 4}, {2, 4, 5}},
         "1 lengths needs scores (1, ..., queries, keys): got shape (2, 3, 4)",
         [](In x) { return weighted_sum(x[0], x[1], padding({1})); }}}},
      {"weighted_sum masked",
       {{{2, 4, 4}}, {{2, 4, 5}}},
       [](In x) { return weighted_sum(x[0], x[1], causal()); },
       sum_of_visible(causal()),
       {{{2, 5, 2}, {2, 2, 3}}, {{2, 1, 2, 9, 9}, {2, 1, 2, 9, 17}}, {{2, 0, 4}, {2, 4, 5}}}},

      {"layer_norm",
       {{{3, 5}}, {{5}}, {{5}}},
       [](In x) { return layer_norm(x[0], x[1], x[2]); },
       [](In x) { return normalised(x, 1e-5); },
       {{{17}, {17}, {17}},
        {{2, 1, 4, 65}, {65}, {65}},
        {{2, 1000}, {1000}, {1000}},
        {{0, 3}, {3}, {3}}},
       {{{{}, {1}, {1}}, "shape ()"},
        {{{2, 0}, {0}, {0}}, "shape (2, 0)"},
        {{{2, 3}, {2}, {3}}, "shape (3): got (2) and (3) for x (2, 3)"},
        {{{2, 3}, {3}, {1}}, "shape (3): got (3) and (1) for x (2, 3)"},
        {{{2, 3}, {1, 3}, {3}}, "shape (3): got (1, 3) and (3) for x (2, 3)"},
        {{{2, 3}, {3}, {3}}, "got -1e-05", norm_with(-1e-5), by_value},
        {{{2, 3}, {3}, {3}}, "nan", norm_with(std::nan("")), by_value}}},
      {"layer_norm large eps",
       {{{2, 2, 4}}, {{4}}, {{4}}},
       [](In x) { return layer_norm(x[0], x[1], x[2], 0.5); },
       [](In x) { return normalised(x, 0.5); }},
      {"embedding",
       {{{6, 3}}},
       [](In x) { return embedding(x[0], ids); },
       [](In x) { return looked_up(x[0]); },
       {{{5, 17}}, {{9, 1}}, {{5, 0}}},
       {{{{3}}, "shape (3)"},
        {{{2, 3, 4}}, "shape (2, 3, 4)"},
        {{{4, 3}}, "id 4 at position 0 is outside a table of shape (4, 3)", {}, by_value},
        {{{5, 3}}, "id -1 at position 0", rows_of_table({-1}), by_value},
        {{{5, 3}}, "id 2147483647 at position 2", rows_of_table({4, 0, 2147483647}), by_value},
        {{{5, 3}},
         "id -9223372036854775808 at position 3",
         rows_of_table(Indices({2, 2}, {0, 0, 0, INT64_MIN})),
         by_value}}},
      {"embedding with positions",
       {{{6, 2}}, {{3, 2}}},
       [](In x) { return embedding(x[0], x[1], ids); },
       [](In x) { return looked_up(x[0]) + slice(x[1], 0, 0, 3); },
       {{{5, 17}, {4, 17}}},
       {{{{4, 3}, {4, 3}}, "id 4 at position 0 is outside a table of shape (4, 3)", {}, by_value},
        {{{5, 3}, {4, 2}}, "(context, 3): got shape (4, 2)"},
        {{{5, 3}, {3}}, "(context, 3): got shape (3)"},
        {{{5, 3}, {1, 4, 3}}, "(context, 3): got shape (1, 4, 3)"},
        {{{5, 3}, {5, 3}}, "shape ()", rows_from(Indices(Shape{}, {1}), 0)},
        {{{5, 3}, {2, 3}}, "3 positions from 0 on", {}, by_value},
        {{{5, 3}, {4, 3}}, "2 positions from 3 on", rows_from({0, 1}, 3), by_value},
        {{{5, 3}, {4, 3}}, "2 positions from -1 on", rows_from({0, 1}, -1), by_value},
        {{{5, 3}, {4, 3}}, "a table of shape (4, 3)", rows_from({0}, INT64_MAX - 1), by_value}}},
      {"embedding from a later position",
       {{{6, 2}}, {{5, 2}}},
       [](In x) { return embedding(x[0], x[1], ids, 2); },
       [](In x) { return looked_up(x[0]) + slice(x[1], 0, 2, 5); },
       {{{5, 1}, {7, 1}}}},
      {"cross_entropy",
       {{{2, 3, 5}}},
       [](In x) { return cross_entropy(x[0], ids) * 3.0; },
       [](In x) { return mean_of_chosen(x[0], -1, 6) * 3.0; },
       {{{2, 3, 65}}, {{2, 3, 1000}}},
       {{{{2, 3}}, "targets of shape (2, 3) for logits of shape (2, 3)"},
        {{{3, 2, 5}}, "targets of shape (2, 3) for logits of shape (3, 2, 5)"},
        {{{}}, "targets of shape (2, 3) for logits of shape ()"},
        {{{2, 3, 4}},
         "target 4 at position 0 is outside logits of shape (2, 3, 4)",
         {},
         by_value},
        {{{1, 0}}, "target 0 at position 0", loss_of({0}), by_value},
        {{{2, 3}}, "target -1 at position 0", loss_of({-1, 0}), by_value},
        {{{2, 3}}, "target -100 at position 0", loss_of({-100, -100}), by_value}}},
      {"cross_entropy ignored",
       {{{2, 3, 5}}},
       [](In x) { return cross_entropy(x[0], ids, 4); },
       [](In x) { return mean_of_chosen(x[0], 4, 3); },
       {},
       {{{{2, 3}}, "target -2 at position 1", loss_of({-1, -2}, -1), by_value},
        {{{2, 3}}, "2 given, all ignored", loss_of({-1, -1}, -1), by_value},
        {{{2, 3}}, "2 given, all ignored", loss_of({0, 0}, 0), by_value},
        {{{0, 3}}, "0 given, all ignored", loss_of(Indices({0}, {})), by_value}}},
      {"dropout",
       {{{4, 5}}},
       [](In x) { return some_left_out(x[0]); },
       [](In x) { return x[0] * some_left_out(Array::ones(x[0].shape())); },
       {{{}}, {{2, 0}}, {{5, 65}}},
       {{{{3}}, "[0, 1): got -0.1", dropping(-0.1), by_value},
        {{{3}}, "[0, 1): got 1", dropping(1), by_value},
        {{{3}}, "[0, 1): got 1.5", dropping(1.5), by_value},
        {{{3}}, "[0, 1): got inf", dropping(infinity), by_value},
        {{{3}}, "[0, 1): got ", dropping(std::nan("")), by_value}}},
  };
  return cases;
}

}  // namespace fledge
