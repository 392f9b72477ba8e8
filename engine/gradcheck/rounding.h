// Decides whether a difference between backward() and the oracle is an error or only rounding.
//
// Used by gradcheck alone. Where a true gradient cancels to zero, as that of cosine_similarity(b, b)
// does, both numbers are rounding, of a size that depends on numbers inside f.
// Key idea: change every input by a few units in its last place. An error keeps its size; rounding
// becomes another number. Next: gradcheck.cpp.
#pragma once

#include <functional>
#include <vector>

#include "engine/gradcheck/gradcheck.h"
#include "engine/gradcheck/oracle.h"

namespace fledge {

/// An element for which backward() and the oracle give two numbers.
struct Difference {
  std::size_t parameter = 0, element = 0;
  double analytic = 0, expected = 0;
  double change = 0;  // of analytic − expected, the largest in all trials

  double size() const;
  /// The difference itself is not steady: it changes by half of itself or more.
  bool is_rounding() const { return change >= 0.5 * size(); }
  /// Neither number is larger than its rounding: the derivative may be zero.
  bool is_zero() const;
};

/// Sets `change` of each difference. It stays 0 where f throws at the changed inputs or is not finite
/// there. Interrupted and std::bad_alloc are thrown on. The parameters have their old numbers
/// afterwards.
void measure_changes(const std::function<Tensor()>& f, const std::vector<NamedTensor>& parameters,
                     const Array& v, const Oracle& oracle, std::vector<Difference>& differences);

}  // namespace fledge
