#include "engine/gradcheck/saved_values.h"

#include <optional>
#include <stdexcept>

#include "engine/base/errors.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

const Array x = uniform({3, 4}, 1), y = uniform({2}, 2);

void add_one(const Tensor& w) {
  Real* to = w.write();
  for (Dim j = 0; j < w.size(); ++j) to[j] = to[j] + Real(1);
}

}  // namespace

TEST_CASE("the parameters have their old values afterwards") {
  const Tensor w = parameter(x.clone()), b = parameter(y.clone());
  {
    const SavedValues saved({{"w", w}, {"b", b}});
    add_one(w);
    add_one(b);
    CHECK_FALSE(same_bits(w.value(), x));
    CHECK_FALSE(same_bits(b.value(), y));
  }
  CHECK(same_bits(w.value(), x));
  CHECK(same_bits(b.value(), y));
}

TEST_CASE("an exception restores the values, also where the new ones are in use") {
  const Tensor w = parameter(x.clone());
  std::optional<Array> holder;
  const auto change = [&] {
    const SavedValues saved({{"w", w}});
    add_one(w);
    holder = w.value();  // w.write() would throw from here on
    throw std::runtime_error("out of luck");
  };
  CHECK_THROWS_AS(change(), std::runtime_error);
  CHECK(same_bits(w.value(), x));
}

TEST_CASE("a parameter that cannot be written is refused before anything changes") {
  const Tensor w = parameter(x.clone()), shared = parameter(y.clone());
  const Array holder = shared.value();
  CHECK_THROWS_AS(SavedValues({{"w", w}, {"shared", shared}}), GraphError);
  CHECK(same_bits(w.value(), x));
  CHECK(same_bits(shared.value(), y));
}
