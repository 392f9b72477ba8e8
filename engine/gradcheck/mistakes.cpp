#include "engine/gradcheck/mistakes.h"

#include <algorithm>
#include <limits>

#include "engine/gradcheck/oracle.h"
#include "engine/gradcheck/saved_values.h"
#include "engine/ops.h"

namespace fledge {

namespace {

bool is_square(const Shape& shape) {
  return shape.rank() >= 2 && shape.dim(-1) == shape.dim(-2) && shape.dim(-1) > 1;
}

// v at one position of the axes from `begin` to `end`, taken together; zero elsewhere.
Array only_at(const Array& v, int begin, int end, Dim position) {
  Dim inner = 1, count = 1;
  for (int axis = end; axis < v.shape().rank(); ++axis) inner *= v.shape()[axis];
  for (int axis = begin; axis < end; ++axis) count *= v.shape()[axis];
  Array masked = v.clone();
  Real* to = masked.write();
  for (Dim i = 0; i < v.size(); ++i)
    if (i / inner % count != position) to[i] = 0;
  return masked;
}

}  // namespace

std::vector<Mistake> known_mistakes(const std::function<Tensor()>& f,
                                    const std::vector<NamedTensor>& parameters, std::size_t p,
                                    const Array& v, const std::vector<double>& analytic) {
  std::vector<Mistake> mistakes;
  const Tensor x = parameters[p].tensor;
  // Outside the domain of f the gradient is NaN, which equals no gradient of backward().
  const auto add = [&](std::string cause, const std::function<Tensor()>& g, const Array& dy) {
    mistakes.push_back({std::move(cause), [=, &analytic](std::size_t j) {
                          double gradient = std::numeric_limits<double>::quiet_NaN();
                          completes([&] {
                            const Oracle oracle(Method::dual, g, dy, gradcheck_tolerance_dual);
                            gradient = oracle.at(x, static_cast<Dim>(j), analytic[j]).value;
                          });
                          return gradient;
                        }});
  };

  const int rank = v.shape().rank();
  const auto add_positions = [&](int begin, int end) {
    Dim count = 1;
    for (int axis = begin; axis < end; ++axis) count *= v.shape()[axis];
    if (count < 2) return;
    const std::string where =
        end - begin == 1 ? "axis " + std::to_string(begin) : "axes 0 to " + std::to_string(end - 1);
    add("only the first position along " + where +
            " of the output contributes: the sum over a broadcast axis is missing",
        f, only_at(v, begin, end, 0));
    add("only the last position along " + where +
            " of the output contributes: each position overwrites the one before instead of adding",
        f, only_at(v, begin, end, count - 1));
  };
  for (int axis = 0; axis < rank; ++axis) add_positions(axis, axis + 1);
  for (int end = 2; end <= rank; ++end) add_positions(0, end);

  for (const NamedTensor& q : parameters) {
    if (q.tensor.node() == x.node() || !is_square(q.tensor.shape())) continue;
    add(
        "the rule uses " + q.name + " where its transpose belongs, or the transpose where " +
            q.name + " belongs",
        [&f, q] {
          const SavedValues saved({q});
          const Array other = transpose(q.tensor.detach()).value();
          std::copy_n(other.data(), other.size(), q.tensor.write());
          return Tensor(f().value().clone());
        },
        v);
  }
  return mistakes;
}

}  // namespace fledge
