#include "tests/parity/ops.h"

#include <cmath>

namespace parity {

namespace {

using In = const std::vector<Tensor>&;
using Step = const JsonValue&;

constexpr std::int64_t most = 1'000'000'000;

Dim whole(const JsonValue& json) { return json.integer(-most, most); }

template <class T = Dim>
std::vector<T> list(const JsonValue& json) {
  std::vector<T> numbers;
  json.each_item(
      [&](const JsonValue& number) { numbers.push_back(static_cast<T>(whole(number))); });
  return numbers;
}

Axes axes(Step step) { return list<int>(step["axes"]); }
int axis(Step step) { return static_cast<int>(whole(step["axis"])); }
bool keep_axes(Step step) { return step["keep_axes"].boolean(); }

Indices indices(const JsonValue& json) {
  return {Shape(list(json["shape"])), list(json["numbers"])};
}

Array condition(const JsonValue& json) {
  return {Shape(list(json["shape"])), list<double>(json["numbers"])};
}

Mask mask(Step step) {
  const JsonValue json = step["mask"];
  Mask seen;
  if (json.has("causal")) seen = seen & causal();
  if (json.has("window")) seen = seen & window(whole(json["window"]));
  if (json.has("lengths")) seen = seen & padding(list(json["lengths"]));
  if (json.has("table")) {
    const std::vector<Dim> shape = list(json["table"]["shape"]);
    seen = seen & custom(shape.at(0), shape.at(1), list<bool>(json["table"]["numbers"]));
  }
  return seen;
}

Tensor cross_entropy_of(In x, Step step) {
  std::optional<Dim> ignored;
  if (step.has("ignored")) ignored = whole(step["ignored"]);
  return cross_entropy(x[0], indices(step["targets"]), ignored);
}

Tensor dropout_of(In x, Step step) {
  Rng rng(static_cast<std::uint64_t>(whole(step["seed"])));
  return dropout(x[0], step["p"].number(), rng);
}

Tensor embedding_of(In x, Step step) {
  return embedding(x[0], x[1], indices(step["ids"]), whole(step["first"]));
}

Tensor slice_of(In x, Step step) {
  return slice(x[0], axis(step), whole(step["begin"]), whole(step["end"]));
}

Tensor split_of(In x, Step step) {
  return split(x[0], whole(step["parts"]), axis(step))
      .at(static_cast<std::size_t>(whole(step["part"])));
}

}  // namespace

const std::map<std::string, Op>& ops() {
  static const std::map<std::string, Op> table{
      {"add", [](In x, Step) { return x[0] + x[1]; }},
      {"sub", [](In x, Step) { return x[0] - x[1]; }},
      {"mul", [](In x, Step) { return x[0] * x[1]; }},
      {"div", [](In x, Step) { return x[0] / x[1]; }},
      {"neg", [](In x, Step) { return -x[0]; }},
      {"pow", [](In x, Step) { return pow(x[0], x[1]); }},
      {"pow of a number", [](In x, Step s) { return pow(x[0], s["exponent"].number()); }},
      {"where", [](In x, Step s) { return where(condition(s["condition"]), x[0], x[1]); }},
      {"exp", [](In x, Step) { return exp(x[0]); }},
      {"log", [](In x, Step) { return log(x[0]); }},
      {"sqrt", [](In x, Step) { return sqrt(x[0]); }},
      {"tanh", [](In x, Step) { return tanh(x[0]); }},
      {"sigmoid", [](In x, Step) { return sigmoid(x[0]); }},
      {"relu", [](In x, Step) { return relu(x[0]); }},
      {"gelu", [](In x, Step) { return gelu(x[0]); }},
      {"gelu_tanh", [](In x, Step) { return gelu_tanh(x[0]); }},
      {"sum", [](In x, Step s) { return sum(x[0], axes(s), keep_axes(s)); }},
      {"mean", [](In x, Step s) { return mean(x[0], axes(s), keep_axes(s)); }},
      {"max", [](In x, Step s) { return max(x[0], axes(s), keep_axes(s)); }},
      {"matmul", [](In x, Step) { return matmul(x[0], x[1]); }},
      {"linear", [](In x, Step) { return linear(x[0], x[1], x.size() > 2 ? x[2] : Tensor()); }},
      {"matmul_transposed", [](In x, Step) { return matmul_transposed(x[0], x[1]); }},
      {"cosine_similarity", [](In x, Step s) { return cosine_similarity(x[0], x[1], axis(s)); }},
      {"reshape", [](In x, Step s) { return reshape(x[0], Shape(list(s["shape"]))); }},
      {"permute", [](In x, Step s) { return permute(x[0], list<int>(s["order"])); }},
      {"transpose", [](In x, Step s) { return transpose(x[0], axes(s).at(0), axes(s).at(1)); }},
      {"slice", slice_of},
      {"concat", [](In x, Step s) { return concat(x, axis(s)); }},
      {"split", split_of},
      {"softmax", [](In x, Step) { return softmax(x[0]); }},
      {"softmax masked", [](In x, Step s) { return softmax(x[0], mask(s)); }},
      {"log_softmax", [](In x, Step) { return log_softmax(x[0]); }},
      {"attention", [](In x, Step s) { return attention(x[0], whole(s["heads"]), mask(s)); }},
      {"attention of separate tensors",
       [](In x, Step s) { return attention(x[0], x[1], x[2], whole(s["heads"]), mask(s)); }},
      {"attention_scores", [](In x, Step s) { return attention_scores(x[0], x[1], mask(s)); }},
      {"attention_scores masked, softmax",
       [](In x, Step s) { return softmax(attention_scores(x[0], x[1], mask(s)), mask(s)); }},
      {"weighted_sum", [](In x, Step s) { return weighted_sum(x[0], x[1], mask(s)); }},
      {"layer_norm", [](In x, Step s) { return layer_norm(x[0], x[1], x[2], s["eps"].number()); }},
      {"embedding", [](In x, Step s) { return embedding(x[0], indices(s["ids"])); }},
      {"embedding with positions", embedding_of},
      {"cross_entropy", cross_entropy_of},
      {"dropout", dropout_of}};
  return table;
}

}  // namespace parity
