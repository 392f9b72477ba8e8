// The values of parameters, saved and restored: gradcheck changes its inputs and changes them back.
//
// Used by gradcheck alone. Not here: one element at a time (oracle.cpp).          Next: rounding.h.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/gradcheck/gradcheck.h"

namespace fledge {

/// Copies the values of the parameters; the destructor writes them back. The parameters must outlive
/// the object.
class SavedValues {
 public:
  /// Throws GraphError when a parameter cannot be written: none is changed then.
  explicit SavedValues(const std::vector<NamedTensor>& parameters) {
    for (const NamedTensor& p : parameters)
      saved_.push_back({p.tensor.write(), p.tensor.value().clone()});
  }
  ~SavedValues() {
    for (const Saved& s : saved_) std::copy_n(s.values.data(), s.values.size(), s.to);
  }
  SavedValues(const SavedValues&) = delete;
  SavedValues& operator=(const SavedValues&) = delete;

 private:
  struct Saved {
    Real* to;
    Array values;
  };
  std::vector<Saved> saved_;
};

}  // namespace fledge
