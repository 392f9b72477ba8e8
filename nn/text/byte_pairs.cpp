#include "nn/text/byte_pairs.h"

#include <queue>

#include "nn/text/pieces.h"

namespace fledge {

namespace {

constexpr Dim byte_symbols = 256;
constexpr std::size_t longest_symbol = 1024;

std::vector<std::string> single_bytes() {
  std::vector<std::string> symbols;
  for (Dim byte = 0; byte < byte_symbols; ++byte) symbols.emplace_back(1, static_cast<char>(byte));
  return symbols;
}

constexpr std::size_t longest_counted = 64;
constexpr Dim any_symbol = -1, no_symbol = -2;

std::uint64_t key_of(Merge pair) {
  return static_cast<std::uint64_t>(pair.first) << 32 | static_cast<std::uint64_t>(pair.second);
}

std::vector<Dim> byte_numbers(std::string_view piece) {
  std::vector<Dim> ids;
  ids.reserve(piece.size());
  for (const char c : piece) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

void replace_pair(std::vector<Dim>& ids, Merge pair, Dim both) {
  std::size_t to = 0;
  for (std::size_t from = 0; from < ids.size(); ++to) {
    const bool here =
        from + 1 < ids.size() && ids[from] == pair.first && ids[from + 1] == pair.second;
    ids[to] = here ? both : ids[from];
    from += here ? 2 : 1;
  }
  ids.resize(to);
}

// How often each pair of neighbouring symbols occurs in a text: what byte pairs are learned from.
class PairCounts {
 public:
  // Counts the pairs of bytes in the pieces of a text (pieces.h). A piece of more than 64 bytes is
  // cut into parts of 64 bytes, because a merge reads all of a piece that has the pair.
  explicit PairCounts(std::string_view text) {
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

  struct Pair {
    Merge symbols;
    Dim count = 0;
  };

  // The most frequent pair, of equals the one with the smallest numbers. Without any pair, the
  // count is 0.
  Pair most_frequent() const {
    Pair most;
    for (const Pair& pair : pairs_)
      if (pair.count > most.count || (pair.count == most.count && pair.symbols < most.symbols))
        most = pair;
    return most;
  }

  // Replaces a pair by the symbol `both`, from left to right in each piece.
  void merge(Merge pair, Dim both) {
    for (const std::size_t i : std::exchange(where_[places_.at(key_of(pair))], {})) {
      count(i, -1, no_symbol);
      replace_pair(pieces_[i].ids, pair, both);
      count(i, +1, both);
    }
  }

 private:
  struct Piece {
    std::vector<Dim> ids;
    Dim count;
  };

  // Adds or subtracts the pairs of piece i, and adds i to `where_` of those that have the symbol
  // `fresh`.
  void count(std::size_t i, Dim sign, Dim fresh) {
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

  std::vector<Piece> pieces_;
  std::vector<Pair> pairs_;                                // all that occur or occurred
  std::vector<std::vector<std::size_t>> where_;            // of each: pieces that have or had it
  std::unordered_map<std::uint64_t, std::size_t> places_;  // of a pair: its place in both
};

// A symbol of a piece, in a list in which merged symbols are left out.
struct ListedSymbol {
  Dim id;  // −1: part of the symbol before it
  std::size_t before, after;
};

struct PairInPiece {
  std::int32_t rank;
  std::size_t at;
  bool operator>(const PairInPiece& other) const {
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};

}  // namespace

BytePairs::BytePairs() : BytePairs(single_bytes()) {}

BytePairs::BytePairs(std::vector<std::string> symbols, const std::vector<Merge>& merges)
    : symbols_(std::move(symbols)) {
  const auto count = static_cast<Dim>(symbols_.size());
  require<ValueError>(count <= most_symbols, "BytePairs", "there are ", count,
                      " symbols; the most is ", most_symbols);
  for (Dim id = 0; id < count; ++id) {
    const std::string& bytes = symbols_[static_cast<std::size_t>(id)];
    require<ValueError>(bytes.size() <= longest_symbol, "BytePairs", "symbol ", id, " has ",
                        bytes.size(), " bytes; the most is ", longest_symbol);
    if (bytes.empty()) continue;
    const auto [entry, is_new] = by_bytes_.try_emplace(bytes, id);
    require<ValueError>(is_new, "BytePairs", "symbols ", entry->second, " and ", id,
                        " have the same bytes");
    if (bytes.size() == 1) bytes_[static_cast<unsigned char>(bytes[0])] = id;
  }
  for (const Merge& merge : merges) add_merge(merge);
}

void BytePairs::add_merge(const Merge& merge) {
  const std::size_t rank = merges_.size();
  const auto [left, right] = merge;
  require<ValueError>(static_cast<Dim>(rank) < most_symbols, "BytePairs", "merge ", rank,
                      " is one more than the most merges, ", most_symbols);
  std::string bytes;
  for (const Dim id : {left, right}) {
    const bool exists = id >= 0 && id < static_cast<Dim>(symbols_.size());
    require<ValueError>(exists && !bytes_of(id).empty(), "BytePairs", "merge ", rank,
                        " is of symbols ", left, " and ", right, ": no symbol has number ", id);
    bytes += bytes_of(id);
  }
  const std::optional<Dim> result = find(bytes);
  require<ValueError>(result.has_value(), "BytePairs", "merge ", rank, " is of symbols ", left,
                      " and ", right, ": no symbol has the bytes of both");
  const auto [entry, is_new] = ranked_.try_emplace(
      merge, RankedMerge{static_cast<std::int32_t>(rank), static_cast<std::int32_t>(*result)});
  require<ValueError>(is_new, "BytePairs", "merge ", rank, " is merge ", entry->second.rank,
                      " again: symbols ", left, " and ", right);
  merges_.push_back(merge);
}

BytePairs BytePairs::learn(std::string_view text, Dim symbols) {
  require<ValueError>(symbols >= byte_symbols, "BytePairs",
                      "byte pairs have at least 256 symbols: got ", symbols);
  std::vector<std::string> bytes = single_bytes();
  std::map<std::string, Dim> numbers;
  for (const std::string& byte : bytes) numbers.emplace(byte, numbers.size());
  std::vector<Merge> merges;
  PairCounts counts(text);
  while (static_cast<Dim>(bytes.size()) < symbols) {
    const auto [merge, times] = counts.most_frequent();
    if (times < 2) break;
    const auto [entry, is_new] =
        numbers.try_emplace(bytes[static_cast<std::size_t>(merge.first)] +
                                bytes[static_cast<std::size_t>(merge.second)],
                            static_cast<Dim>(bytes.size()));
    if (is_new) bytes.push_back(entry->first);
    merges.push_back(merge);
    counts.merge(merge, entry->second);
  }
  return BytePairs(std::move(bytes), merges);
}

std::optional<Dim> BytePairs::find(std::string_view bytes) const {
  const auto found = by_bytes_.find(bytes);
  return found == by_bytes_.end() ? std::nullopt : std::optional(found->second);
}

const BytePairs::RankedMerge* BytePairs::merge_of(Dim left, Dim right) const {
  const auto found = ranked_.find({left, right});
  return found == ranked_.end() ? nullptr : &found->second;
}

std::size_t BytePairs::first_unknown_byte(std::string_view text) const {
  const auto unknown = std::find_if(text.begin(), text.end(), [this](char c) {
    return bytes_[static_cast<unsigned char>(c)] < 0;
  });
  return unknown == text.end() ? std::string_view::npos
                               : static_cast<std::size_t>(unknown - text.begin());
}

// A queue holds the pairs that have a merge, the lowest rank and the leftmost position first. A
// pair in it is out of date if the symbol at its position has been merged since. The pairs that a
// merge makes wait until all pairs of its rank are merged; none of them has this rank, because the
// result is longer than both parts.
void BytePairs::encode_piece(std::string_view piece, std::vector<Dim>& ids) const {
  std::vector<ListedSymbol> list(piece.size());
  std::priority_queue<PairInPiece, std::vector<PairInPiece>, std::greater<>> queue;
  const auto enqueue = [&](std::size_t at) {
    const std::size_t after = list[at].after;
    if (after == list.size()) return;
    if (const RankedMerge* merge = merge_of(list[at].id, list[after].id))
      queue.push({merge->rank, at});
  };
  for (std::size_t at = 0; at < piece.size(); ++at)
    list[at] = {bytes_[static_cast<unsigned char>(piece[at])], at - 1, at + 1};
  for (std::size_t at = 0; at < piece.size(); ++at) enqueue(at);

  std::vector<std::size_t> merged;
  while (!queue.empty()) {
    const std::int32_t rank = queue.top().rank;
    for (merged.clear(); !queue.empty() && queue.top().rank == rank; queue.pop()) {
      const std::size_t at = queue.top().at, after = list[at].after;
      if (list[at].id < 0 || after == list.size()) continue;
      const RankedMerge* merge = merge_of(list[at].id, list[after].id);
      if (!merge || merge->rank != rank) continue;
      list[at].id = merge->result;
      list[at].after = list[after].after;
      list[after].id = -1;
      if (list[at].after < list.size()) list[list[at].after].before = at;
      merged.push_back(at);
    }
    for (const std::size_t at : merged) {
      if (at > 0) enqueue(list[at].before);
      enqueue(at);
    }
  }
  for (std::size_t at = 0; at < list.size(); at = list[at].after) ids.push_back(list[at].id);
}

void BytePairs::encode(std::string_view text, std::vector<Dim>& ids, KnownPieces& known) const {
  const std::size_t unknown = first_unknown_byte(text);
  require<ValueError>(unknown == std::string_view::npos, "BytePairs", "no symbol has byte ",
                      unknown, " of the text");
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view piece = piece_at(text, at);
    at += piece.size();
    const auto [entry, is_new] = known.try_emplace(piece);
    if (is_new) encode_piece(piece, entry->second);
    ids.insert(ids.end(), entry->second.begin(), entry->second.end());
  }
}

std::vector<Dim> BytePairs::encode(std::string_view text) const {
  std::vector<Dim> ids;
  KnownPieces known;
  encode(text, ids, known);
  return ids;
}

}  // namespace fledge
