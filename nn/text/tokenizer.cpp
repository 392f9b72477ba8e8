#include "nn/text/tokenizer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "nn/io/utf8.h"

namespace fledge {

namespace {

constexpr std::array<std::string_view, 4> names{"character", "word", "byte", "bpe"};
constexpr std::string_view blanks = " \t\r\v\f", blanks_and_end = " \t\r\v\f\n";

void require_point(const CodePoint& point, std::size_t at) {
  require<ValueError>(point.valid, "Tokenizer", "the text is not UTF-8 at byte ", at,
                      "; tokens of kind byte or bpe take any bytes");
}

// Calls f(symbol, at) for every character or word of a text.
template <class F>
void for_symbols(Tokens kind, std::string_view text, std::size_t first, F f) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 1;
    if (kind == Tokens::character) {
      const CodePoint point = code_point_at(text, at);
      require_point(point, first + at);
      length = point.bytes;
    } else if (blanks.find(text[at]) != std::string_view::npos) {
      ++at;
      continue;
    } else if (text[at] != '\n') {
      length = std::min(text.find_first_of(blanks_and_end, at), text.size()) - at;
    }
    f(text.substr(at, length), first + at);
    at += length;
  }
}

// A symbol in a message: control characters and what is not UTF-8 as \x1b, at most 40 bytes of it.
// One that is not of ASCII may look like another, or like nothing: its number stands behind it.
struct Shown {
  std::string_view symbol;
};

std::string to_string(Shown shown) {
  const std::string_view symbol = shown.symbol;
  std::string text;
  std::size_t at = 0;
  while (at < symbol.size() && at < 40) {
    const CodePoint point = code_point_at(symbol, at);
    const char32_t c = point.value;
    const bool plain = point.valid && c >= 0x20 && (c < 0x7F || c > 0x9F);
    for (const char byte : symbol.substr(at, point.bytes)) {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned>(byte) & 0xFFu);
      text += plain ? std::string(1, byte) : code;
    }
    at += point.bytes;
  }
  text = "'" + text + (at < symbol.size() ? "..." : "") + "'";
  const CodePoint only = symbol.empty() ? CodePoint{0, 1, false} : code_point_at(symbol, 0);
  if (only.valid && only.bytes > 1 && only.bytes == symbol.size()) {
    char number[16];
    std::snprintf(number, sizeof number, " (U+%04lX)", static_cast<unsigned long>(only.value));
    text += number;
  }
  return text;
}

// Whether a text gives this symbol, and no other beside it.
bool is_symbol(Tokens kind, std::string_view symbol) {
  if (kind == Tokens::character) {
    const CodePoint point = code_point_at(symbol, 0);
    return point.valid && point.bytes == symbol.size();
  }
  return symbol == "\n" || symbol.find_first_of(blanks_and_end) == std::string_view::npos;
}

bool of_bytes(Tokens kind) { return kind == Tokens::byte || kind == Tokens::bpe; }

}  // namespace

std::string to_string(Tokens kind) { return std::string(names[static_cast<std::size_t>(kind)]); }

Tokens tokens_named(std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  require<ValueError>(found != names.end(), "Tokens", "character, word, byte or bpe: got ",
                      Shown{name});
  return static_cast<Tokens>(found - names.begin());
}

Tokenizer::Tokenizer(Tokens kind, std::string_view text, Dim most) : kind_(kind) {
  if (of_bytes(kind)) {
    if (kind == Tokens::bpe) pairs_ = BytePairs::learned(text, most);
    symbols_ = pairs_.symbols();
  } else {
    std::unordered_set<std::string_view> found;
    for_symbols(kind, text, 0, [&](std::string_view symbol, std::size_t) { found.insert(symbol); });
    symbols_.assign(found.begin(), found.end());
    std::sort(symbols_.begin(), symbols_.end());
  }
  number_symbols();
}

Tokenizer::Tokenizer(Tokens kind, std::vector<std::string> symbols,
                     const std::vector<Merge>& merges)
    : kind_(kind), symbols_(std::move(symbols)) {
  require<ValueError>(kind == Tokens::bpe || merges.empty(), "Tokenizer", merges.size(),
                      " merges for tokens of kind ", to_string(kind), "; only bpe has merges");
  if (of_bytes(kind)) {
    pairs_ = BytePairs(merges);
    const std::vector<std::string> made = pairs_.symbols();
    require<ValueError>(symbols_.size() == made.size(), "Tokenizer", "256 bytes and ",
                        made.size() - 256, " merges make ", made.size(), " symbols: got ",
                        symbols_.size());
    for (std::size_t i = 0; i < made.size(); ++i)
      require<ValueError>(symbols_[i] == made[i], "Tokenizer", "symbol ", i, " must be ",
                          Shown{made[i]}, ": got ", Shown{symbols_[i]});
  }
  number_symbols();
}

void Tokenizer::number_symbols() {
  require<ValueError>(!symbols_.empty(), "Tokenizer", "there are no symbols");
  for (Dim id = 0; id < size(); ++id) {
    const std::string& symbol = symbols_[static_cast<std::size_t>(id)];
    require<ValueError>(!symbol.empty(), "Tokenizer", "symbol ", id, " is empty");
    require<ValueError>(of_bytes(kind_) || is_symbol(kind_, symbol), "Tokenizer", "symbol ", id,
                        " is not one ", to_string(kind_), ": got ", Shown{symbol});
  }
  const auto symbol = [this](std::int32_t id) -> const std::string& {
    return symbols_[static_cast<std::size_t>(id)];
  };
  order_.resize(symbols_.size());
  std::iota(order_.begin(), order_.end(), 0);
  if (!std::is_sorted(symbols_.begin(), symbols_.end()))
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::int32_t a, std::int32_t b) { return symbol(a) < symbol(b); });
  if (kind_ == Tokens::bpe) return;  // two merges may make the same bytes: "ab" + "c", "a" + "bc"
  const auto same =
      std::adjacent_find(order_.begin(), order_.end(),
                         [&](std::int32_t a, std::int32_t b) { return symbol(a) == symbol(b); });
  if (same == order_.end()) return;
  throw ValueError("Tokenizer: symbols " + std::to_string(*same) + " and " +
                   std::to_string(*std::next(same)) +
                   " are the same: " + to_string(Shown{symbol(*same)}));
}

std::vector<Dim> Tokenizer::encode(std::string_view text, std::size_t first) const {
  if (of_bytes(kind_)) return pairs_.encode(text);
  std::vector<Dim> ids;
  for_symbols(kind_, text, first, [&](std::string_view symbol, std::size_t at) {
    const auto id = find(symbol);
    if (!id) {
      throw UnknownSymbol("Tokenizer: the " + fledge::to_string(kind_) + " " +
                              to_string(Shown{symbol}) + " at byte " + std::to_string(at) +
                              " is not among the " + std::to_string(size()) + " it has",
                          symbol, at);
    }
    ids.push_back(*id);
  });
  return ids;
}

std::string Tokenizer::decode(const std::vector<Dim>& ids) const {
  std::string text;
  for (const Dim id : ids) {
    require<ValueError>(id >= 0 && id < size(), "Tokenizer", "no symbol has number ", id,
                        "; there are ", size());
    const std::string& symbol = symbols_[static_cast<std::size_t>(id)];
    const bool apart = kind_ == Tokens::word && !text.empty() && text.back() != '\n';
    if (apart && symbol != "\n") text += ' ';
    text += symbol;
  }
  return text;
}

std::optional<Dim> Tokenizer::find(std::string_view symbol) const {
  const auto at = [this](std::int32_t id) -> std::string_view {
    return symbols_[static_cast<std::size_t>(id)];
  };
  const auto entry =
      std::lower_bound(order_.begin(), order_.end(), symbol,
                       [&](std::int32_t id, std::string_view wanted) { return at(id) < wanted; });
  if (entry == order_.end() || at(*entry) != symbol) return {};
  return *entry;
}

void require_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    require_point(point, at);
    at += point.bytes;
  }
}

}  // namespace fledge
