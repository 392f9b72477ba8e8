#include "nn/text/byte_pairs.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "engine/base/errors.h"
#include "nn/text/pair_counts.h"

namespace fledge {

namespace {

constexpr Dim byte_symbols = 256;
constexpr std::size_t longest_symbol = 1024;

std::vector<std::string> single_bytes() {
  std::vector<std::string> symbols;
  for (Dim byte = 0; byte < byte_symbols; ++byte) symbols.emplace_back(1, static_cast<char>(byte));
  return symbols;
}

// A symbol of a piece, in a list in which merged symbols are left out.
struct ListedSymbol {
  Dim id;  // −1: part of the symbol before it
  std::size_t before, after;
};

struct PairInPiece {
  std::size_t rank, at;
  bool operator>(const PairInPiece& other) const {
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};

}  // namespace

BytePairs::BytePairs() : BytePairs(single_bytes()) {}

BytePairs::BytePairs(std::vector<std::string> symbols) : symbols_(std::move(symbols)) {
  const auto count = static_cast<Dim>(symbols_.size());
  require<ValueError>(count <= most_symbols, "BytePairs", "there are ", count,
                      " symbols; the most is ", most_symbols);
  for (Dim id = 0; id < count; ++id) number(id);
}

// Makes a symbol known by its bytes. Of symbols with the same bytes the first one stays.
void BytePairs::number(Dim symbol) {
  const std::string& bytes = symbols_[static_cast<std::size_t>(symbol)];
  if (bytes.empty()) return;
  require<ValueError>(bytes.size() <= longest_symbol, "BytePairs", "symbol ", symbol, " has ",
                      bytes.size(), " bytes; the most is ", longest_symbol);
  const auto [entry, added] = numbers_.try_emplace(bytes, symbol);
  require<ValueError>(added || rule_ == PieceRule::ascii, "BytePairs", "symbols ", entry->second,
                      " and ", symbol, " have the same bytes");
  if (bytes.size() == 1) bytes_[static_cast<unsigned char>(bytes[0])] = symbol;
}

BytePairs BytePairs::of_older_version(const std::vector<Merge>& merges) {
  BytePairs pairs;
  pairs.rule_ = PieceRule::ascii;
  for (const auto& [a, b] : merges) {
    const Dim both = byte_symbols + static_cast<Dim>(pairs.merges_.size());
    require<ValueError>(a >= 0 && b >= 0 && a < both && b < both, "BytePairs", "merge ",
                        pairs.merges_.size(), " is of symbols ", a, " and ", b, ": there are ",
                        both, " symbols before it");
    pairs.symbols_.push_back(pairs.symbols_[static_cast<std::size_t>(a)] +
                             pairs.symbols_[static_cast<std::size_t>(b)]);
    pairs.number(both);
    pairs.add({a, b}, both);
  }
  return pairs;
}

void BytePairs::add(Merge merge) {
  std::string bytes;
  for (const Dim id : {merge.first, merge.second}) {
    const bool exists = id >= 0 && id < static_cast<Dim>(symbols_.size());
    require<ValueError>(exists && !symbols_[static_cast<std::size_t>(id)].empty(), "BytePairs",
                        "merge ", merges_.size(), " is of symbols ", merge.first, " and ",
                        merge.second, ": no symbol has number ", id);
    bytes += symbols_[static_cast<std::size_t>(id)];
  }
  const std::optional<Dim> result = find(bytes);
  require<ValueError>(result.has_value(), "BytePairs", "merge ", merges_.size(), " is of symbols ",
                      merge.first, " and ", merge.second, ": no symbol has the bytes of both");
  add(merge, *result);
}

void BytePairs::add(Merge merge, Dim result) {
  const auto [entry, added] = results_.try_emplace(merge, Result{merges_.size(), result});
  require<ValueError>(added, "BytePairs", "merge ", merges_.size(), " is merge ",
                      entry->second.rank, " again: symbols ", merge.first, " and ", merge.second);
  merges_.push_back(merge);
}

BytePairs BytePairs::learn(std::string_view text, Dim symbols) {
  require<ValueError>(symbols >= byte_symbols, "BytePairs",
                      "byte pairs have at least 256 symbols: got ", symbols);
  BytePairs pairs;
  PairCounts counts(text);
  while (static_cast<Dim>(pairs.symbols_.size()) < symbols) {
    const auto [merge, times] = counts.most_frequent();
    if (times < 2) break;
    const std::string bytes = pairs.symbols_[static_cast<std::size_t>(merge.first)] +
                              pairs.symbols_[static_cast<std::size_t>(merge.second)];
    if (!pairs.find(bytes)) {
      pairs.symbols_.push_back(bytes);
      pairs.number(static_cast<Dim>(pairs.symbols_.size()) - 1);
    }
    pairs.add(merge);
    counts.merge(merge, *pairs.find(bytes));
  }
  return pairs;
}

std::optional<Dim> BytePairs::find(std::string_view bytes) const {
  const auto entry = numbers_.find(bytes);
  return entry == numbers_.end() ? std::nullopt : std::optional(entry->second);
}

const BytePairs::Result* BytePairs::result_of(Dim a, Dim b) const {
  const auto entry = results_.find({a, b});
  return entry == results_.end() ? nullptr : &entry->second;
}

std::size_t BytePairs::first_unknown_byte(std::string_view text) const {
  const auto unknown = std::find_if(text.begin(), text.end(), [this](char c) {
    return bytes_[static_cast<unsigned char>(c)] < 0;
  });
  return unknown == text.end() ? std::string_view::npos
                               : static_cast<std::size_t>(unknown - text.begin());
}

// A queue holds the pairs that have a merge, the lowest rank and the leftmost place first. A pair in
// it is out of date if the symbol at its place has been merged since. The pairs that a merge makes
// wait until all pairs of its rank are merged; none of them has this rank, because the result is
// longer than both parts.
void BytePairs::encode_piece(std::string_view piece, std::vector<Dim>& ids) const {
  std::vector<ListedSymbol> list(piece.size());
  std::priority_queue<PairInPiece, std::vector<PairInPiece>, std::greater<>> queue;
  const auto enqueue = [&](std::size_t at) {
    const std::size_t after = list[at].after;
    if (after == list.size()) return;
    if (const Result* result = result_of(list[at].id, list[after].id))
      queue.push({result->rank, at});
  };
  for (std::size_t at = 0; at < piece.size(); ++at)
    list[at] = {bytes_[static_cast<unsigned char>(piece[at])], at - 1, at + 1};
  for (std::size_t at = 0; at < piece.size(); ++at) enqueue(at);

  std::vector<std::size_t> merged;
  while (!queue.empty()) {
    const std::size_t rank = queue.top().rank;
    for (merged.clear(); !queue.empty() && queue.top().rank == rank; queue.pop()) {
      const std::size_t at = queue.top().at, after = list[at].after;
      if (list[at].id < 0 || after == list.size()) continue;
      const Result* result = result_of(list[at].id, list[after].id);
      if (!result || result->rank != rank) continue;
      list[at].id = result->symbol;
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

void BytePairs::encode(std::string_view text, EncodedPieces& known) const {
  const std::size_t unknown = first_unknown_byte(text);
  require<ValueError>(unknown == std::string_view::npos, "BytePairs", "no symbol has byte ",
                      unknown, " of the text");
  std::vector<Dim>& ids = known.ids;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view piece = piece_at(text, at, rule_);
    at += piece.size();
    const auto [entry, added] = known.places.try_emplace(piece, ids.size(), 0);
    auto& [first, count] = entry->second;
    if (added) {
      encode_piece(piece, ids);
      count = ids.size() - first;
    } else {
      ids.resize(ids.size() + count);
      std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(first), count,
                  ids.end() - static_cast<std::ptrdiff_t>(count));
    }
  }
}

std::vector<Dim> BytePairs::encode(std::string_view text) const {
  EncodedPieces known;
  encode(text, known);
  return std::move(known.ids);
}

}  // namespace fledge
