// What holds of every op, on every row of the table of ops (engine/gradcheck/op_cases.h).
#include <map>
#include <set>

#include "engine/array_math.h"
#include "tests/engine/ops/passes.h"
#include "tests/support/blocking.h"

#if defined(FLEDGE_DUAL)
#include "engine/gradcheck/gradcheck.h"
#endif

using namespace tests;

namespace {

std::string op_of(const OpCase& row) { return row.name.substr(0, row.name.find(' ')); }

std::vector<Array> draw_all(const OpCase& row, const std::vector<Shape>& shapes) {
  REQUIRE(shapes.size() == row.inputs.size());
  Rng rng(1);
  return row.draw(shapes, rng);
}

// check(row, x) for the inputs of every row, and for those of its other shapes.
void for_each_row(
    const std::function<void(const OpCase& row, const std::vector<Array>& x)>& check) {
  for (const OpCase& row : op_cases())
    for (const std::vector<Shape>& shapes : row.calls()) {
      std::string text;
      for (const Shape& shape : shapes) text += " " + to_string(shape);
      INFO(row.name << " of" << text);
      check(row, draw_all(row, shapes));
    }
}

Array random_dy(const Function& f, const std::vector<Array>& x, std::uint64_t seed) {
  return uniform(value(f, x).shape(), seed);
}

// Gradients of their inputs' shapes, the same ones when other inputs want none, exactly 0 for a
// cotangent of 0 and exactly twice as large for twice the cotangent; and the same value whether the
// op is recorded, has no parameter, or stands under NoGrad.
void check_rules(const Function& f, const std::vector<Array>& inputs) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Array dy = random_dy(f, inputs, seed);
    const Pass once = pass(f, inputs, dy), doubled = pass(f, inputs, dy + dy);
    const Pass nothing = pass(f, inputs, Array::zeros(dy.shape()));
    CHECK(same_bits(once.y, value(f, inputs)));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      INFO("input " << i);
      CHECK(once.dx[i].shape() == inputs[i].shape());
      CHECK(same_bits(doubled.dx[i], once.dx[i] + once.dx[i]));
      CHECK(same_numbers(nothing.dx[i], Array::zeros(inputs[i].shape())));
      Tensors x(inputs.begin(), inputs.end());
      x[i] = parameter(inputs[i]);
      backward(f(x), dy);
      CHECK(same_bits(x[i].grad(), once.dx[i]));
      for (std::size_t other = 0; other < x.size(); ++other)
        CHECK(x[other].has_grad() == (other == i));
      const NoGrad off;
      const Tensor unrecorded = f(x);
      CHECK_FALSE(unrecorded.needs_grad());
      CHECK(same_bits(unrecorded.value(), once.y));
    }
  }
}

// Whether whole numbers stay whole in the op and in its reference, so that both must agree exactly.
bool is_exact(const OpCase& row) {
  for (const char* op : {"add", "sub", "mul", "neg", "where", "matmul", "linear",
                         "matmul_transposed", "attention_scores", "weighted_sum", "embedding"})
    if (op_of(row) == op) return row.name != "attention_scores masked";
  return false;
}

}  // namespace

TEST_CASE("every op: its gradients, and its value in every mode") {
  for_each_row([](const OpCase& row, const std::vector<Array>& x) { check_rules(row.f, x); });
}

TEST_CASE("ops that pass their inputs on obey the rules of every op at infinities too") {
  for (const char* name :
       {"add",   "add broadcast", "sub",       "neg",     "tanh",    "sigmoid", "relu",
        "where", "sum",           "mean",      "max",     "reshape", "permute", "transpose",
        "slice", "concat",        "embedding", "dropout", "maximum", "minimum", "abs",
        "clamp", "softplus",      "min",       "stack",   "pad",     "gather",  "scatter_add"}) {
    INFO(name);
    const OpCase& row = op_case(name);
    std::vector<Array> x;
    for (const Input& input : row.inputs) {
      x.push_back(uniform(input.shape, x.size() + 1));
      x.back().write()[0] = Real(infinity);
      x.back().write()[input.shape.size() - 1] = Real(-infinity);
    }
    check_rules(row.f, x);
  }
  for (const char* name : {"softmax", "log_softmax", "logsumexp"})
    check_rules(op_case(name).f, {Array({2, 2}, {-infinity, 1, 1e4, -1e4})});
}

TEST_CASE("every op and its reference are two roads to one answer") {
  for_each_row([](const OpCase& row, const std::vector<Array>& x) {
    if (!row.reference) return;
    if (!is_exact(row)) return check_two_roads(row.f, row.reference, x);
    std::vector<Array> whole;
    for (const Array& each : x) whole.push_back(integers(each.shape(), whole.size() + 1));
    const Array dy = integers(value(row.f, whole).shape(), 9);
    const Pass found = pass(row.f, whole, dy), expected = pass(row.reference, whole, dy);
    CHECK(same_numbers(found.y, expected.y));
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(same_numbers(found.dx[i], expected.dx[i]));
  });
}

TEST_CASE("every op: the gradient of a sum of cotangents is the sum of their gradients") {
  for_each_row([](const OpCase& row, const std::vector<Array>& x) {
    const Array a = random_dy(row.f, x, 1), b = random_dy(row.f, x, 2);
    const Pass of_a = pass(row.f, x, a), of_b = pass(row.f, x, b), both = pass(row.f, x, a + b);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(near(both.dx[i], of_a.dx[i] + of_b.dx[i]));
  });
}

TEST_CASE("every op: used twice it gives both gradients, and so does one tensor as two inputs") {
  for_each_row([](const OpCase& row, const std::vector<Array>& x) {
    const Array dy = random_dy(row.f, x, 1);
    const Pass once = pass(row.f, x, dy);
    const Pass twice = pass([&](const Tensors& t) { return row.f(t) + row.f(t); }, x, dy);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(near(twice.dx[i], once.dx[i] + once.dx[i]));
    for (std::size_t j = 1; j < x.size(); ++j)
      for (std::size_t i = 0; i < j; ++i) {
        if (x[i].shape() != x[j].shape()) continue;
        INFO("inputs " << i << " and " << j);
        std::vector<Array> alike = x;
        alike[j] = x[i];
        const Pass apart = pass(row.f, alike, dy);
        Tensors shared(alike.begin(), alike.end());
        shared[i] = shared[j] = parameter(x[i]);
        backward(row.f(shared), dy);
        CHECK(close(shared[i].grad(), apart.dx[i] + apart.dx[j]));
      }
  });
}

TEST_CASE("every op in small blocks, on several threads, over memory full of NaN: the same bits") {
  for_each_row([](const OpCase& row, const std::vector<Array>& x) {
    const Array dy = random_dy(row.f, x, 7);
    const Pass whole = pass(row.f, x, dy);
    for (const Dim block : {2, 5}) {
      Blocking sizes = kernels::blocking;
      sizes.serial_work = sizes.unpacked_n = sizes.cached_numbers = 0;
      sizes.packed_panels = 1;
      sizes.tasks = 100;
      sizes.task_numbers = sizes.block_k = sizes.packed_numbers = block + 1;
      sizes.task_rows = sizes.block_queries = sizes.small_head_queries = block;
      const Blocked blocked(sizes, static_cast<int>(block));
      const Pass found = pass(row.f, x, dy);
      INFO("blocks of " << block);
      REQUIRE(same_bits(found.y, whole.y));
      for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(same_bits(found.dx[i], whole.dx[i]));
    }
  });
}

TEST_CASE("a row of a result depends on its own row alone, to the bit") {
  std::vector<std::pair<std::string, std::vector<Shape>>> rows = {
      {"softmax", {{5, 65}}},
      {"log_softmax", {{5, 65}}},
      {"softmax causal", {{4, 33, 33}}},
      {"softmax custom", {{5, 3, 4}}},
      {"linear", {{100, 65}, {65, 70}, {70}}},
      {"matmul_transposed", {{100, 65}, {70, 65}}},
      {"layer_norm", {{5, 65}, {65}, {65}}},
      {"rms_norm", {{5, 65}, {65}}},
      {"attention causal", {{3, 70, 18}}},
      {"attention window", {{3, 9, 12}}}};
  // A column of many numbers: whole vectors and a rest.
  for (const OpCase& row : op_cases())
    if ((row.takes_every_shape && row.inputs.size() == 1) || row.name == "clamp")
      rows.push_back({row.name, {{1003, 1}}});
  for (const auto& [name, sizes] : rows) {
    INFO(name);
    const Function& f = op_case(name).f;
    std::vector<Array> x = draw_all(op_case(name), sizes);
    const Array whole = x[0], dy = random_dy(f, x, 2);
    const Pass all = pass(f, x, dy);
    bool alike = true;
    for (Dim r = 0; r < whole.dim(0); ++r) {
      const auto one = [r](const Array& of) { return slice(Tensor(of), 0, r, r + 1).value(); };
      x[0] = one(whole);
      const Pass alone = pass(f, x, one(dy));
      alike = alike && same_bits(alone.y, one(all.y)) && same_bits(alone.dx[0], one(all.dx[0]));
    }
    CHECK(alike);
  }
}

// An element is not read if no cotangent gives it a gradient, a cotangent if it gives none.
TEST_CASE("what an op leaves out is not read, be it NaN or infinite") {
  const std::set<std::string> ops{"where",        "embedding", "cross_entropy",    "dropout",
                                  "weighted_sum", "slice",     "attention_scores", "gather"};
  std::set<std::string> with_gaps;
  for_each_row([&](const OpCase& row, const std::vector<Array>& x) {
    if (!ops.contains(op_of(row))) return;
    const Array dy = random_dy(row.f, x, 1);
    const Pass clean = pass(row.f, x, dy), other = pass(row.f, x, random_dy(row.f, x, 2));
    std::vector<Dim> unread;  // of dy
    for (Dim i = 0; i < dy.size(); ++i) {
      Array single = Array::zeros(dy.shape());
      single.write()[i] = Real(1);
      const std::vector<Array> dx = pass(row.f, x, single).dx;
      if (std::all_of(dx.begin(), dx.end(),
                      [](const Array& d) { return same_numbers(d, Array::zeros(d.shape())); }))
        unread.push_back(i);
    }
    for (const double poison : {quiet_nan, infinity, -infinity}) {
      std::vector<Array> poisoned;
      for (std::size_t i = 0; i < x.size(); ++i) {
        poisoned.push_back(x[i].clone());
        for (Dim j = 0; j < x[i].size(); ++j) {
          if (clean.dx[i][j] != Real(0) || other.dx[i][j] != Real(0)) continue;
          poisoned[i].write()[j] = Real(poison);
          with_gaps.insert(op_of(row));
        }
      }
      Array poisoned_dy = dy.clone();
      for (const Dim i : unread) poisoned_dy.write()[i] = Real(poison);
      const Pass found = pass(row.f, poisoned, poisoned_dy);
      CHECK(same_bits(found.y, clean.y));
      for (std::size_t i = 0; i < x.size(); ++i) CHECK(same_bits(found.dx[i], clean.dx[i]));
    }
  });
  CHECK(with_gaps == ops);
}

TEST_CASE("every op refuses what does not fit in both modes, and names itself and what came") {
  const std::map<std::string, std::string> operators{
      {"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}};
  std::set<std::string> without;
  for (const OpCase& row : op_cases())
    if (!row.takes_every_shape) without.insert(op_of(row));
  for (const OpCase& row : op_cases())
    for (const Refused& refused : row.refused) {
      Tensors x;
      for (const Shape& shape : refused.shapes) x.push_back(parameter(Array::ones(shape)));
      const auto call = [&] { refused.f(x); };
      const std::string text = refused.by_value ? refusal_in_both_modes<ValueError>(call)
                                                : refusal_in_both_modes<ShapeError>(call);
      const auto symbol = operators.find(op_of(row));
      CHECK_THAT(text,
                 StartsWith((symbol == operators.end() ? op_of(row) : symbol->second) + ": "));
      std::size_t at = 0;
      for (const std::string& part : refused.says) {
        INFO(text << " must name " << part);
        at = text.find(part, at);
        CHECK(at != text.npos);
      }
      without.erase(op_of(row));
    }
  CHECK(without == std::set<std::string>{});
}

TEST_CASE("every op refuses a tensor that was never given a value, in both modes") {
  for (const OpCase& row : op_cases())
    for (std::size_t i = 0; i < row.inputs.size(); ++i) {
      if (op_of(row) == "linear" && i == 2) continue;  // the bias may be left out, and the sink
      if (row.inputs[i].shape.rank() == 1 && op_of(row) == "attention") continue;
      INFO(row.name << ", input " << i);
      Tensors x;
      for (const Input& input : row.inputs) x.push_back(parameter(Array::ones(input.shape)));
      x[i] = Tensor();
      CHECK(refusal_in_both_modes<GraphError>([&] { row.f(x); }) ==
            "value: this tensor was never given a value");
    }
}

#if defined(FLEDGE_DUAL)
TEST_CASE("every op: every element of every gradient is right by both oracles, and the Hessian") {
  for (const OpCase& row : op_cases()) {
    Rng rng(6);
    const std::vector<Array> x = row.draw(row.calls()[0], rng);
    Dim elements = 0;
    for (const Array& each : x) elements += each.size();
    const GradcheckReport report = gradcheck(row.f, x, {.order = 2, .seed = 6});
    INFO(row.name << ": " << to_string(report));
    CHECK((report.ok && report.undecided == 0 && report.elements == elements));
  }
}
#endif
