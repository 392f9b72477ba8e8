// Values and gradients by hand, what ops do at the edges of IEEE 754, and the draws of dropout.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "engine/array_math.h"
#include "engine/ops/cached_attention.h"
#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

constexpr double largest_number = std::numeric_limits<Real>::max();

struct Known {
  std::string name;
  bool is_exact = false;
  std::vector<Array> x = {}, dx = {};
  Array dy = {}, y = {};
};

Array row(const std::vector<double>& values) {
  return Array({static_cast<Dim>(values.size())}, values);
}

// "(2, 1) 3 most"
Array array_of(std::string text) {
  static const std::map<std::string, double> names{
      {"tiny", std::numeric_limits<Real>::denorm_min()},
      {"-tiny", -std::numeric_limits<Real>::denorm_min()},
      {"most", largest_number},
      {"-most", -largest_number}};
  std::vector<Dim> sizes;
  const bool has_shape = text.find('(') != text.npos;
  if (has_shape) {
    std::istringstream shape(text.substr(text.find('(') + 1, text.find(')') - text.find('(') - 1));
    for (Dim size = 0; shape >> size; shape.ignore(1, ',')) sizes.push_back(size);
    text = text.substr(text.find(')') + 1);
  }
  std::vector<double> numbers;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    numbers.push_back(names.contains(word) ? names.at(word) : std::stod(word));
  return has_shape ? Array(Shape(std::span<const Dim>(sizes)), numbers) : row(numbers);
}

std::vector<Known> known_values() {
  std::ifstream file(FLEDGE_SOURCE_DIR "/tests/engine/ops/known_values.txt");
  std::vector<Known> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] != ' ') {
      all.push_back({line.substr(2), line[0] == '='});
      continue;
    }
    const std::string key = line.substr(2, 2);
    const Array numbers = array_of(line.substr(4));
    REQUIRE((key == "x " || key == "dx" || key == "dy" || key == "y "));
    if (key == "x ") all.back().x.push_back(numbers);
    if (key == "dx") all.back().dx.push_back(numbers);
    if (key == "dy") all.back().dy = numbers;
    if (key == "y ") all.back().y = numbers;
  }
  return all;
}

// The same numbers, and −0 is not 0.
Verdict same_values(const Array& found, const Array& expected) {
  return compare(found, expected, [](Real f, Real e) {
    return (isnan(f) && isnan(e)) ||
           (f == e && std::signbit(value_of(f)) == std::signbit(value_of(e)));
  });
}

Dim zeros_in(const Array& x) { return std::count(x.data(), x.data() + x.size(), Real(0)); }

}  // namespace

TEST_CASE("values and gradients by hand, and at the edges of IEEE 754") {
  const std::vector<Known> all = known_values();
  CHECK(all.size() >= 50);
  for (const Known& known : all) {
    INFO(known.name << " of " << to_string(known.x.at(0)));
    const Pass found = pass(op_case(known.name).f, known.x,
                            known.dy.exists() ? known.dy : Array::ones(known.y.shape()));
    CHECK((known.is_exact ? same_values(found.y, known.y) : near(found.y, known.y, 16 * unit)));
    REQUIRE(found.dx.size() == known.dx.size());
    for (std::size_t i = 0; i < known.dx.size(); ++i) {
      INFO("gradient of input " << i);
      CHECK((known.is_exact ? same_numbers(found.dx[i], known.dx[i])
                            : near(found.dx[i], known.dx[i], 32 * unit)));
    }
  }
}

TEST_CASE("every op of one number has known values at the edges") {
  std::set<std::string> missing;
  for (const OpCase& op : op_cases()) {
    if (!op.takes_every_shape || op.inputs.size() != 1) continue;
    for (const char* edge : {"inf", "-inf", "nan", "-0"}) missing.insert(op.name + " of " + edge);
  }
  CHECK(missing.size() >= 64);
  for (const Known& known : known_values())
    for (Dim i = 0; i < known.x.at(0).size(); ++i) {
      const double x = value_of(known.x[0][i]);
      if (std::isnan(x)) missing.erase(known.name + " of nan");
      if (std::isinf(x)) missing.erase(known.name + (x > 0 ? " of inf" : " of -inf"));
      if (x == 0 && std::signbit(x)) missing.erase(known.name + " of -0");
    }
  INFO("write them into known_values.txt");
  CHECK(missing == std::set<std::string>{});
}

TEST_CASE("where takes every condition that is not 0 for true") {
  const Array condition({4}, {-2, quiet_nan, -0.0, 1e-30});
  CHECK(same_bits(where(condition, Array::ones({4}), 5.0).value(), row({1, 1, 5, 1})));
}

TEST_CASE("comparisons are 1 where they hold, broadcast, and are false of NaN but for !=") {
  const Tensor x = row({1, 2, 3, quiet_nan}), two = 2.0;
  CHECK(same_bits(x < two, row({1, 0, 0, 0})));
  CHECK(same_bits(x <= two, row({1, 1, 0, 0})));
  CHECK(same_bits(x > two, row({0, 0, 1, 0})));
  CHECK(same_bits(x >= two, row({0, 1, 1, 0})));
  CHECK(same_bits(x == two, row({0, 1, 0, 0})));
  CHECK(same_bits(x != two, row({1, 0, 1, 1})));
  CHECK((Tensor(Array::ones({2, 1})) > Array::zeros({3})).shape() == Shape{2, 3});
  CHECK(refuses<ShapeError>([] { static_cast<void>(Tensor(Array::ones({2})) > Array::ones({3})); },
                            ">", "(2)"));
  CHECK(same_numbers(where((x > 1.0) * (x < 3.0), x, 0.0).value(), row({0, 2, 0, 0})));
}

TEST_CASE("argmax: the first of the largest, and a NaN before all numbers") {
  const Array x({2, 3}, {1, 5, 5, 2, quiet_nan, 9});
  const auto ids = [](const Indices& found) {
    std::vector<Dim> all;
    for (Dim i = 0; i < found.size(); ++i) all.push_back(found[i]);
    return all;
  };
  CHECK(ids(argmax(x)) == std::vector<Dim>{1, 1});
  CHECK(ids(argmax(x, 0)) == std::vector<Dim>{1, 1, 1});
  CHECK(argmax(x, 0).shape() == Shape{3});
  CHECK(refuses<ShapeError>([&] { argmax(x, 2); }, "argmax", "no axis 2", "(2, 3)"));
  CHECK(refuses<ShapeError>([] { argmax(Array::zeros({2, 0})); }, "argmax", "(2, 0)"));
}

TEST_CASE("a rule before where may make a NaN, unless its argument is chosen too") {
  const std::vector<std::pair<const char*, double>> cases = {
      {"sqrt", 0}, {"sqrt", -1}, {"log", 0}, {"exp", 1000}};
  for (const auto& [name, x] : cases) {
    INFO(name << " of " << x);
    const Function& f = op_case(name).f;
    const Array condition({2}, {0, 1}), in({2}, {x, 4}), dy = Array::ones({2});
    const auto bare = [&](const Tensors& t) { return where(condition, f(t), 3.0 * t[0]); };
    const auto safe = [&](const Tensors& t) {
      return where(condition, f({where(condition, t[0], 1.0)}), 3.0 * t[0]);
    };
    CHECK(isnan(pass(bare, {in}, dy).dx[0][0]));
    const Array dx = pass(safe, {in}, dy).dx[0];
    CHECK((dx[0] == Real(3) && dx[1] == pass(f, {row({4})}, Array::ones({1})).dx[0][0]));
  }
}

TEST_CASE("softmax of equal numbers is even, and equal shifts change no bit") {
  const Function soft = op_case("softmax").f, log_soft = op_case("log_softmax").f;
  for (const double each : {0.0, 0.1, -1e4, 1e30})
    for (Dim n = 1; n <= 1024; n *= 2) {
      const Array x = Array::full({n}, Real(each));
      const Pass found = pass(soft, {x}, Array::full({n}, Real(0.75)));
      CHECK(same_bits(found.y, Array::full({n}, 1 / real(n))));
      CHECK(same_numbers(found.dx[0], Array::zeros({n})));
      const Array even = Array::full({n}, Real(-std::log(static_cast<double>(n))));
      CHECK(near(value(log_soft, {x}), even, 2 * unit));
    }
  const Array x = integers({6, 9}, 1), dy = uniform({6, 9}, 2);
  for (const double shift : {1.0, -3.0, 1000.0, -4096.0, 16'777'000.0})
    for (const Function& f : {soft, log_soft}) {
      const Pass here = pass(f, {x}, dy), moved = pass(f, {(Tensor(x) + shift).value()}, dy);
      CHECK(same_bits(moved.y, here.y));
      CHECK(same_bits(moved.dx[0], here.dx[0]));
    }
}

TEST_CASE("softmax of a row with a NaN is NaN everywhere, wherever the NaN stands") {
  for (const Dim n : {Dim{5}, Dim{65}, Dim{200}})
    for (const Dim at : {Dim{0}, n / 2, n - 1}) {
      Array x = Array::ones({1, n});
      x.write()[at] = Real(quiet_nan);
      CHECK(same_numbers(value(op_case("softmax").f, {x}), Array::full({1, n}, Real(quiet_nan))));
    }
}

TEST_CASE("cross entropy of even logits is log V") {
  for (const Dim V : {1, 2, 3, 10, 27, 65, 50257})
    for (const double each : {0.0, -3.0, 1e4}) {
      const Array found = cross_entropy(Array::full({2, V}, Real(each)), {0, V - 1}).value();
      CHECK(near(found, Array({}, {std::log(static_cast<double>(V))}), 4 * unit));  // 2 ulp
    }
}

TEST_CASE("cross entropy smoothed over many classes loses no digits in their sum") {
  for (const Dim V : {1000, 200000}) {
    const Tensor logits = parameter(Array::zeros({1, V}));
    const Tensor loss = cross_entropy(logits, {7}, CrossEntropyOptions{.smoothing = 0.9});
    CHECK(near(loss.value(), Array({}, {std::log(static_cast<double>(V))}), 8 * unit));
    backward(loss);
    const double at_target = 1.0 / static_cast<double>(V) - 0.1 - 0.9 / static_cast<double>(V);
    CHECK(near(slice(logits.grad(), 1, 7, 8).value(), Array({1, 1}, {at_target}), 8 * unit));
  }
}

TEST_CASE("cross entropy: what has weight 0 loses nothing, also at a logit of -inf") {
  const Array logits({2, 3}, {0, 0, -infinity, 0, 0, -infinity}), weights({3}, {1, 1, 0});
  for (const double smoothing : {0.0, 0.3, 1.0}) {
    const Tensor x = parameter(logits.clone());
    const Tensor y = cross_entropy(x, {0, 2}, {.smoothing = smoothing, .weights = weights});
    backward(y);
    const double once = (1 - smoothing) + smoothing * 2 / 3, spread = smoothing * 2 / 3;
    CHECK(near(y.value(), Array({}, {std::log(2.0) * (once + spread)}), 8 * unit));
    CHECK(to_vector(x.grad())[5] == 0);
    CHECK(std::isfinite(to_vector(x.grad())[0]));
  }
}

TEST_CASE("cosine similarity of a vector and a multiple of it is 1 or -1, and never beyond") {
  for (const double factor : {1.0, -1.0, 3.0, -0.1}) {
    const Array x = uniform({4000, 8}, 1), y = (Tensor(x) * factor).value();
    bool within = true;
    for (const double cosine : to_vector(cosine_similarity(x, y).value()))
      within = within && std::abs(cosine) <= 1 && std::abs(cosine) >= 1 - 8 * unit;
    CHECK(within);
  }
}

TEST_CASE("sigmoid and softmax neither overflow nor divide by zero on the way") {
  const Array rows({2, 3}, {1e4, -1e4, 0, 1e30, -1e30, 1e30});
  std::feclearexcept(FE_ALL_EXCEPT);
  pass(op_case("sigmoid").f,
       {Array({6}, {-1000, 1000, -1e20, 1e20, -largest_number, largest_number})}, Array::ones({6}));
  pass(op_case("softmax").f, {rows}, Array::ones({2, 3}));
  CHECK(std::fetestexcept(FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO) == 0);
}

TEST_CASE("dropout leaves out where a draw is below its probability, and scales what stays") {
  const Dim n = 100'000;
  const Array infinite = Array::full({n}, infinity);
  for (const double p : {0.01, 0.1, 0.5, 0.9, 0.99})
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      INFO("p = " << p << ", seed " << seed);
      Rng rng(seed), twin(seed);
      const Array y = dropout(Array::ones({n}), p, rng).value();
      const auto is_drawn = [&](Real v) {
        return v == (twin.uniform() < p ? Real(0) : Real(1 / (1 - p)));
      };
      CHECK(std::all_of(y.data(), y.data() + n, is_drawn));
      CHECK(rng.bits() == twin.bits());
      rng = Rng(seed);
      CHECK(zeros_in(dropout(infinite, p, rng).value()) == zeros_in(y));
      // The mean stays 1: its deviation is √(p / (1 − p) / n).
      CHECK(std::abs(mean(y).item() - 1) <=
            5 * std::sqrt(p / (1 - p) / static_cast<double>(n)) + 1e-6);
    }
}

TEST_CASE(
    "dropout with probability 0 is x itself, and draws nothing; nor does one that is refused") {
  Rng rng(7), untouched(7);
  const Tensor x = parameter(uniform({3, 4}, 1));
  CHECK(dropout(x, 0, rng).node() == x.node());
  CHECK_THROWS_AS(dropout(x, 1, rng), ValueError);
  CHECK_THROWS_AS(dropout(Tensor(), 0, rng), GraphError);
  CHECK(rng.bits() == untouched.bits());
}

TEST_CASE("ops: limits that are allowed, and those beyond") {
  const Tensor x(uniform({2, 4}, 1)), gain(Array::ones({4}));
  CHECK(rms_norm(x, gain, 0).shape() == Shape{2, 4});
  CHECK(stack({x, x, x}).shape() == Shape{3, 2, 4});  // along a new first axis, if none is named
  CHECK(rotate(x, 4, 1, (Dim{1} << 31) - 2, 1).shape() == Shape{2, 4});
  CHECK_THROWS_AS(rotate(x, 4, 1, (Dim{1} << 31) - 1, 1), ValueError);
  CHECK_THROWS_AS(cross_entropy(x, Indices({2}, {0, 1}),
                                CrossEntropyOptions{.weights = Array({4}, {1, 1, 1, infinity})}),
                  ValueError);
  CHECK_THROWS_AS(cached_attention_weights(Array::ones({2, 12}), {1, 1}, KeyValueCache(), {}, {}),
                  ShapeError);
}
