#include "engine/masks.h"

#include <algorithm>

#include "engine/base/errors.h"

namespace fledge {

void Mask::check(const Shape& scores, std::string_view op) const {
  require(scores.rank() >= 2, op, "a mask needs scores (..., queries, keys): got shape ", scores);
  for (const Part& part : parts_) {
    if (const auto& lengths = part.lengths) {
      const auto count = static_cast<Dim>(lengths->size());
      require(scores.rank() >= 3 && scores[0] == count, op, "a padding mask of ", count,
              " lengths needs scores (", count, ", ..., queries, keys): got shape ", scores);
      for (const Dim length : *lengths)
        require(length <= scores.dim(-1), op, "a padding length of ", length,
                " exceeds the keys of shape ", scores);
    }
    const Dim together = rows_together(part.documents);
    require(part.documents.empty() || (together == scores.dim(-2) && together == scores.dim(-1)),
            op, part.documents.size(), " documents of ", together,
            " rows need as many queries and keys: got shape ", scores);
    if (const auto& own = part.table)
      require(scores.dim(-2) == own->queries && scores.dim(-1) == own->keys, op, "a custom mask (",
              own->queries, ", ", own->keys, ") does not fit scores of shape ", scores,
              "; its rows are queries, its columns keys");
  }
}

// The keys that the parts without a table show, (batch, queries), or (1, queries) when no part
// depends on the batch element.
PoolVector<IndexRange> Mask::spans_without_tables(const Shape& scores) const {
  const Dim queries = scores.dim(-2), keys = scores.dim(-1), all = queries + keys;
  const bool has_padding = std::any_of(parts_.begin(), parts_.end(),
                                       [](const Part& part) { return part.lengths.has_value(); });
  const Dim batches = has_padding ? scores[0] : 1;
  PoolVector<IndexRange> of_document(static_cast<std::size_t>(queries), IndexRange{0, keys});
  for (const Part& part : parts_)
    for (Dim begin = 0; const Dim length : part.documents) {
      const Dim end = begin + length;
      for (; begin < end; ++begin) {
        IndexRange& seen = of_document[static_cast<std::size_t>(begin)];
        seen = {std::max(seen.begin, end - length), std::min(seen.end, end)};
      }
    }
  PoolVector<IndexRange> spans;
  spans.reserve(static_cast<std::size_t>(batches * queries));
  for (Dim batch = 0; batch < batches; ++batch)
    for (Dim query = 0; query < queries; ++query) {
      const Dim position = query + keys - queries;
      IndexRange seen = of_document[static_cast<std::size_t>(query)];
      for (const Part& part : parts_) {
        seen.begin = std::max(seen.begin, position - std::min(part.before, all) + 1);
        Dim end = position + std::min(part.after, all);
        if (part.lengths) end = std::min(end, (*part.lengths)[static_cast<std::size_t>(batch)]);
        seen.end = std::min(seen.end, end);
      }
      spans.push_back({std::min(seen.begin, keys), std::max<Dim>(seen.end, 0)});
    }
  return spans;
}

std::vector<Dim> Mask::document_lengths() const {
  for (const Part& part : parts_)
    if (!part.documents.empty()) return part.documents;
  return {};
}

bool Mask::has_spans() const {
  return std::none_of(parts_.begin(), parts_.end(),
                      [](const Part& part) { return part.table.has_value(); });
}

PoolVector<IndexRange> Mask::spans(const Shape& scores, std::string_view op) const {
  check(scores, op);
  require<ValueError>(has_spans(), op, "a custom mask has no spans");
  return spans_without_tables(scores);
}

VisibleTable Mask::table(const Shape& scores, std::string_view op) const {
  check(scores, op);
  VisibleTable visible(static_cast<std::size_t>(scores.size()), 0);
  if (visible.empty()) return visible;
  const PoolVector<IndexRange> spans = spans_without_tables(scores);
  const Dim queries = scores.dim(-2), keys = scores.dim(-1), rows = scores.size() / keys;
  const Dim rows_per_batch = rows / (static_cast<Dim>(spans.size()) / queries);
  for (Dim row = 0; row < rows; ++row) {
    const Dim query = row % queries, batch = row / rows_per_batch;
    const IndexRange span = spans[static_cast<std::size_t>(batch * queries + query)];
    unsigned char* const seen = visible.data() + row * keys;
    std::fill(seen + span.begin, seen + std::max(span.begin, span.end), 1);
    for (const Part& part : parts_)
      for (Dim key = span.begin; part.table && key < span.end; ++key)
        if (!part.table->visible[static_cast<std::size_t>(query * keys + key)]) seen[key] = 0;
  }
  return visible;
}

Mask causal() { return Mask({.after = 1}); }

Mask padding(std::vector<Dim> lengths) {
  for (const Dim length : lengths)
    require<ValueError>(length >= 0, "padding", "lengths must not be negative: got ", length);
  return Mask({.lengths = std::move(lengths)});
}

Mask documents(std::vector<Dim> lengths) {
  for (const Dim length : lengths)
    require<ValueError>(length >= 0, "documents", "lengths must not be negative: got ", length);
  return Mask({.documents = std::move(lengths)});
}

Dim rows_together(const std::vector<Dim>& lengths) {
  Dim rows = 0;
  for (const Dim length : lengths) {
    if (length < 0 || length > std::numeric_limits<Dim>::max() - rows) return -1;
    rows += length;
  }
  return rows;
}

std::vector<Dim> positions_in(const std::vector<Dim>& lengths) {
  std::vector<Dim> positions;
  for (const Dim length : lengths)
    for (Dim t = 0; t < length; ++t) positions.push_back(t);
  return positions;
}

Mask window(Dim width) {
  require<ValueError>(width >= 1, "window", "the width must be at least 1: got ", width);
  return Mask({.before = width, .after = width});
}

Mask custom(Dim queries, Dim keys, std::vector<bool> visible) {
  const auto entries = static_cast<Dim>(visible.size());
  require(queries >= 0 && keys >= 0 &&
              (keys == 0 ? entries == 0 : entries % keys == 0 && entries / keys == queries),
          "custom", "a table of (", queries, ", ", keys, ") entries: got ", visible.size());
  return Mask({.table = Mask::Table{queries, keys, std::move(visible)}});
}

}  // namespace fledge
