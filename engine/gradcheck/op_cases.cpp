#include "engine/gradcheck/op_cases.h"

#include <sstream>

namespace fledge {

namespace {

using In = const std::vector<Tensor>&;

// -- how a row is written --------------------------------------------------------------------------

/// The inputs of each call: "(2, 3) positive (3); (1) (1)".
std::vector<std::vector<Input>> calls_of(const std::string& text) {
  std::vector<std::vector<Input>> calls(1);
  for (std::size_t at = 0, open = 0; (open = text.find('(', at)) != std::string::npos;) {
    const std::string before = text.substr(at, open - at);
    if (before.find(';') != std::string::npos) calls.emplace_back();
    at = text.find(')', open);
    std::vector<Dim> sizes;
    std::istringstream numbers(text.substr(open + 1, at - open - 1));
    for (std::string size; std::getline(numbers, size, ',');) sizes.push_back(std::stoll(size));
    calls.back().push_back(
        {Shape(sizes), before.find("positive") != std::string::npos ? Draw::positive
                       : before.find("apart") != std::string::npos  ? Draw::apart
                                                                    : Draw::normal});
  }
  return calls;
}

std::vector<Shape> shapes_of(const std::vector<Input>& inputs) {
  std::vector<Shape> shapes;
  for (const Input& input : inputs) shapes.push_back(input.shape);
  return shapes;
}

/// A row with the inputs of the first call; the shapes of the others are `more`.
OpCase op(std::string name, const std::string& text, OpFunction f, OpFunction reference = {}) {
  const std::vector<std::vector<Input>> calls = calls_of(text);
  OpCase row{std::move(name), calls[0], std::move(f), std::move(reference)};
  for (std::size_t call = 1; call < calls.size(); ++call)
    row.more.push_back(shapes_of(calls[call]));
  return row;
}

OpFunction of_itself(Tensor (*f)(const Tensor&, const Tensor&)) {
  return [f](In x) { return f(x[0], x[0]); };
}
OpFunction joined_along(int axis) {
  return [=](In x) { return concat(x, axis); };
}
OpFunction split_into(Dim parts, int axis) {
  return [=](In x) { return split(x[0], parts, axis)[0]; };
}
OpFunction stacked_along(int axis) {
  return [=](In x) { return stack(x, axis); };
}
OpFunction scattered(int axis, const Indices& indices) {
  return [=](In x) { return scatter_add(x[0], axis, indices, x[1]); };
}
OpFunction softmax_under(const Mask& mask) {
  return [=](In x) { return softmax(x[0], mask); };
}
/// f, attention() or its small ops, of qkv, or of q, k and v; and of a sink where one more is given.
OpFunction attention_of(auto f, HeadCount heads, const Mask& mask) {
  return [=](In x) {
    const Tensor sink = x.size() % 2 == 0 ? x.back() : Tensor();
    return x.size() <= 2 ? f(x[0], heads, mask, sink) : f(x[0], x[1], x[2], heads, mask, sink);
  };
}
OpFunction attention_with(HeadCount heads, const Mask& mask) {
  return attention_of([](const auto&... x) { return attention(x...); }, heads, mask);
}
OpFunction rotated(Dim D, Dim heads, Dim first, double base = 10000,
                   const std::vector<Dim>& lengths = {}) {
  return [=](In x) { return rotate(x[0], D, heads, first, base, lengths); };
}
OpFunction rows_of_table(const Indices& rows) {
  return [=](In x) { return embedding(x[0], rows); };
}
OpFunction rows_from(const Indices& rows, Dim first) {
  return [=](In x) { return embedding(x[0], x[1], rows, first); };
}
OpFunction losing(const Indices& targets, const CrossEntropyOptions& options = {}) {
  return [=](In x) { return cross_entropy(x[0], targets, options); };
}
OpFunction dropping(double p) {
  return [=](In x) {
    Rng rng(9);
    return dropout(x[0], p, rng);
  };
}

// -- references ------------------------------------------------------------------------------------

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

OpFunction cosine_of_sums(int axis) {
  return [axis](In x) {
    const Array zeros = Array::zeros(broadcast(x[0].shape(), x[1].shape(), "reference"));
    const Tensor A = x[0] + zeros, B = x[1] + zeros;
    return sum(A * B, {axis}) / sqrt(sum(A * A, {axis}) * sum(B * B, {axis}));
  };
}

Tensor softmax_of_exp(const Tensor& x) {
  const Tensor e = exp(x);
  return e / sum(e, {-1}, true);
}

OpFunction softmax_by_formula(const Mask& mask) {
  return [mask](In x) { return softmax_of_visible(x[0], mask); };
}

/// (…, T, H·D) -> (…, H, T, D), with at least one leading axis.
Tensor heads_apart(const Tensor& x, Dim heads) {
  const Shape lead = x.rank() == 2 ? Shape{1, x.dim(0)} : x.shape().without(-1);
  return transpose(reshape(x, lead.append({heads, x.dim(-1) / heads})), -3, -2);
}

/// (…, G, S, D) -> (…, H, S, D): the keys or values of each head of queries.
Tensor for_each_head(const Tensor& x, HeadCount heads) {
  std::vector<Tensor> all;
  for (Dim h = 0; h < heads.queries; ++h) {
    const Dim g = h / (heads.queries / heads.keys);
    all.push_back(slice(x, -3, g, g + 1));
  }
  return concat(all, -3);
}

OpFunction sum_of_visible(const Mask& mask) {
  return [mask](In x) {
    return sum_of_products(where(table_of(mask, x[0].shape()), x[0], 0.0), x[1]);
  };
}

OpFunction normalised(double eps) {
  return [eps](In x) {
    const Tensor centred = x[0] - mean(x[0], {-1}, true);
    const Tensor variance = mean(centred * centred, {-1}, true);
    return x[1] * (centred / sqrt(variance + eps)) + x[2];
  };
}

// log Σ eˣ over an axis, which stays.
Tensor log_of_sum(const Tensor& x, int axis) { return log(sum(exp(x), {axis}, true)); }

// y_i = Σ_j (j ≤ i)·x_j over the last axis.
Tensor sum_of_earlier(const Tensor& x) {
  const Dim n = x.dim(-1);
  const Array earlier = table_of(causal(), {n, n});
  return matmul_transposed(x, earlier);
}

OpFunction normalised_by_size(double eps) {
  return [eps](In x) { return x[1] * of_unit_size(x[0], eps); };
}

OpFunction rotated_by_halves(Dim D, Dim heads, Dim first, double base = 10000) {
  return [=](In x) {
    std::vector<Tensor> parts;
    for (Dim begin = 0; begin < heads * D; begin += D)
      parts.push_back(rotated_by_angles(slice(x[0], -1, begin, begin + D), first, base));
    parts.push_back(slice(x[0], -1, heads * D, x[0].dim(-1)));
    return concat(parts, -1);
  };
}

// Row numbers: one is repeated, and some rows are not used.
const Indices ids({2, 3}, {4, 0, 4, 1, 4, 2});

/// Row i has a 1 in column ids[i], or none where that is `ignored`.
Array one_hot(Dim columns, Dim ignored = -1) {
  std::vector<double> choice(static_cast<std::size_t>(ids.size() * columns));
  for (Dim i = 0; i < ids.size(); ++i)
    if (ids[i] != ignored) choice[static_cast<std::size_t>(i * columns + ids[i])] = 1;
  return {ids.shape().append({columns}), choice};
}

Tensor looked_up(const Tensor& table) { return rows_times(Tensor(one_hot(table.dim(0))), table); }

// Σ_c share_ic·(−log p_ic) of each row, where share_i is (1 − ε) for the target and ε/V everywhere,
// both times the weight of the class.
Tensor smoothed_losses(const Tensor& logits, double smoothing, const Tensor& weights) {
  const Dim V = logits.dim(-1);
  const Tensor log_p = logits - log(sum(exp(logits), {-1}, true));
  const Tensor share = Tensor(one_hot(V)) * (1 - smoothing) + smoothing / static_cast<double>(V);
  return -sum(log_p * share * weights, {-1});
}

Tensor mean_of_chosen(const Tensor& logits, Dim ignored, double kept) {
  const Tensor log_p = logits - log(sum(exp(logits), {-1}, true));
  return -sum(log_p * one_hot(logits.dim(-1), ignored)) / kept;
}

// -- rows of one kind ------------------------------------------------------------------------------

/// An op of two tensors that broadcast.
OpCase elementwise(std::string name, const std::string& calls,
                   Tensor (*f)(const Tensor&, const Tensor&), OpFunction reference = {}) {
  return op(std::move(name), calls + "; () (); (17) (17); (0, 3) (3)", of_two(f),
            std::move(reference))
      .refuses("(2, 3) (2)");
}

/// An op of each element.
OpCase of_elements(std::string name, const std::string& calls, Tensor (*f)(const Tensor&),
                   OpFunction reference = {}) {
  OpCase row = op(std::move(name), calls + "; (); (2, 0)", of_one(f), std::move(reference));
  row.takes_every_shape = true;
  return row;
}

OpCase reduction(std::string name, const std::string& calls,
                 Tensor (*f)(const Tensor&, const Axes&, bool), OpFunction reference = {}) {
  return op(std::move(name), calls + "; (); (300)", of_one(f, Axes{}, false), std::move(reference))
      .refuses("(2, 3)", "no axis 2 in shape (2, 3)", of_one(f, Axes{2}, false))
      .refuses("(2, 3)", "no axis -3 in shape (2, 3)", of_one(f, Axes{0, -3}, false))
      .refuses("()", "no axis 0 in shape ()", of_one(f, Axes{0}, false))
      .refuses("()", "no axis -1 in shape ()", of_one(f, Axes{-1}, false))
      .refuses("(2, 3)", "named twice for shape (2, 3)", of_one(f, Axes{1, 1}, false))
      .refuses("(2, 3)", "named twice for shape (2, 3)", of_one(f, Axes{1, -1}, false));
}

/// One that is not defined over nothing.
OpCase reduction_of_some(std::string name, const std::string& calls,
                         Tensor (*f)(const Tensor&, const Axes&, bool), OpFunction reference = {}) {
  return reduction(std::move(name), calls, f, std::move(reference))
      .refuses("(2, 0)", "over nothing is not defined: got shape (2, 0)",
               of_one(f, Axes{1}, false));
}

/// Attention of qkv, or of q, k and v; a last input of one axis is a sink.
OpCase attention_case(std::string name, const std::string& calls, HeadCount heads,
                      const Mask& mask) {
  return op(
      std::move(name), calls, attention_with(heads, mask),
      attention_of([](const auto&... x) { return attention_by_small_ops(x...); }, heads, mask));
}

/// Of qkv (120, 3C) made of few numbers x (1, 3C): the kernel cuts it into several blocks of
/// queries, and the check of so few inputs is fast.
OpCase many_times(std::string name, const std::string& input, HeadCount heads, const Mask& mask) {
  OpCase row = attention_case(std::move(name), input, heads, mask);
  for (OpFunction* f : {&row.f, &row.reference})
    *f = [attend = *f](In x) {
      Rng rng(7);
      return attend({matmul(Tensor(random_normal({120, 1}, 0, 1, rng)), x[0])});
    };
  return row;
}

}  // namespace

OpCase& OpCase::refuses(const std::string& calls, const std::string& says,
                        const OpFunction& other) {
  for (const std::vector<Input>& call : calls_of(calls)) {
    Refused& added =
        refused.emplace_back(Refused{shapes_of(call), {says}, other ? other : f, false});
    if (!says.empty()) continue;
    for (const Shape& shape : added.shapes) added.says.push_back(to_string(shape));
  }
  return *this;
}

OpCase& OpCase::refuses_value(const std::string& calls, const std::string& says,
                              const OpFunction& other) {
  const std::size_t before = refused.size();
  refuses(calls, says, other);
  for (std::size_t i = before; i < refused.size(); ++i) refused[i].by_value = true;
  return *this;
}

Array table_of(const Mask& mask, const Shape& scores) {
  const std::vector<unsigned char> visible = mask.table(scores, "table_of");
  return {scores, std::vector<double>(visible.begin(), visible.end())};
}

Tensor softmax_of_visible(const Tensor& x, const Mask& mask, const Tensor& sink) {
  const Array visible = table_of(mask, x.shape());
  const Tensor e = where(visible, exp(x), 0.0), sees_none = relu(1.0 - sum(visible, {-1}, true));
  return e / (sum(e, {-1}, true) + (sink.exists() ? exp(sink) : sees_none));
}

Tensor rotated_by_angles(const Tensor& x, Dim first, double base) {
  const Dim T = x.dim(-2), half = x.dim(-1) / 2;
  std::vector<double> cosines, sines;
  for (Dim i = 0; i < T * half; ++i) {
    const double share = static_cast<double>(i % half) / static_cast<double>(half);
    const Dim position = first + i / half;
    const double angle = static_cast<double>(position) / std::pow(base, share);
    cosines.push_back(std::cos(angle)), sines.push_back(std::sin(angle));
  }
  const Tensor a = slice(x, -1, 0, half), b = slice(x, -1, half, 2 * half);
  const Tensor c = Array({T, half}, cosines), s = Array({T, half}, sines);
  return concat({a * c - b * s, a * s + b * c}, -1);
}

Tensor of_unit_size(const Tensor& x, double eps) { return x / sqrt(mean(x * x, {-1}, true) + eps); }

Tensor attention_by_small_ops(const Tensor& q, const Tensor& k, const Tensor& v, HeadCount heads,
                              const Mask& mask, const Tensor& sink) {
  const Tensor Q = heads_apart(q, heads.queries),
               K = for_each_head(heads_apart(k, heads.keys), heads),
               V = for_each_head(heads_apart(v, heads.keys), heads);
  const Tensor scores = matmul(Q, transpose(K)) / std::sqrt(static_cast<double>(Q.dim(-1)));
  const Tensor column = sink.exists() ? reshape(sink, {heads.queries, 1, 1}) : sink;
  const Tensor weights = softmax_of_visible(scores, mask, column);
  return reshape(transpose(matmul(weights, V), -3, -2), q.shape());
}

Tensor attention_by_small_ops(const Tensor& qkv, HeadCount heads, const Mask& mask,
                              const Tensor& sink) {
  const Dim D = qkv.dim(-1) / (heads.queries + 2 * heads.keys), k = heads.queries * D,
            v = k + heads.keys * D;
  return attention_by_small_ops(slice(qkv, -1, 0, k), slice(qkv, -1, k, v),
                                slice(qkv, -1, v, qkv.dim(-1)), heads, mask, sink);
}

const std::vector<OpCase>& op_cases() {
  const Array some_true({2, 3}, {1, 0, 0, 1, 1, 0});
  // The second query sees no key.
  const Mask some_hidden =
      custom(3, 4, {true, false, true, true, false, false, false, false, false, true, true, false});
  const Array class_weights({5}, {0.5, 2, 1, 0, 3});
  const CrossEntropyOptions weighted{.smoothing = 0.1, .weights = class_weights};
  const double nan = std::nan("");
  static const std::vector<OpCase> cases = {
      elementwise("add", "(2, 3) (2, 3)", operator+)
          .refuses("(2) (3)", "(2) and (3); sizes 2 and 3 differ")
          .refuses("(0) (3)", "(0) and (3); sizes 0 and 3 differ")
          .refuses("(2, 3, 4) (3)"),
      op("add broadcast", "(2, 1, 3) (4, 1)", of_two(operator+)),
      op("add a number", "() (2, 3)", of_two(operator+)),
      op("add itself", "(3)", of_itself(operator+), [](In x) { return x[0] * 2.0; }),
      elementwise("sub", "(2, 3) (3)", operator-, [](In x) { return x[0] + x[1] * -1.0; }),
      op("sub broadcast", "(1, 3) (4, 1)", of_two(operator-)),
      elementwise("mul", "(2, 3) (2, 3)", operator*),
      op("mul broadcast", "(3, 1) (2, 1, 4)", of_two(operator*)),
      op("mul itself", "(5)", of_itself(operator*)),
      elementwise("div", "(2, 3) positive (2, 3)", operator/,
                  [](In x) { return x[0] * pow(x[1], -1); }),
      op("div broadcast", "(3) positive (2, 1)", of_two(operator/)),
      of_elements("neg", "(7); (5, 7)", operator-, [](In x) { return x[0] * -1.0; }),
      elementwise("pow", "positive (2, 3) (2, 3)", pow, [](In x) { return exp(x[1] * log(x[0])); }),
      op("pow broadcast", "positive (2, 1) (3)", of_two(pow)),
      op(
          "pow of a number", "(2, 3)", [](In x) { return pow(x[0], 3); },
          [](In x) { return x[0] * x[0] * x[0]; }),
      op(
          "where", "(2, 3) (2, 3); () (2, 3); (4, 1, 3) (2, 1)",
          [=](In x) { return where(some_true, x[0], x[1]); },
          [=](In x) { return blend(some_true, x[0], x[1]); })
          .refuses("(2) (3)")
          .refuses("(4) ()", "(4) and (2, 3)")
          .refuses("(0) ()", "(0) and (2, 3); sizes 0 and 3 differ"),
      op("where broadcast", "(3) (2, 1)", [=](In x) { return where(some_true, x[0], x[1]); }),
      elementwise("maximum", "(2, 3) (2, 3); (4, 1, 3) (2, 1)", maximum,
                  [](In x) { return x[0] + relu(x[1] - x[0]); }),
      elementwise("minimum", "(2, 3) (2, 3); (4, 1, 3) (2, 1)", minimum,
                  [](In x) { return x[0] - relu(x[0] - x[1]); }),

      of_elements("exp", "(2, 3)", exp),
      of_elements("log", "positive (2, 3)", log),
      of_elements("sqrt", "positive (2, 3)", sqrt, [](In x) { return pow(x[0], 0.5); }),
      of_elements("tanh", "(2, 3)", tanh, [](In x) { return 2.0 * sigmoid(2.0 * x[0]) - 1.0; }),
      of_elements("sin", "(2, 3)", sin),
      of_elements("cos", "(2, 3)", cos, [](In x) { return sin(x[0] + std::numbers::pi / 2); }),
      of_elements("expm1", "(2, 3)", expm1, [](In x) { return exp(x[0]) - 1.0; }),
      of_elements("log1p", "positive (2, 3)", log1p, [](In x) { return log(x[0] + 1.0); }),
      of_elements("softplus", "(2, 3)", softplus, [](In x) { return log(1.0 + exp(x[0])); }),
      of_elements("abs", "apart (3, 5)", abs, [](In x) { return sqrt(x[0] * x[0]); }),
      op("clamp", "apart (3, 5); (); (2, 0)", of_one(clamp, -0.5, 0.75),
         [](In x) { return 0.75 - relu(1.25 - relu(x[0] + 0.5)); })
          .refuses_value("(3)", "got 1 and -1", of_one(clamp, 1, -1))
          .refuses_value("(3)", "got nan and 1", of_one(clamp, nan, 1)),
      of_elements("sigmoid", "(2, 3)", sigmoid, [](In x) { return 1.0 / (1.0 + exp(-x[0])); }),
      of_elements("relu", "apart (3, 5)", relu,
                  [](In x) { return 0.5 * (x[0] + sqrt(x[0] * x[0])); }),
      of_elements("gelu", "(3, 5)", gelu),
      of_elements("gelu_tanh", "(3, 5)", gelu_tanh, of_one(gelu_tanh_by_tanh)),
      of_elements("silu", "(3, 5)", silu, [](In x) { return x[0] / (1.0 + exp(-x[0])); }),

      reduction("sum", "(2, 3); (0)", sum),
      op("sum axis 0", "(2, 3, 4); (2, 0, 4); (0, 3); (300, 2)", of_one(sum, Axes{0}, false)),
      op("sum axes 0 and 2 kept", "(2, 3, 4)", of_one(sum, Axes{0, -1}, true)),
      reduction_of_some("mean", "(2, 3)", mean,
                        [](In x) { return sum(x[0]) / static_cast<double>(x[0].size()); }),
      op("mean axis 1", "(2, 3, 4); (0, 3)", of_one(mean, Axes{1}, false)),
      reduction_of_some("max", "apart (3, 4)", max),
      op("max axis 1", "apart (2, 3, 4); (0, 3)", of_one(max, Axes{1}, false)),
      op("max axes 0 and 2 kept", "apart (2, 3, 4)", of_one(max, Axes{0, -1}, true)),
      reduction_of_some("min", "apart (3, 4)", min, [](In x) { return -max(-x[0]); }),
      op("min axis 1", "apart (2, 3, 4); (0, 3)", of_one(min, Axes{1}, false)),
      op("var", "(2, 3); (300)", of_one(var, Axes{}, false),
         [](In x) { return mean(x[0] * x[0]) - mean(x[0]) * mean(x[0]); })
          .refuses("(2, 3)", "no axis 2 in shape (2, 3)", of_one(var, Axes{2}, false))
          .refuses("(2, 0)", "over nothing is not defined: got shape (2, 0)",
                   of_one(var, Axes{1}, false)),
      op("var axis 1", "(2, 3, 4); (0, 3)", of_one(var, Axes{1}, false)),
      reduction_of_some("logsumexp", "(2, 3)", logsumexp, [](In x) { return log(sum(exp(x[0]))); }),
      op("logsumexp axis 1 kept", "(2, 3, 4); (0, 3)", of_one(logsumexp, Axes{1}, true),
         of_one(log_of_sum, 1)),
      op("cumsum", "(2, 5); (3); (2, 3, 65); (0, 4); (2, 0)", of_one(cumsum, -1),
         of_one(sum_of_earlier))
          .refuses("()", "no axis -1 in shape ()"),
      op("cumsum axis 1", "(2, 3, 4); (2, 0, 4)", of_one(cumsum, 1),
         [](In x) { return transpose(sum_of_earlier(transpose(x[0]))); })
          .refuses("(3)", "no axis 1 in shape (3)"),

      op("matmul",
         "(2, 3) (3, 4); (1, 1) (1, 1); (33, 65) (65, 64); (0, 3) (3, 2); (2, 0) (0, 3); "
         "(2, 3) (3, 0)",
         of_two(matmul), of_two(sum_of_products))
          .refuses("(3) (3, 2); (2, 3) (3); () (); (2, 3, 4) (3, 4, 5)")
          .refuses("(2, 3) (4, 5)", "(2, 3) x (4, 5), 3 vs 4")
          .refuses("(4, 2, 0) (1, 3)", "(4, 2, 0) x (1, 3), 0 vs 1")
          .refuses("(2, 3) (2, 3)", "(2, 3) x (2, 3), 3 vs 2; transposing the second would fit"),
      op("matmul batched", "(2, 2, 3) (2, 3, 4); (0, 2, 3) (0, 3, 4); (3, 1, 5) (3, 5, 1)",
         of_two(matmul), of_two(sum_of_products)),
      op("matmul one for all",
         "(2, 2, 3) (3, 4); (2, 3) (2, 3, 4); (0, 2, 3) (3, 4); (2, 3, 2, 4) (4, 3)",
         of_two(matmul), of_two(sum_of_products)),
      op("matmul broadcast",
         "(2, 1, 2, 3) (3, 3, 2); (1, 2, 3) (3, 3, 4); (3, 2, 3) (1, 3, 4); "
         "(0, 2, 3) (1, 3, 4); (2, 1, 2, 3) (1, 3, 3, 4); (2, 0, 2, 3) (2, 1, 3, 4); "
         "(4, 1, 2, 1, 5) (3, 1, 5, 1)",
         of_two(matmul), of_two(sum_of_products)),
      op("matmul itself", "(3, 3)", of_itself(matmul)),
      op("matmul odd sizes", "(9, 17) (17, 5)", of_two(matmul)),
      op("linear",
         "(2, 3, 4) (4, 5) (5); (5, 1, 1) (1, 1) (1); (100, 65) (65, 70) (70); "
         "(5, 600) (600, 9) (9); (0, 3) (3, 2) (2); (2, 0) (0, 3) (3)",
         of_three(linear), [](In x) { return rows_times(x[0], x[1]) + x[2]; })
          .refuses("(2, 3) (4, 5) (5)", "(2, 3) x (4, 5)")
          .refuses("(2, 3) (3, 4) (3)", "shape (4): got (3)")
          .refuses("(2, 3) (3, 4) (1)", "shape (4): got (1)")
          .refuses("(2, 3) (3, 4) (1, 4)", "shape (4): got (1, 4)")
          .refuses("(2, 3) (3, 4) ()", "shape (4): got ()"),
      op("linear without bias",
         "(3, 4) (4, 2); (2, 3, 17) (17, 33); (2, 0, 3) (3, 2); (2, 0) (0, 3)",
         of_two(linear, Tensor()), of_two(rows_times))
          .refuses("(5, 4) (5, 4); () (1, 2); (3) (3); (2, 3) (1, 3, 4)"),
      op("linear one row", "(4) (4, 3) (3)", of_three(linear)),
      op("linear odd sizes", "(7, 17) (17, 9) (9)", of_three(linear)),
      op("matmul_transposed",
         "(2, 3, 4) (5, 4); (100, 65) (70, 65); (2, 0, 4) (3, 4); (2, 0) (3, 0)",
         of_two(matmul_transposed), [](In x) { return rows_times(x[0], transpose(x[1])); })
          .refuses("(2, 3) (3, 4); () (1, 1); (3) (3); (2, 3) (2, 2, 3)"),
      op("matmul_transposed one row", "(4) (3, 4)", of_two(matmul_transposed)),
      op("matmul_transposed itself", "(4, 3)", of_itself(matmul_transposed)),
      op("cosine_similarity",
         "(3, 4) (3, 4); (5, 65) (5, 65); (2, 3) (1, 3); (2, 1, 3) (1, 4, 3); (0, 4) (0, 4)",
         of_two(cosine_similarity, -1), cosine_of_sums(-1))
          .refuses("() (); (2, 3) (3)")
          .refuses("(2, 3) (2, 4)", "(2, 3) and (2, 4); sizes 3 and 4 differ")
          .refuses("(2, 3) (2, 3)", "no axis 2 in shape (2, 3)", of_two(cosine_similarity, 2))
          .refuses("(2, 3) (2, 3)", "no axis -3 in shape (2, 3)", of_two(cosine_similarity, -3)),
      op("cosine_similarity axis 0", "(4, 2) (4, 2); (2, 3, 4) (2, 3, 4)",
         of_two(cosine_similarity, 0), cosine_of_sums(0)),

      op("reshape", "(2, 6); (12); (1, 3, 2, 2)",
         [](In x) {
           return reshape(x[0], Shape{3, 4}) * 2.0;
         })
          .refuses("(2, 3)", "(2, 3) to (3, 4), 6 vs 12 numbers")
          .refuses("(2, 3)", "(2, 3) to (), 6 vs 1 numbers", of_one(reshape, Shape{})),
      op("permute", "(2, 3, 4); (1, 1, 1); (2, 0, 4); (5, 7, 9)", of_one(permute, Axes{2, 0, 1}))
          .refuses("(2, 3)", "names 3 axes for shape (2, 3)")
          .refuses("(2, 3)", "names 0 axes for shape (2, 3)", of_one(permute, Axes{}))
          .refuses("(2, 3)", "no axis 2 in shape (2, 3)", of_one(permute, Axes{0, 2}))
          .refuses("(2, 3)", "named twice for shape (2, 3)", of_one(permute, Axes{0, -2})),
      op("transpose", "(2, 3, 4); (3, 1); (0, 3)", of_one(transpose, -2, -1))
          .refuses("(3)", "shape (3)")
          .refuses("(2, 3)", "no axis 2 in shape (2, 3)", of_one(transpose, 0, 2))
          .refuses("(2, 3)", "no axis -3 in shape (2, 3)", of_one(transpose, -3, -1)),
      op("transpose axes 0 and 2", "(2, 3, 4)", of_one(transpose, 0, 2)),
      op("slice", "(3, 5, 2); (1, 5); (0, 5)",
         [](In x) { return slice(x[0], 1, 1, 4) + slice(x[0], 1, 2, 5); })
          .refuses("(3)", "no axis 1 in shape (3)")
          .refuses("(2, 3)", "of axis 1 are not inside shape (2, 3)")
          .refuses("(2, 3)", "elements -1 to 2 of axis 1 are not inside", of_one(slice, 1, -1, 2))
          .refuses("(2, 3)", "elements 2 to 1 of axis -1 are not inside", of_one(slice, -1, 2, 1)),
      op("concat",
         "(2, 3) (2, 1) (2, 4); (2, 0) (2, 1) (2, 0); (0, 3) (0, 1) (0, 4); "
         "(1, 2, 3) (1, 2, 3) (1, 1, 3)",
         joined_along(1))
          .refuses("(2, 3) (3, 3) (2, 3)", "axis 1: (2, 3) and (3, 3)")
          .refuses("(2, 3) (2, 3) (2, 3, 1)", "axis 1: (2, 3) and (2, 3, 1)")
          .refuses("(3) (3) (3)", "no axis 1 in shape (3)")
          .refuses("() () ()", "no axis 1 in shape ()")
          .refuses("", "got none", joined_along(0)),
      op("concat itself", "(2, 3)",
         [](In x) {
           return concat({x[0], x[0]}, 0);
         }),
      op("split", "(2, 6); (0, 3); (5, 9, 2)",
         [](In x) {
           const std::vector<Tensor> parts = split(x[0], 3, 1);
           return parts[0] * parts[2] + parts[1];
         })
          .refuses("(2, 4)", "axis 1 of shape (2, 4) does not split into 3 equal parts")
          .refuses("(2, 3)", "axis 0 of shape (2, 3) does not split into 0 ", split_into(0, 0))
          .refuses("(2, 3)", "axis 0 of shape (2, 3) does not split into -1 ", split_into(-1, 0))
          .refuses("(2, 3)", "no axis 2 in shape (2, 3)", split_into(2, 2)),
      op("stack", "(2, 3) (2, 3); () (); (0, 3) (0, 3)", stacked_along(-1))
          .refuses("(2, 3) (3, 2)", "(2, 3) and (3, 2)")
          .refuses("(2) (2)", "no axis 2", stacked_along(2))
          .refuses("", "got none", stacked_along(0)),
      op("stack axis 1", "(2, 3) (2, 3)", stacked_along(1)),
      op("pad", "(2, 3); (4); (0, 2)", of_one(pad, -1, 1, 2, 0.5))
          .refuses("(2, 3)", "no axis 2 in shape (2, 3)", of_one(pad, 2, 1, 1, 0))
          .refuses_value("(2, 3)", "got -1 and 2", of_one(pad, 0, -1, 2, 0)),
      op("gather", "(2, 5); (2, 9)", of_one(gather, 1, ids))
          .refuses("(3, 5)", "indices of shape (2, 3) differ off axis 1 from shape (3, 5)")
          .refuses("(2, 5, 1)", "indices of shape (2, 3) differ off axis 1 from shape (2, 5, 1)")
          .refuses("(2, 3)", "no axis 2 in shape (2, 3)", of_one(gather, 2, ids))
          .refuses_value("(2, 4)", "index 4 at position 0 is outside axis 1 of shape (2, 4)")
          .refuses_value("(2)", "index -1 at position 1", of_one(gather, 0, Indices{0, -1})),
      op("gather axis 0", "(5, 3)", of_one(gather, 0, ids)),
      op("scatter_add", "(2, 5) (2, 3); (2, 9) (2, 3)", scattered(1, ids))
          .refuses("(3, 5) (2, 3)", "indices of shape (2, 3) differ off axis 1 from shape (3, 5)")
          .refuses("(2, 5) (3)", "values of shape (3) for indices of shape (2, 3)")
          .refuses_value("(2, 4) (2, 3)", "index 4 at position 0 is outside axis 1"),
      op("scatter_add axis 0", "(5, 3) (2, 3)", scattered(0, ids)),

      op("softmax", "(3, 5); (7); (2, 3, 65); (3, 1000); (0, 4); (2, 0)", of_one(softmax),
         of_one(softmax_of_exp))
          .refuses("()", "shape ()"),
      op("softmax causal", "(2, 4, 4); (3, 5); (2, 1, 7); (7, 4); (33, 33); (0, 3, 4); (2, 3, 0)",
         softmax_under(causal()), softmax_by_formula(causal()))
          .refuses("(3); ()")
          .refuses("()", "shape ()", softmax_under(Mask())),
      op("softmax padding", "(2, 3, 4); (2, 3, 5, 6)", softmax_under(padding({2, 4})),
         softmax_by_formula(padding({2, 4})))
          .refuses("(3, 4)", "2 lengths needs scores (2, ..., queries, keys): got shape (3, 4)")
          .refuses("(3, 3, 4)",
                   "2 lengths needs scores (2, ..., queries, keys): got shape (3, 3, 4)")
          .refuses("(2, 3, 3)", "length of 4 exceeds the keys of shape (2, 3, 3)"),
      op("softmax documents", "(2, 5, 5); (5, 5)", softmax_under(documents({2, 0, 3}) & window(2)),
         softmax_by_formula(documents({2, 0, 3}) & window(2)))
          .refuses("(4, 4); (6, 6); (5, 4); (4, 5)",
                   "3 documents of 5 rows need as many queries and keys: got shape ("),
      op("softmax custom", "(2, 3, 4); (3, 4); (2, 5, 3, 4)", softmax_under(some_hidden),
         softmax_by_formula(some_hidden))
          .refuses("(4, 3)", "mask (3, 4) does not fit scores of shape (4, 3)")
          .refuses("(3, 4)", "1 lengths needs scores (1, ..., queries, keys): got shape (3, 4)",
                   softmax_under(causal() & some_hidden & padding({1}))),
      op("log_softmax", "(3, 5); (7); (2, 3, 65); (3, 1000); (0, 4); (2, 0)", of_one(log_softmax),
         [](In x) { return x[0] - log(sum(exp(x[0]), {-1}, true)); })
          .refuses("()", "shape ()"),
      attention_case("attention", "(2, 4, 6); (1, 3); (33, 6); (2, 0, 6); (0, 3, 6)", 1, Mask())
          .refuses("(); (3); (2, 4)")
          .refuses_value("(2, 0)", "0 channels do not split into 1 equal heads")
          .refuses_value("(2, 12)", "4 channels do not split into 0 ", attention_with(0, Mask()))
          .refuses_value("(2, 12)", "4 channels do not split into 3 ", attention_with(3, Mask()))
          .refuses_value("(2, 12)", "4 channels do not split into -1 ", attention_with(-1, Mask()))
          .refuses_value("(1, 6)", "custom mask", attention_with(1, custom(1, 1, {true}))),
      attention_case("attention causal", "(2, 5, 12); (1, 6); (70, 18)", 2, causal()),
      attention_case("attention one time", "(2, 1, 6)", 1, causal()),
      attention_case("attention without batch", "(7, 9)", 3, causal()),
      attention_case("attention odd head size", "(1, 4, 30)", 2, causal()),
      attention_case("attention window", "(1, 9, 12)", 2, causal() & window(3)),
      attention_case("attention padding", "(3, 4, 6); (3, 2, 5, 6)", 1,
                     padding({2, 4, 0}) & window(2))
          .refuses("(2, 4, 6)",
                   "3 lengths needs scores (3, ..., queries, keys): got shape (2, 1, 4, 4)")
          .refuses("(3, 2, 6)", "length of 4 exceeds the keys of shape (3, 1, 2, 2)"),
      attention_case("attention documents", "(6, 12); (2, 6, 24)", 2,
                     documents({2, 0, 3, 1}) & causal())
          .refuses("(5, 12)", "4 documents of 6 rows need as many queries and keys: got shape "),
      attention_case("attention documents, wide heads, shared keys and sink", "(9, 72) (4)", {4, 2},
                     documents({1, 6, 2}) & window(4)),
      attention_case("attention documents and padding", "(2, 4, 9)", 1,
                     documents({1, 3}) & padding({3, 0})),
      attention_case("attention two leading axes", "(2, 2, 3, 6)", 2, padding({1, 3}) & causal()),
      attention_case("attention heads of four", "(1, 9, 24)", 2, causal()),
      attention_case("attention heads of eight", "(1, 6, 24)", 1, causal()),
      attention_case("attention wide heads", "(1, 4, 54)", 2, causal()),
      many_times("attention many times", "(1, 54)", 2, causal()),
      many_times("attention many times in a window", "(1, 27)", 1, window(50)),
      attention_case("attention of separate tensors",
                     "(2, 3, 4) (2, 5, 4) (2, 5, 4); (9, 4) (5, 4) (5, 4); (1, 4) (7, 4) (7, 4); "
                     "(2, 4) (0, 4) (0, 4); (2, 2, 3, 4) (2, 2, 3, 4) (2, 2, 3, 4)",
                     2, causal())
          .refuses("(2, 4) () ()",
                   "needs q (..., T, H*D) and k, v (..., S, G*D): got (2, 4), (), ()")
          .refuses("(2) (2) (2); (3, 2) (4, 2) (5, 2); (3, 2) (4, 4) (4, 4)")
          .refuses("(2, 3, 2) (3, 4, 2) (3, 4, 2)", "(2, 3, 2) and (3, 4, 2)")
          .refuses("(3, 2) (1, 4, 2) (1, 4, 2)", "(3, 2) and (1, 4, 2)"),
      attention_case("attention shared keys", "(2, 5, 24); (33, 16); (1, 8); (2, 0, 8)", {4, 2},
                     causal())
          .refuses("(2, 12)", "(..., T, (H + 2G)*D): got shape (2, 12) for 4 heads of queries"),
      attention_case("attention one head of keys", "(3, 4, 10); (3, 9, 25)", {3, 1},
                     padding({2, 4, 0})),
      many_times("attention many times, shared keys", "(1, 54)", {4, 1}, causal()),
      attention_case("attention sink", "(2, 5, 12) (2); (1, 6) (2); (33, 6) (2); (2, 0, 6) (2)", 2,
                     causal())
          .refuses("(2, 5, 12) (3)", "needs a sink of shape (2): got (3)")
          .refuses("(2, 5, 12) ()", "needs a sink of shape (2): got ()"),
      attention_case("attention sink, padding", "(3, 4, 6) (1)", 1, padding({2, 4, 0})),
      attention_case("attention sink, wide heads", "(1, 9, 54) (2); (60, 54) (2)", 2,
                     causal() & window(4)),
      attention_case("attention separate, shared keys and sink",
                     "(7, 36) (4, 18) (4, 18) (4); (5, 4) (6, 2) (6, 2) (4)", {4, 2}, window(3))
          .refuses("(7, 36) (4, 36) (4, 36) (4)",
                   "got (7, 36), (4, 36), (4, 36) for 4 heads of queries and 2 of keys"),
      attention_case("attention separate, wide heads", "(7, 18) (4, 18) (4, 18)", 2, window(3)),
      op(
          "attention of one tensor thrice", "(1, 3, 4)",
          [](In x) { return attention(x[0], x[0], x[0], 2, padding({2})); },
          [](In x) { return attention_by_small_ops(x[0], x[0], x[0], 2, padding({2})); }),
      // The scores of hidden keys are −∞, which no check can compare. softmax skips them.
      op("attention_scores",
         "(2, 3, 5) (2, 4, 5); (2, 1, 3) (2, 6, 3); (2, 3, 3, 4) (2, 3, 3, 4); "
         "(9, 17) (9, 17); (0, 3, 5) (0, 4, 5); (2, 0, 5) (2, 4, 5); (2, 3, 5) (2, 0, 5); "
         "(2, 3, 0) (2, 4, 0)",
         of_two(attention_scores, Mask()),
         [](In x) { return sum_of_products(x[0], transpose(x[1])); })
          .refuses("(3) (3); (2, 3, 3) (3, 3); (2, 3, 3) (1, 3, 3); (3, 4) (3, 5)"),
      op(
          "attention_scores masked", "(2, 3, 5) (2, 4, 5); (3, 1) (4, 1)",
          [=](In x) { return softmax(attention_scores(x[0], x[1], some_hidden), some_hidden); },
          [=](In x) {
            return softmax_of_visible(sum_of_products(x[0], transpose(x[1])), some_hidden);
          })
          .refuses("(4, 2) (3, 2)", "mask (3, 4) does not fit scores of shape (4, 3)"),
      op("weighted_sum",
         "(2, 3, 4) (2, 4, 5); (2, 1, 6) (2, 6, 3); (0, 3, 4) (0, 4, 5); (2, 3, 0) (2, 0, 5)",
         of_two(weighted_sum, Mask()), sum_of_visible(Mask()))
          .refuses("(3) (3); (2, 3, 3) (3, 3); (2, 3, 3) (1, 3, 3); (3, 4) (5, 4)")
          .refuses("(2, 3, 4) (2, 4, 5)",
                   "1 lengths needs scores (1, ..., queries, keys): got shape (2, 3, 4)",
                   of_two(weighted_sum, padding({1}))),
      op("weighted_sum masked",
         "(2, 4, 4) (2, 4, 5); (2, 5, 2) (2, 2, 3); (2, 1, 2, 9, 9) (2, 1, 2, 9, 17); "
         "(2, 0, 4) (2, 4, 5)",
         of_two(weighted_sum, causal()), sum_of_visible(causal())),
      op("rotate", "(2, 5, 12); (3, 8); (1, 1, 8); (70, 28); (0, 5, 8); (2, 0, 8); (2, 2, 3, 12)",
         rotated(4, 2, 0), rotated_by_halves(4, 2, 0))
          .refuses("(8)", "shape (8)")
          .refuses("(2, 10)",
                   "heads of size 4 or more side by side, (..., T, n*4): got shape (2, 10)")
          .refuses("(2, 4)",
                   "2 heads of size 4 or more side by side, (..., T, n*4): got shape (2, 4)")
          .refuses_value("(2, 6)", "got size 3 and 2 heads", rotated(3, 2, 0))
          .refuses_value("(2, 8)", "got size 0 and 2 heads", rotated(0, 2, 0))
          .refuses_value("(2, 8)", "got size 4 and 0 heads", rotated(4, 0, 0))
          .refuses_value("(2, 8)", "got -1 and 10000", rotated(4, 2, -1))
          .refuses_value("(2, 8)", "got 0 and 0.5", rotated(4, 2, 0, 0.5))
          .refuses_value("(2, 8)", "got 0 and inf", rotated(4, 2, 0, infinity))
          .refuses_value("(2, 8)", "got 0 and nan", rotated(4, 2, 0, nan)),
      op("rotate documents", "(5, 12); (2, 5, 8)", rotated(4, 2, 3, 500, {2, 0, 3}),
         [](In x) {
           const auto turned = rotated_by_halves(4, 2, 3, 500);
           return concat({turned({slice(x[0], -2, 0, 2)}), turned({slice(x[0], -2, 2, 5)})}, -2);
         })
          .refuses("(4, 8); (6, 8)", "rows together: got 5")
          .refuses("(5, 8)", "5 rows together: got -1", rotated(4, 2, 0, 500, {5, -2})),
      op("rotate from a later position", "(3, 18); (2, 9, 12)", rotated(6, 1, 7, 500),
         rotated_by_halves(6, 1, 7, 500)),
      op("rotate one head of all columns", "(4, 34)", rotated(34, 1, 100),
         rotated_by_halves(34, 1, 100)),

      op("layer_norm",
         "(3, 5) (5) (5); (17) (17) (17); (2, 1, 4, 65) (65) (65); (2, 1000) (1000) (1000); "
         "(0, 3) (3) (3)",
         of_three(layer_norm, 1e-5), normalised(1e-5))
          .refuses("() (1) (1)", "shape ()")
          .refuses("(2, 0) (0) (0)", "shape (2, 0)")
          .refuses("(2, 3) (2) (3)", "shape (3): got (2) and (3) for x (2, 3)")
          .refuses("(2, 3) (3) (1)", "shape (3): got (3) and (1) for x (2, 3)")
          .refuses("(2, 3) (1, 3) (3)", "shape (3): got (1, 3) and (3) for x (2, 3)")
          .refuses_value("(2, 3) (3) (3)", "got -1e-05", of_three(layer_norm, -1e-5))
          .refuses_value("(2, 3) (3) (3)", "nan", of_three(layer_norm, nan)),
      op("layer_norm large eps", "(2, 2, 4) (4) (4)", of_three(layer_norm, 0.5), normalised(0.5)),
      op("rms_norm",
         "(3, 5) (5); (17) (17); (2, 1, 4, 65) (65); (2, 1000) (1000); (33, 16) (16); (0, 3) (3)",
         of_two(rms_norm, 1e-5), normalised_by_size(1e-5))
          .refuses("() (1)", "shape ()")
          .refuses("(2, 0) (0)", "shape (2, 0)")
          .refuses("(2, 3) (2)", "shape (3): got (2) for x (2, 3)")
          .refuses("(2, 3) (1, 3)", "shape (3): got (1, 3) for x (2, 3)")
          .refuses_value("(2, 3) (3)", "got -1e-05", of_two(rms_norm, -1e-5))
          .refuses_value("(2, 3) (3)", "nan", of_two(rms_norm, nan)),
      op("rms_norm large eps", "(2, 2, 4) (4)", of_two(rms_norm, 0.5), normalised_by_size(0.5)),
      op("embedding", "(6, 3); (5, 17); (9, 1); (5, 0)", rows_of_table(ids), of_one(looked_up))
          .refuses("(3); (2, 3, 4)")
          .refuses_value("(4, 3)", "id 4 at position 0 is outside a table of shape (4, 3)")
          .refuses_value("(5, 3)", "id -1 at position 0", rows_of_table({-1}))
          .refuses_value("(5, 3)", "id 2147483647 at position 2", rows_of_table({4, 0, 2147483647}))
          .refuses_value("(5, 3)", "id -9223372036854775808 at position 3",
                         rows_of_table(Indices({2, 2}, {0, 0, 0, INT64_MIN}))),
      op("embedding with positions", "(6, 2) (3, 2); (5, 17) (4, 17)", rows_from(ids, 0),
         [](In x) { return looked_up(x[0]) + slice(x[1], 0, 0, 3); })
          .refuses("(5, 3) (4, 2)", "(context, 3): got shape (4, 2)")
          .refuses("(5, 3) (3)", "(context, 3): got shape (3)")
          .refuses("(5, 3) (1, 4, 3)", "(context, 3): got shape (1, 4, 3)")
          .refuses("(5, 3) (5, 3)", "shape ()", rows_from(Indices(Shape{}, {1}), 0))
          .refuses_value("(4, 3) (4, 3)", "id 4 at position 0 is outside a table of shape (4, 3)")
          .refuses_value("(5, 3) (2, 3)", "3 positions from 0 on")
          .refuses_value("(5, 3) (4, 3)", "2 positions from 3 on", rows_from({0, 1}, 3))
          .refuses_value("(5, 3) (4, 3)", "2 positions from -1 on", rows_from({0, 1}, -1))
          .refuses_value("(5, 3) (4, 3)", "a table of shape (4, 3)", rows_from({0}, INT64_MAX - 1)),
      op("embedding from a later position", "(6, 2) (5, 2); (5, 1) (7, 1)", rows_from(ids, 2),
         [](In x) { return looked_up(x[0]) + slice(x[1], 0, 2, 5); }),
      op(
          "cross_entropy", "(2, 3, 5); (2, 3, 65); (2, 3, 1000)",
          [](In x) { return cross_entropy(x[0], ids) * 3.0; },
          [](In x) { return mean_of_chosen(x[0], -1, 6) * 3.0; })
          .refuses("(2, 3)", "targets of shape (2, 3) for logits of shape (2, 3)")
          .refuses("(3, 2, 5)", "targets of shape (2, 3) for logits of shape (3, 2, 5)")
          .refuses("()", "targets of shape (2, 3) for logits of shape ()")
          .refuses_value("(2, 3, 4)", "target 4 at position 0 is outside logits of shape (2, 3, 4)")
          .refuses_value("(1, 0)", "target 0 at position 0", losing({0}))
          .refuses_value("(2, 3)", "target -1 at position 0", losing({-1, 0}))
          .refuses_value("(2, 3)", "target -100 at position 0", losing({-100, -100})),
      op("cross_entropy ignored", "(2, 3, 5)", losing(ids, {.ignored = 4}),
         [](In x) { return mean_of_chosen(x[0], 4, 3); })
          .refuses_value("(2, 3)", "target -2 at position 1", losing({-1, -2}, {.ignored = -1}))
          .refuses_value("(2, 3)", "2 given, all ignored or of weight 0",
                         losing({-1, -1}, {.ignored = -1}))
          .refuses_value("(2, 3)", "2 given, all ignored or of weight 0",
                         losing({0, 0}, {.ignored = 0}))
          .refuses_value("(0, 3)", "0 given, all ignored or of weight 0", losing(Indices({0}, {}))),
      op("cross_entropy smoothed", "(2, 3, 5); (2, 3, 65)", losing(ids, {.smoothing = 0.3}),
         [](In x) { return mean(smoothed_losses(x[0], 0.3, 1.0)); })
          .refuses_value("(2, 3, 5)", "from 0 to 1: got -0.1", losing(ids, {.smoothing = -0.1}))
          .refuses_value("(2, 3, 5)", "from 0 to 1: got 1.5", losing(ids, {.smoothing = 1.5})),
      op("cross_entropy weighted", "(2, 3, 5)", losing(ids, weighted),
         [=](In x) {
           const Tensor own = sum(Tensor(one_hot(5)) * class_weights);
           return sum(smoothed_losses(x[0], 0.1, class_weights)) / own;
         })
          .refuses("(2, 3, 4)", "shape (4): got (5)",
                   losing(Indices({2, 3}, {0, 1, 2, 3, 0, 1}), {.weights = class_weights}))
          .refuses_value("(2)", "finite and 0 or more: got -1 for class 1",
                         losing(Indices(Shape{}, {0}), {.weights = Array({2}, {1, -1})})),
      op("cross_entropy sum", "(2, 3, 5)", losing(ids, {.reduction = Reduction::sum}),
         [](In x) { return sum(smoothed_losses(x[0], 0, 1.0)); }),
      op("cross_entropy none", "(2, 3, 5)",
         losing(ids, {.weights = class_weights, .reduction = Reduction::none}),
         [=](In x) { return smoothed_losses(x[0], 0, class_weights); }),
      op("dropout", "(4, 5); (); (2, 0); (5, 65)", dropping(0.4),
         [](In x) { return x[0] * dropping(0.4)({Array::ones(x[0].shape())}); })
          .refuses_value("(3)", "[0, 1): got -0.1", dropping(-0.1))
          .refuses_value("(3)", "[0, 1): got 1", dropping(1))
          .refuses_value("(3)", "[0, 1): got 1.5", dropping(1.5))
          .refuses_value("(3)", "[0, 1): got inf", dropping(infinity))
          .refuses_value("(3)", "[0, 1): got ", dropping(nan)),
  };
  return cases;
}

}  // namespace fledge
