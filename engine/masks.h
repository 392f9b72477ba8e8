// Masks: which keys a query may look at. One convention: true = may look.
// A mask is a function of (query, key), not an array of −∞ to be added: hidden keys are never read,
// because 0·NaN is NaN.                                          Next: ops/masked_products.cpp.
#pragma once

#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/memory.h"
#include "engine/base/shape.h"
#include "engine/real.h"

namespace fledge {

/// One byte for each score (…, query, key): 1 = may look.
using VisibleTable = std::vector<unsigned char>;

/// Conditions that must all allow a score (batch, query, key). Mask() hides nothing.
/// The last query is aligned with the last key: query i has the position of key
/// i + (keys − queries).
class Mask {
 public:
  /// The caller's own table, queries × keys, row by row.
  struct Table {
    Dim queries, keys;
    std::vector<bool> visible;
  };

  /// One condition. What is not set hides nothing.
  struct Part {
    static constexpr Dim unlimited = std::numeric_limits<Dim>::max();
    Dim before = unlimited;  // a query sees keys less than this far before its own position,
    Dim after = unlimited;   // and less than this far after it
    std::optional<std::vector<Dim>> lengths = {};  // the visible keys of each batch element
    std::optional<Table> table = {};
    std::vector<Dim> documents = {};  // their lengths; none: all is one
  };

  Mask() = default;
  explicit Mask(Part part) : parts_{std::move(part)} {}

  /// Both must allow.
  friend Mask operator&(Mask a, const Mask& b) {
    a.parts_.insert(a.parts_.end(), b.parts_.begin(), b.parts_.end());
    return a;
  }

  /// The lengths of the first documents that the mask is made of; none: all is one.
  std::vector<Dim> document_lengths() const;

  /// Whether each query sees one run of keys, whatever the sizes: all masks but custom ones.
  bool has_spans() const;
  /// The run of keys that each query sees, (batch, queries), or (1, queries) when no part depends
  /// on the batch element. Neither end decreases from query to query. Throws as table(), ValueError
  /// for a custom mask.
  PoolVector<IndexRange> spans(const Shape& scores, std::string_view op) const;

  /// The table for scores of this shape (…, queries, keys). Throws ShapeError naming `op` when a
  /// part does not fit the shape.
  VisibleTable table(const Shape& scores, std::string_view op) const;

 private:
  void check(const Shape& scores, std::string_view op) const;
  PoolVector<IndexRange> spans_without_tables(const Shape& scores) const;

  PoolVector<Part> parts_;
};

/// Query i sees keys j ≤ i + (keys − queries): the last query sees every key.
Mask causal();
/// Batch element b sees its first lengths[b] keys. Axis 0 of the scores is the batch. Throws
/// ValueError on a negative length.
Mask padding(std::vector<Dim> lengths);
/// Queries and keys are documents of these lengths, one after another, and a query sees keys of its
/// own document. No lengths: all is one. Throws ValueError on a negative length.
Mask documents(std::vector<Dim> lengths);
/// The rows of all documents of these lengths; −1 if one is negative or the sum is beyond a Dim.
Dim rows_together(const std::vector<Dim>& lengths);
/// The position of each row in its document: 0 … length − 1 for each length.
std::vector<Dim> positions_in(const std::vector<Dim>& lengths);
/// Query i sees keys less than `width` away from it (aligned as causal), on both sides. Throws
/// ValueError on a width below 1.
Mask window(Dim width);
/// true = may look. Throws ShapeError when the table has not queries × keys entries.
Mask custom(Dim queries, Dim keys, std::vector<bool> visible);

}  // namespace fledge
