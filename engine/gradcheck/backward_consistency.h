// Jᵀ·v from backward(), computed in several ways that must agree.
//
// A wrong rule may give the right Jᵀ·v for one v. A right rule is linear in dy, and adds to the
// gradient of its input. So backward() runs again: unchanged, with v = 0, with a scaled v, and with
// a second op that uses every parameter.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/gradcheck/gradcheck.h"

namespace fledge {

/// Random signs and magnitudes in [½, 3/2): never constant, never near zero.
Array random_cotangent(const Shape& shape, std::uint64_t seed);

/// Numbers by parameter, by element.
using Gradients = std::vector<std::vector<double>>;

/// Jᵀ·v by one backward pass over y, which keeps its graph; zeros where the pass does not arrive.
/// The parameters hold no gradient afterwards. Other parameters keep theirs.
Gradients gradients_of(const Tensor& y, const std::vector<NamedTensor>& parameters, const Array& v);

/// An element of a parameter's gradient at which a problem shows.
struct WrongElement {
  std::size_t index = 0;
  double analytic = 0, expected = 0;
  double error = 0;  // what elements are compared by; NaN is worse than any number
};

/// Adds an element to the five with the largest errors, the largest first.
void add_worst(std::vector<WrongElement>& worst, const WrongElement& element);

/// A problem, and the elements of one parameter at which it shows most.
struct WrongGradient {
  std::string problem;  // one sentence
  std::size_t parameter = 0;
  std::vector<WrongElement> elements;  // one to five, the worst first
  const WrongElement& worst() const { return elements.front(); }
};

/// Jᵀ·v, and the first repetition that gave another result, if there is one.
struct BackwardConsistency {
  Gradients gradients;
  std::optional<WrongGradient> inconsistency;
};

/// Computes Jᵀ·v by backward() of f(); f is evaluated once or twice. Gradients that the parameters
/// had before are forgotten. `seed` draws the other users' cotangents.
BackwardConsistency check_backward(const std::function<Tensor()>& f,
                                   const std::vector<NamedTensor>& parameters, const Array& v,
                                   std::uint64_t seed);

}  // namespace fledge
