// Masks: which keys a query may look at. One convention: true = may look.
//
// Not here: numbers. A mask is a function of (query, key), not an array of −∞ to be added: hidden keys
// are never read, because 0·NaN is NaN. Next: ops/masked_products.cpp.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/memory.h"
#include "engine/base/shape.h"
#include "engine/kernels/attention.h"

namespace fledge {

using kernels::KeyRange;

/// One place in the scores (batch, queries, keys).
struct Place {
  Dim batch, query, key;
  Dim queries, keys;
};

/// Query i sees keys j ≤ i + (keys − queries): the last query is aligned with the last key, and sees
/// every key.
struct Causal {
  bool allows(const Place& at) const { return at.key <= at.query + at.keys - at.queries; }
  KeyRange span(const Place& at) const { return {0, at.query + at.keys - at.queries + 1}; }
};

/// Batch element b sees its first lengths[b] keys. Axis 0 of the scores is the batch.
struct Padding {
  std::vector<Dim> lengths;
  bool allows(const Place& at) const {
    return at.key < lengths[static_cast<std::size_t>(at.batch)];
  }
  KeyRange span(const Place& at) const { return {0, lengths[static_cast<std::size_t>(at.batch)]}; }
};

/// Query i sees keys less than `width` away from it (aligned as Causal), on both sides.
struct Window {
  Dim width;
  bool allows(const Place& at) const {
    const Dim gap = at.query + at.keys - at.queries - at.key;
    return gap < width && -gap < width;
  }
  KeyRange span(const Place& at) const {
    const Dim middle = at.query + at.keys - at.queries;
    const Dim reach = width < at.queries + at.keys ? width : at.queries + at.keys;
    return {middle - reach + 1, middle + reach};
  }
};

/// The caller's own table, queries × keys, row by row.
struct Custom {
  Dim queries, keys;
  std::vector<bool> visible;
  bool allows(const Place& at) const {
    return visible[static_cast<std::size_t>(at.query * keys + at.key)];
  }
};

/// Any number of the above, all of which must allow a place. Mask() hides nothing.
class Mask {
 public:
  using Part = std::variant<Causal, Padding, Window, Custom>;

  Mask() = default;
  explicit Mask(Part part) : parts_{std::move(part)} {}

  /// Both must allow.
  friend Mask operator&(Mask a, const Mask& b) {
    a.parts_.insert(a.parts_.end(), b.parts_.begin(), b.parts_.end());
    return a;
  }

  bool allows(const Place& at) const;

  /// Whether each query sees one run of keys, whatever the sizes: all masks but custom ones.
  bool has_spans() const;
  /// The run of keys that each query sees, (batch, queries), or (1, queries) when no part depends on
  /// the batch element. Neither end decreases from query to query. Throws as table(), ValueError for a
  /// custom mask.
  PoolVector<KeyRange> spans(const Shape& scores, std::string_view op) const;

  /// One byte a place for scores of this shape (…, queries, keys): 1 = may look. Throws ShapeError
  /// naming `op` when a part does not fit the shape.
  std::vector<unsigned char> table(const Shape& scores, std::string_view op) const;

 private:
  void check(const Shape& scores, std::string_view op) const;

  PoolVector<Part> parts_;
};

Mask causal();
/// Throws ValueError on a negative length.
Mask padding(std::vector<Dim> lengths);
/// Throws ValueError on a width below 1.
Mask window(Dim width);
/// true = may look. Throws ShapeError when the table has not queries × keys entries.
Mask custom(Dim queries, Dim keys, std::vector<bool> visible);

}  // namespace fledge
