// From the pattern of a wrong gradient to the likely mistake, in words.
//
// A known mistake is a function that gives the gradient of a rule with this mistake. A gradient is
// explained by the first mistake that gives the same numbers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/gradcheck/gradcheck.h"

namespace fledge {

/// "[2, 5]": the index of element j in a tensor of this shape.
std::string index_text(const Shape& shape, Dim j);

/// A mistake, in words, and element j of the gradient that a rule with this mistake gives.
struct Mistake {
  std::string cause;
  std::function<double(std::size_t j)> gradient;
};

/// The mistakes that a rule for parameter p may hold, for a cotangent v of the shape of f():
///
///   - The sum over a broadcast axis is missing: only the first or the last position of the output
///     contributes. Tried for each axis of the output, and for its leading axes taken together. An
///     output of one number has no positions: there this mistake is a constant ratio.
///   - The rule multiplies dy by the Jacobian J itself: J·v in place of Jᵀ·v. f must have outputs of
///     the shape of p.
///   - Of the product rule for y = x·g(x), only the summand dy·g(x) is there.
///   - Another parameter q, square in its last two axes, is used where its transpose belongs. The
///     gradient is computed with qᵀ in place of q, so f must be linear in what q enters: in
///     tanh(A·B) the transpose also changes the slope of tanh. A factor that is no parameter, and
///     A·A, are not recognised.
///
/// f and parameters must outlive the result.
std::vector<Mistake> known_mistakes(const std::function<Tensor()>& f,
                                    const std::vector<NamedTensor>& parameters, std::size_t p,
                                    const Array& v);

/// Numbers, one for each element, to which a missing summand may be proportional.
struct Summand {
  std::string cause;  // "the error is a multiple of …"
  std::vector<double> numbers;
  bool along_axes = true;  // the factor may differ from one line along an axis to the next
};

/// The summands that a rule for parameter p may lack. Those that depend on the output are there only
/// if it has the shape of p: of softmax the output, of a norm the input, of x + g(x) the cotangent.
std::vector<Summand> known_summands(const std::function<Tensor()>& f,
                                    const std::vector<NamedTensor>& parameters, std::size_t p,
                                    const Array& v);

struct Diagnosis {
  std::string cause;    // one sentence; empty when the errors show no known pattern
  std::string pattern;  // without a cause: how many elements are wrong
};

/// Compares a wrong gradient with the true one. A cause is named only when two or more wrong
/// elements agree on it. Numbers up to `zero` count as zero. Patterns: not a number, all zero, a
/// constant ratio (2, −1, √D, another), transposed, reversed or shifted along an axis, the gradient
/// of one of `mistakes`, one of `summands` is missing, permuted, wrong in one stretch of an axis.
Diagnosis diagnose(const std::vector<double>& analytic, const std::vector<double>& expected,
                   const Shape& shape, double zero, const std::vector<Mistake>& mistakes = {},
                   const std::vector<Summand>& summands = {});

}  // namespace fledge
