// Indices: whole numbers in a shape, such as word ids (batch, time). They carry no gradient.
#pragma once

#include <vector>

#include "engine/base/errors.h"
#include "engine/base/memory.h"
#include "engine/base/shape.h"

namespace fledge {

class Indices {
 public:
  /// Throws ShapeError when the count of ids is not the shape's.
  Indices(const Shape& shape, const std::vector<Dim>& ids)
      : shape_(shape), ids_(ids.begin(), ids.end()) {
    require(shape_.size() == static_cast<Dim>(ids_.size()), "Indices", "shape ", shape_, " holds ",
            shape_.size(), " ids: got ", ids_.size());
  }
  /// One row of ids, shape (n).
  Indices(std::initializer_list<Dim> ids) : Indices({static_cast<Dim>(ids.size())}, ids) {}

  const Shape& shape() const { return shape_; }
  Dim size() const { return shape_.size(); }
  Dim operator[](Dim i) const { return ids_[static_cast<std::size_t>(i)]; }

 private:
  Shape shape_;
  PoolVector<Dim> ids_;  // rules keep copies
};

}  // namespace fledge
