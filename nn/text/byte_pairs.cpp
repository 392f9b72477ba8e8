#include "nn/text/byte_pairs.h"

#include <algorithm>

#include "engine/base/errors.h"

namespace fledge {

namespace {

constexpr Dim byte_symbols = 256;  // the symbols that are single bytes
constexpr std::size_t longest_piece = 64;

enum class Sign { letter, digit, space, other };

Sign sign_of(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') return Sign::letter;
  if (byte >= 0x80) return Sign::letter;
  if (byte >= '0' && byte <= '9') return Sign::digit;
  return byte == ' ' || (byte >= '\t' && byte <= '\r') ? Sign::space : Sign::other;
}

std::uint64_t key_of(Dim a, Dim b) {
  return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint64_t>(b);
}

Merge merge_of(std::uint64_t key) {
  return {static_cast<Dim>(key >> 32), static_cast<Dim>(key & 0xFFFFFFFFu)};
}

std::vector<Dim> bytes_of(std::string_view piece) {
  std::vector<Dim> ids;
  ids.reserve(piece.size());
  for (const char c : piece) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

// Replaces the pair by the symbol `both`, from left to right.
void replace(std::vector<Dim>& ids, Merge pair, Dim both) {
  std::size_t to = 0;
  for (std::size_t from = 0; from < ids.size(); ++to) {
    const bool here =
        from + 1 < ids.size() && ids[from] == pair.first && ids[from + 1] == pair.second;
    ids[to] = here ? both : ids[from];
    from += here ? 2 : 1;
  }
  ids.resize(to);
}

// How often each pair occurs. A merge updates only the pieces that have the pair.
class PairCounts {
 public:
  explicit PairCounts(std::string_view text) {
    std::unordered_map<std::string_view, std::size_t> place;
    for (std::size_t at = 0; at < text.size();) {
      const std::string_view piece = piece_at(text, at);
      const auto [entry, added] = place.try_emplace(piece, pieces_.size());
      if (added) pieces_.push_back({bytes_of(piece), 0});
      ++pieces_[entry->second].count;
      at += piece.size();
    }
    for (std::size_t i = 0; i < pieces_.size(); ++i) count(i, +1, any);
  }

  struct Pair {
    std::uint64_t key = 0;
    Dim count = 0;
  };

  /// The most frequent pair, of equals the one with the smallest key. Without any pair, the count
  /// is 0.
  Pair most_frequent() const {
    Pair most;
    for (const Pair& pair : pairs_)
      if (pair.count > most.count || (pair.count == most.count && pair.key < most.key)) most = pair;
    return most;
  }

  void merge(std::uint64_t key, Dim both) {
    for (const std::size_t i : std::exchange(where_[places_.at(key)], {})) {
      count(i, -1, none);
      replace(pieces_[i].ids, merge_of(key), both);
      count(i, +1, both);
    }
  }

 private:
  static constexpr Dim any = -1, none = -2;

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
      const auto [entry, added] = places_.try_emplace(key_of(a, b), pairs_.size());
      if (added) {
        pairs_.push_back({entry->first, 0});
        where_.emplace_back();
      }
      pairs_[entry->second].count += sign * piece.count;
      std::vector<std::size_t>& where = where_[entry->second];
      if ((fresh == any || a == fresh || b == fresh) && (where.empty() || where.back() != i))
        where.push_back(i);
    }
  }

  std::vector<Piece> pieces_;
  std::vector<Pair> pairs_;                      // all that occur or occurred
  std::vector<std::vector<std::size_t>> where_;  // of each pair: pieces that have or had it
  std::unordered_map<std::uint64_t, std::size_t> places_;  // of a key: its place in both
};

}  // namespace

std::string_view piece_at(std::string_view text, std::size_t at) {
  const std::size_t end = std::min(text.size(), at + longest_piece);
  const bool space_before = text[at] == ' ' && at + 1 < end;
  std::size_t to = at + (space_before ? 1 : 0);
  const Sign sign = sign_of(text[to]);
  while (to < end && sign_of(text[to]) == sign) ++to;
  // The last of several spaces belongs to the word after it.
  if (sign == Sign::space && to < text.size() && to - at > 1 && text[to - 1] == ' ' &&
      sign_of(text[to]) != Sign::space)
    --to;
  return text.substr(at, to - at);
}

BytePairs::BytePairs(const std::vector<Merge>& merges) {
  for (const Merge& merge : merges) add(merge);
}

void BytePairs::add(Merge merge) {
  const auto [a, b] = merge;
  const Dim both = byte_symbols + static_cast<Dim>(merges_.size());
  require<ValueError>(a >= 0 && b >= 0 && a < both && b < both, "BytePairs", "merge ",
                      merges_.size(), " is of symbols ", a, " and ", b, ": there are ", both,
                      " symbols before it");
  const auto length = [this](Dim id) {
    return id < byte_symbols ? 1 : lengths_[static_cast<std::size_t>(id - byte_symbols)];
  };
  lengths_.push_back(length(a) + length(b));
  require<ValueError>(lengths_.back() <= longest_piece, "BytePairs", "merge ", merges_.size(),
                      " makes a symbol of ", lengths_.back(), " bytes; the most is ",
                      longest_piece);
  const auto [entry, added] = merged_.try_emplace(key_of(a, b), both);
  require<ValueError>(added, "BytePairs", "merge ", merges_.size(), " is merge ",
                      entry->second - byte_symbols, " again: symbols ", a, " and ", b);
  merges_.push_back(merge);
}

BytePairs BytePairs::learn(std::string_view text, Dim symbols) {
  require<ValueError>(symbols >= byte_symbols, "BytePairs",
                      "byte pairs have at least 256 symbols: got ", symbols);
  BytePairs pairs;
  PairCounts counts(text);
  for (Dim both = byte_symbols; both < symbols; ++both) {
    const auto [key, times] = counts.most_frequent();
    if (times < 2) break;
    counts.merge(key, both);
    pairs.add(merge_of(key));
  }
  return pairs;
}

// Applies merges in the order in which they were learned.
std::vector<Dim> BytePairs::encode_piece(std::string_view piece) const {
  std::vector<Dim> ids = bytes_of(piece);
  while (ids.size() > 1) {
    const Dim none = byte_symbols + static_cast<Dim>(merges_.size());
    Dim first = none;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto found = merged_.find(key_of(ids[i], ids[i + 1]));
      if (found != merged_.end()) first = std::min(first, found->second);
    }
    if (first == none) break;
    replace(ids, merges_[static_cast<std::size_t>(first - byte_symbols)], first);
  }
  return ids;
}

std::vector<Dim> BytePairs::encode(std::string_view text) const {
  std::vector<Dim> ids;
  std::unordered_map<std::string_view, std::vector<Dim>> known;  // most words repeat
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view piece = piece_at(text, at);
    const auto [entry, added] = known.try_emplace(piece);
    if (added) entry->second = encode_piece(piece);
    ids.insert(ids.end(), entry->second.begin(), entry->second.end());
    at += piece.size();
  }
  return ids;
}

std::vector<std::string> BytePairs::symbols() const {
  std::vector<std::string> symbols;
  for (Dim byte = 0; byte < byte_symbols; ++byte) symbols.emplace_back(1, static_cast<char>(byte));
  for (const auto& [a, b] : merges_)
    symbols.push_back(symbols[static_cast<std::size_t>(a)] + symbols[static_cast<std::size_t>(b)]);
  return symbols;
}

}  // namespace fledge
