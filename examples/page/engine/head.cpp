#include "examples/page/engine/head.h"

#include <cmath>
#include <vector>

#include "engine/autograd.h"
#include "engine/ops.h"

namespace fledge {

namespace {

constexpr Dim most_rows = 256, most_columns = 1024;

/// Rows of equal length.
Array matrix(const JsonValue& json, const char* name) {
  std::vector<double> numbers;
  Dim rows = 0, columns = 0;
  json.each_item([&](const JsonValue& row) {
    const auto before = numbers.size();
    row.each_item([&](const JsonValue& number) { numbers.push_back(number.number()); });
    const auto width = static_cast<Dim>(numbers.size() - before);
    require<ValueError>(rows == 0 || width == columns, "fledge_head",
                        "needs rows of equal length in ", name, ": got ", columns, " and ", width);
    columns = width;
    ++rows;
  });
  require<ValueError>(rows > 0 && rows <= most_rows && columns > 0 && columns <= most_columns,
                      "fledge_head", "needs 1 to ", most_rows, " rows of 1 to ", most_columns,
                      " numbers in ", name, ": got ", rows, " rows of ", columns);
  return Array({rows, columns}, numbers);
}

/// Queries, keys or values: the rows as they are given, or inputs times a matrix, the identity if it
/// is not given. Then `weight` is this parameter.
Tensor projected(const JsonValue& head, const char* rows, const char* matrix_name,
                 const char* inputs, Tensor& weight) {
  if (head.has(rows)) return matrix(head[rows], rows);
  const Tensor x = matrix(head[inputs], inputs);
  const Dim width = x.dim(1);
  Array W = Array::zeros({width, width});
  if (head.has(matrix_name))
    W = matrix(head[matrix_name], matrix_name);
  else
    for (Dim i = 0; i < width; ++i) W.write()[i * width + i] = Real(1);
  require<ValueError>(W.dim(0) == width, "fledge_head", "needs ", width, " rows in ", matrix_name,
                      ", one for each number of ", inputs, ": got ", W.dim(0));
  weight = parameter(W);
  return matmul(x, weight);
}

/// The rows; null where a number is not finite: a hidden score.
Json rows_of(const Array& x) {
  std::vector<Json> rows;
  for (Dim i = 0; i < x.dim(0); ++i) {
    const auto begin = x.data() + i * x.dim(1);
    rows.emplace_back(std::vector<float>(begin, begin + x.dim(1)));
  }
  return rows;
}
Json gradient_of(const Tensor& x) {
  return x.needs_grad() && x.has_grad() ? rows_of(x.grad()) : Json();
}

bool is_set(const JsonValue& head, const char* name, bool otherwise) {
  return head.has(name) ? head[name].boolean() : otherwise;
}

}  // namespace

Json head_json(const JsonValue& head) {
  head.allow_only({"x", "from", "wq", "wk", "wv", "q", "k", "v", "causal", "scale", "linear",
                   "exclusive", "goal"});
  Tensor W_Q, W_K, W_V;
  const Tensor q = projected(head, "q", "wq", head.has("from") ? "from" : "x", W_Q),
               k = projected(head, "k", "wk", "x", W_K), v = projected(head, "v", "wv", "x", W_V);
  require<ValueError>(q.dim(1) == k.dim(1), "fledge_head",
                      "needs queries and keys of one length: got ", q.dim(1), " and ", k.dim(1));
  require<ValueError>(k.dim(0) == v.dim(0), "fledge_head", "needs a value for each key: got ",
                      k.dim(0), " keys and ", v.dim(0), " values");
  const bool is_causal = is_set(head, "causal", false), is_linear = is_set(head, "linear", false),
             is_exclusive = is_set(head, "exclusive", false);
  const Mask mask = is_causal ? causal() : Mask();
  require<ValueError>(!is_causal || q.dim(0) <= k.dim(0), "fledge_head",
                      "needs a key for each query under a causal mask: got ", q.dim(0),
                      " queries and ", k.dim(0), " keys");
  require<ValueError>(!is_linear || !is_causal, "fledge_head",
                      "needs softmax or no mask: got linear and causal");
  require<ValueError>(!is_exclusive || q.dim(0) == v.dim(0), "fledge_head",
                      "needs a value for each query to be exclusive: got ", q.dim(0),
                      " queries and ", v.dim(0), " values");
  Tensor scores = attention_scores(q, k, mask);
  if (is_set(head, "scale", true)) scores = scores * (1 / std::sqrt(static_cast<double>(q.dim(1))));
  const Tensor weights = is_linear ? scores : softmax(scores, mask);
  Tensor output = weighted_sum(weights, v, mask);
  if (is_exclusive) {  // u = v̂·√D, as in Attention::passed
    const Tensor u = rms_norm(v, Array::ones({v.dim(1)}), 1e-30);
    output = output - u * mean(u * output, {-1}, true);
  }

  Json::Members answer{{"q", rows_of(q.value())},
                       {"k", rows_of(k.value())},
                       {"v", rows_of(v.value())},
                       {"scores", rows_of(scores.value())},
                       {"weights", rows_of(weights.value())},
                       {"output", rows_of(output.value())}};
  if (head.has("goal")) {
    const JsonValue given = head["goal"];
    given.allow_only({"row", "with"});
    const Dim row = given["row"].integer(0, q.dim(0) - 1);
    std::vector<double> with;
    given["with"].each_item([&](const JsonValue& number) { with.push_back(number.number()); });
    const auto width = static_cast<Dim>(with.size());
    require<ValueError>(width == v.dim(1), "fledge_head", "needs ", v.dim(1),
                        " numbers in goal.with, as many as in a value: got ", width);
    const Tensor goal = sum(slice(output, 0, row, row + 1) * Tensor(Array({1, width}, with)));
    if (scores.needs_grad()) scores.keep_grad();
    if (goal.needs_grad()) backward(goal);
    answer.emplace_back("goal", goal.item());
    answer.emplace_back("gradient", Json::object({{"wq", gradient_of(W_Q)},
                                                  {"wk", gradient_of(W_K)},
                                                  {"wv", gradient_of(W_V)},
                                                  {"scores", gradient_of(scores)}}));
  }
  return Json::object(answer);
}

}  // namespace fledge
