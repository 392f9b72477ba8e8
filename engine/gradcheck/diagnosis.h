// From the pattern of a wrong gradient to the likely mistake, in words.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/real.h"

namespace fledge {

/// "[2, 5]": the index of element j in a tensor of this shape.
std::string index_text(const Shape& shape, Dim j);

/// A mistake, in words, and element j of the gradient that a rule with this mistake gives.
struct Mistake {
  std::string cause;
  std::function<double(std::size_t j)> gradient;
};

struct Diagnosis {
  std::string cause;    // one sentence; empty when the errors show no known pattern
  std::string pattern;  // without a cause: how many elements are wrong
};

/// Compares a wrong gradient with the true one. A cause is named only when two or more wrong
/// elements agree on it. Numbers up to `zero` count as zero. Patterns: not a number, all zero, a
/// constant ratio (2, −1, √D, another), transposed, the gradient of one of `mistakes`, wrong in one
/// stretch of an axis.
Diagnosis diagnose(const std::vector<double>& analytic, const std::vector<double>& expected,
                   const Shape& shape, double zero, const std::vector<Mistake>& mistakes = {});

}  // namespace fledge
