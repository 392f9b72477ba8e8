#include "nn/text/pair_counts.h"

#include "nn/text/pieces.h"

namespace fledge {

namespace {

constexpr std::size_t longest_counted = 64;
constexpr Dim any_symbol = -1, no_symbol = -2;

std::uint64_t key_of(std::pair<Dim, Dim> pair) {
  return static_cast<std::uint64_t>(pair.first) << 32 | static_cast<std::uint64_t>(pair.second);
}

std::vector<Dim> byte_numbers(std::string_view piece) {
  std::vector<Dim> ids;
  ids.reserve(piece.size());
  for (const char c : piece) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

void replace_pair(std::vector<Dim>& ids, std::pair<Dim, Dim> pair, Dim both) {
  std::size_t to = 0;
  for (std::size_t from = 0; from < ids.size(); ++to) {
    const bool here =
        from + 1 < ids.size() && ids[from] == pair.first && ids[from + 1] == pair.second;
    ids[to] = here ? both : ids[from];
    from += here ? 2 : 1;
  }
  ids.resize(to);
}

}  // namespace

PairCounts::PairCounts(std::string_view text) {
  std::unordered_map<std::string_view, std::size_t> place;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view piece = piece_at(text, at);
    at += piece.size();
    for (std::size_t part_at = 0; part_at < piece.size(); part_at += longest_counted) {
      const std::string_view part = piece.substr(part_at, longest_counted);
      const auto [entry, added] = place.try_emplace(part, pieces_.size());
      if (added) pieces_.push_back({byte_numbers(part), 0});
      ++pieces_[entry->second].count;
    }
  }
  for (std::size_t i = 0; i < pieces_.size(); ++i) count(i, +1, any_symbol);
}

PairCounts::Pair PairCounts::most_frequent() const {
  Pair most;
  for (const Pair& pair : pairs_)
    if (pair.count > most.count || (pair.count == most.count && pair.symbols < most.symbols))
      most = pair;
  return most;
}

void PairCounts::merge(std::pair<Dim, Dim> pair, Dim both) {
  for (const std::size_t i : std::exchange(where_[places_.at(key_of(pair))], {})) {
    count(i, -1, no_symbol);
    replace_pair(pieces_[i].ids, pair, both);
    count(i, +1, both);
  }
}

// Adds or subtracts the pairs of piece i, and adds i to `where_` of those that have the symbol
// `fresh`.
void PairCounts::count(std::size_t i, Dim sign, Dim fresh) {
  const Piece& piece = pieces_[i];
  for (std::size_t j = 0; j + 1 < piece.ids.size(); ++j) {
    const Dim a = piece.ids[j], b = piece.ids[j + 1];
    const auto [entry, added] = places_.try_emplace(key_of({a, b}), pairs_.size());
    if (added) {
      pairs_.push_back({{a, b}, 0});
      where_.emplace_back();
    }
    pairs_[entry->second].count += sign * piece.count;
    std::vector<std::size_t>& where = where_[entry->second];
    if ((fresh == any_symbol || a == fresh || b == fresh) && (where.empty() || where.back() != i))
      where.push_back(i);
  }
}

}  // namespace fledge
