#include "nn/text/tokenizer.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/errors.h"
#include "nn/io/utf8.h"

namespace fledge::inline FLEDGE_BUILD {

namespace {

constexpr std::string_view spaces = " \t\r\v\f";

// Calls f(piece, where) for every symbol of a text that is not merged: code points, words, bytes.
template <class F>
void for_symbols(Tokens kind, std::string_view text, F f) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 1;
    if (kind == Tokens::character) {
      const CodePoint point = code_point_at(text, at);
      require<ValueError>(point.valid, "Tokenizer", "the text is not UTF-8 at byte ", at,
                          "; tokens of kind byte take any bytes");
      length = point.bytes;
    } else if (kind == Tokens::word && text[at] != '\n') {
      if (spaces.find(text[at]) != std::string_view::npos) {
        ++at;
        continue;
      }
      length = std::min(text.find_first_of(" \t\r\v\f\n", at), text.size()) - at;
    }
    f(text.substr(at, length), at);
    at += length;
  }
}

// The pieces within which bytes are merged: a word with the white space before it, so that merges do
// not run from word to word (Radford et al. 2019, section 2.2).
template <class F>
void for_pieces(std::string_view text, F f) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_space(text[end])) ++end;
    // of several spaces the last belongs to the word
    if (end > at + 1 && end < text.size()) {
      f(text.substr(at, end - 1 - at));
      at = end - 1;
    }
    while (end < text.size() && !is_space(text[end])) ++end;
    f(text.substr(at, end - at));
    at = end;
  }
}

std::uint64_t pair_key(Dim a, Dim b) {
  return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint64_t>(b);
}

std::vector<Dim> bytes_of(std::string_view piece) {
  std::vector<Dim> ids;
  for (const char c : piece) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

// Every neighbouring (a, b) becomes `both`, from left to right.
void merge(std::vector<Dim>& ids, Dim a, Dim b, Dim both) {
  std::size_t to = 0;
  for (std::size_t from = 0; from < ids.size(); ++to) {
    const bool here = from + 1 < ids.size() && ids[from] == a && ids[from + 1] == b;
    ids[to] = here ? both : ids[from];
    from += here ? 2 : 1;
  }
  ids.resize(to);
}

std::string shown(std::string_view symbol) {
  std::string text;
  for (const char c : symbol) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr std::string_view digits = "0123456789abcdef";
    if (byte >= 0x20 && byte != 0x7F)
      text += c;
    else
      text += std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
  }
  return text;
}

}  // namespace

Tokenizer::Tokenizer(Tokens kind, std::string_view text, Dim most) : kind_(kind) {
  if (kind == Tokens::byte || kind == Tokens::bpe) {
    for (int byte = 0; byte < 256; ++byte) symbols_.emplace_back(1, static_cast<char>(byte));
    if (kind == Tokens::bpe) learn_merges(text, most);
  } else {
    std::set<std::string, std::less<>> found;
    for_symbols(kind, text, [&](std::string_view symbol, std::size_t) {
      if (found.find(symbol) == found.end()) found.emplace(symbol);
    });
    symbols_.assign(found.begin(), found.end());
  }
  number_symbols();
}

Tokenizer::Tokenizer(Tokens kind, std::vector<std::string> symbols,
                     std::vector<std::pair<Dim, Dim>> merges)
    : kind_(kind), symbols_(std::move(symbols)), merges_(std::move(merges)) {
  const Dim single = size() - static_cast<Dim>(merges_.size());
  require<ValueError>(merges_.empty() || (kind == Tokens::bpe && single == 256), "Tokenizer",
                      "merges of ", size(), " symbols: only byte pairs have them, behind 256 bytes");
  for (std::size_t i = 0; i < merges_.size(); ++i) {
    const auto [a, b] = merges_[i];
    const Dim both = single + static_cast<Dim>(i);
    require<ValueError>(a >= 0 && b >= 0 && a < both && b < both, "Tokenizer", "merge ", i,
                        " is of symbols ", a, " and ", b, ", which are not there yet");
    require<ValueError>(symbols_[static_cast<std::size_t>(both)] ==
                            symbols_[static_cast<std::size_t>(a)] + symbols_[static_cast<std::size_t>(b)],
                        "Tokenizer", "symbol ", both, " is not what merge ", i, " makes");
  }
  number_symbols();
}

void Tokenizer::number_symbols() {
  for (Dim id = 0; id < size(); ++id) {
    const std::string& symbol = symbols_[static_cast<std::size_t>(id)];
    require<ValueError>(!symbol.empty(), "Tokenizer", "symbol ", id, " is empty");
    // Two merges may make the same bytes; encode() never meets them by their bytes.
    const bool added = ids_.emplace(symbol, id).second;
    require<ValueError>(added || kind_ == Tokens::bpe, "Tokenizer", "the symbol '", shown(symbol),
                        "' stands twice");
  }
  for (std::size_t i = 0; i < merges_.size(); ++i)
    merge_ids_.emplace(pair_key(merges_[i].first, merges_[i].second), 256 + static_cast<Dim>(i));
}

// Sennrich, Haddow & Birch 2016, algorithm 1, on bytes: the commonest neighbours become one symbol, the
// first pair by number among equals, until there are `most` symbols or no pair stands twice.
void Tokenizer::learn_merges(std::string_view text, Dim most) {
  require<ValueError>(most >= 256, "Tokenizer", "byte pairs need at least 256 symbols: got ", most);
  std::map<std::string, Dim, std::less<>> counts;
  for_pieces(text, [&](std::string_view piece) {
    const auto entry = counts.find(piece);
    if (entry != counts.end())
      ++entry->second;
    else
      counts.emplace(piece, 1);
  });
  struct Piece {
    std::vector<Dim> ids;
    Dim count;
  };
  std::vector<Piece> pieces;
  for (const auto& [piece, count] : counts) pieces.push_back({bytes_of(piece), count});

  while (size() < most) {
    std::unordered_map<std::uint64_t, Dim> pairs;
    for (const Piece& piece : pieces)
      for (std::size_t i = 0; i + 1 < piece.ids.size(); ++i)
        pairs[pair_key(piece.ids[i], piece.ids[i + 1])] += piece.count;
    std::uint64_t best = 0;
    Dim times = 1;
    for (const auto& [pair, count] : pairs)
      if (count > times || (count == times && times > 1 && pair < best)) best = pair, times = count;
    if (times < 2) return;
    const auto a = static_cast<Dim>(best >> 32), b = static_cast<Dim>(best & 0xFFFFFFFFu);
    for (Piece& piece : pieces) merge(piece.ids, a, b, size());
    merges_.emplace_back(a, b);
    symbols_.push_back(symbols_[static_cast<std::size_t>(a)] + symbols_[static_cast<std::size_t>(b)]);
  }
}

// The merges of a piece, the earliest learned first.
std::vector<Dim> Tokenizer::merged(std::string_view piece) const {
  std::vector<Dim> ids = bytes_of(piece);
  while (ids.size() > 1) {
    Dim first = size();
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto found = merge_ids_.find(pair_key(ids[i], ids[i + 1]));
      if (found != merge_ids_.end()) first = std::min(first, found->second);
    }
    if (first == size()) break;
    const auto [a, b] = merges_[static_cast<std::size_t>(first - 256)];
    merge(ids, a, b, first);
  }
  return ids;
}

std::vector<Dim> Tokenizer::encode(std::string_view text) const {
  std::vector<Dim> ids;
  if (kind_ == Tokens::byte) return bytes_of(text);
  if (kind_ == Tokens::bpe) {
    std::unordered_map<std::string, std::vector<Dim>> known;  // most words come again
    for_pieces(text, [&](std::string_view piece) {
      const auto [entry, added] = known.try_emplace(std::string(piece));
      if (added) entry->second = merged(piece);
      ids.insert(ids.end(), entry->second.begin(), entry->second.end());
    });
    return ids;
  }
  for_symbols(kind_, text, [&](std::string_view symbol, std::size_t at) {
    const auto found = ids_.find(std::string(symbol));
    require<ValueError>(found != ids_.end(), "Tokenizer", "'", shown(symbol), "' at byte ", at,
                        " was not in the text that the model learned from");
    ids.push_back(found->second);
  });
  return ids;
}

std::string Tokenizer::decode(const std::vector<Dim>& ids) const {
  std::string text;
  for (const Dim id : ids) {
    require<ValueError>(id >= 0 && id < size(), "Tokenizer", "no symbol has number ", id,
                        "; there are ", size());
    const std::string& symbol = symbols_[static_cast<std::size_t>(id)];
    const bool line_begins = text.empty() || text.back() == '\n' || symbol == "\n";
    if (kind_ == Tokens::word && !line_begins) text += ' ';
    text += symbol;
  }
  return text;
}

}  // namespace fledge::inline FLEDGE_BUILD
