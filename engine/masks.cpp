#include "engine/masks.h"

#include <algorithm>

#include "engine/base/errors.h"

namespace fledge {

bool Mask::allows(const Place& at) const {
  return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    return std::visit([&](const auto& kind) { return kind.allows(at); }, part);
  });
}

void Mask::check(const Shape& scores, std::string_view op) const {
  require(scores.rank() >= 2, op, "a mask needs scores (..., queries, keys): got shape ", scores);
  for (const Part& part : parts_) {
    if (const auto* lengths = std::get_if<Padding>(&part)) {
      const auto count = static_cast<Dim>(lengths->lengths.size());
      require(scores.rank() >= 3 && scores[0] == count, op, "a padding mask of ", count,
              " lengths needs scores (", count, ", ..., queries, keys): got shape ", scores);
      for (const Dim length : lengths->lengths)
        require(length <= scores.dim(-1), op, "a padding length of ", length,
                " exceeds the keys of shape ", scores);
    }
    if (const auto* own = std::get_if<Custom>(&part))
      require(scores.dim(-2) == own->queries && scores.dim(-1) == own->keys, op, "a custom mask (",
              own->queries, ", ", own->keys, ") does not fit scores of shape ", scores,
              "; its rows are queries, its columns keys");
  }
}

std::vector<unsigned char> Mask::table(const Shape& scores, std::string_view op) const {
  check(scores, op);
  std::vector<unsigned char> visible(static_cast<std::size_t>(scores.size()), 1);
  if (parts_.empty() || scores.size() == 0) return visible;
  const Dim queries = scores.dim(-2), keys = scores.dim(-1);
  const Dim grids = scores.size() / (queries * keys);
  const Dim grids_per_batch = scores.rank() >= 3 ? grids / scores[0] : 1;
  std::size_t i = 0;
  for (Dim grid = 0; grid < grids; ++grid)
    for (Dim query = 0; query < queries; ++query)
      for (Dim key = 0; key < keys; ++key)
        visible[i++] = allows({grid / grids_per_batch, query, key, queries, keys}) ? 1 : 0;
  return visible;
}

bool Mask::has_spans() const {
  return std::none_of(parts_.begin(), parts_.end(),
                      [](const Part& part) { return std::holds_alternative<Custom>(part); });
}

PoolVector<KeyRange> Mask::spans(const Shape& scores, std::string_view op) const {
  check(scores, op);
  require<ValueError>(has_spans(), op, "a custom mask has no spans");
  const Dim queries = scores.dim(-2), keys = scores.dim(-1);
  const bool has_padding = std::any_of(parts_.begin(), parts_.end(), [](const Part& part) {
    return std::holds_alternative<Padding>(part);
  });
  const Dim batches = has_padding ? scores[0] : 1;
  PoolVector<KeyRange> spans(static_cast<std::size_t>(batches * queries), KeyRange{0, keys});
  std::size_t i = 0;
  for (Dim batch = 0; batch < batches; ++batch)
    for (Dim query = 0; query < queries; ++query, ++i)
      for (const Part& part : parts_) {
        const Place at{batch, query, 0, queries, keys};
        const auto span_of = [&](const auto& kind) -> KeyRange {
          if constexpr (std::is_same_v<decltype(kind), const Custom&>)
            return {0, keys};
          else
            return kind.span(at);
        };
        const KeyRange seen = std::visit(span_of, part);
        spans[i].begin = std::clamp(seen.begin, spans[i].begin, keys);
        spans[i].end = std::min(spans[i].end, std::max<Dim>(seen.end, 0));
      }
  return spans;
}

Mask causal() { return Mask(Causal{}); }

Mask padding(std::vector<Dim> lengths) {
  for (const Dim length : lengths)
    require<ValueError>(length >= 0, "padding", "lengths must not be negative: got ", length);
  return Mask(Padding{std::move(lengths)});
}

Mask window(Dim width) {
  require<ValueError>(width >= 1, "window", "the width must be at least 1: got ", width);
  return Mask(Window{width});
}

Mask custom(Dim queries, Dim keys, std::vector<bool> visible) {
  const auto places = static_cast<Dim>(visible.size());
  require(queries >= 0 && keys >= 0 &&
              (keys == 0 ? places == 0 : places % keys == 0 && places / keys == queries),
          "custom", "a table of (", queries, ", ", keys, ") places: got ", visible.size());
  return Mask(Custom{queries, keys, std::move(visible)});
}

}  // namespace fledge
