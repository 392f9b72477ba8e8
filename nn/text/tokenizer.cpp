#include "nn/text/tokenizer.h"

#include <set>

#include "nn/io/utf8.h"
#include "nn/text/pieces.h"

namespace fledge {

namespace {

constexpr std::array<std::string_view, 4> kind_names{"character", "word", "byte", "bpe"};
constexpr std::string_view blanks = " \t\r\v\f", blanks_and_end = " \t\r\v\f\n";

// A symbol for a message. A single character outside ASCII is followed by its number, as it may be
// invisible or look like another character.
struct Symbol {
  std::string_view text;
};

std::string to_string(Symbol shown) {
  const std::string_view symbol =
      is_word_piece(shown.text) ? without_joins(shown.text) : shown.text;
  std::string text = in_quotes(symbol);
  const CodePoint point = symbol.empty() ? CodePoint{0, 1, false} : code_point_at(symbol, 0);
  if (point.valid && point.bytes > 1 && point.bytes == symbol.size()) {
    std::string digits;
    for (char32_t rest = point.value; rest > 0 || digits.size() < 4; rest /= 16)
      digits.insert(0, 1, "0123456789ABCDEF"[rest % 16]);
    text += " (U+" + digits + ")";
  }
  return text;
}

bool has_bytes(Tokens kind) { return kind == Tokens::byte || kind == Tokens::bpe; }

constexpr std::size_t longest_special_token = 1024;

using TokenIterator = std::vector<SpecialToken>::const_iterator;

// The longest token of a list, sorted by text, with which text[at...] begins; `last` if there is
// none. Compares one byte more in each round: the tokens that agree so far are neighbours.
TokenIterator longest_token_at(TokenIterator first, TokenIterator last, std::string_view text,
                               std::size_t at) {
  TokenIterator longest = last, end = last;
  for (std::size_t n = 0; first != end && at + n < text.size(); ++n) {
    const auto byte = static_cast<unsigned char>(text[at + n]);
    const auto byte_of = [n](const SpecialToken& token) {
      return static_cast<unsigned char>(token.text[n]);
    };
    first =
        std::partition_point(first, end, [&](const auto& token) { return byte_of(token) < byte; });
    end =
        std::partition_point(first, end, [&](const auto& token) { return byte_of(token) == byte; });
    if (first != end && first->text.size() == n + 1) longest = first++;
  }
  return longest;
}

// Appends the parts of a text without special tokens yet, for the tokens of one list.
void append_parts(std::string_view text, TokenIterator first, TokenIterator last,
                  std::vector<TextPart>& parts) {
  std::string starts;  // the bytes that begin a token
  for (TokenIterator token = first; token != last; ++token)
    if (starts.empty() || starts.back() != token->text[0]) starts += token->text[0];
  std::size_t begin = 0;
  for (std::size_t at = text.find_first_of(starts); at < text.size();) {
    const TokenIterator found = longest_token_at(first, last, text, at);
    if (found != last) {
      if (at > begin) parts.push_back({text.substr(begin, at - begin)});
      parts.push_back({text.substr(at, found->text.size()), found->id});
      begin = at + found->text.size();
    }
    at = text.find_first_of(starts, found == last ? at + 1 : begin);
  }
  if (begin < text.size()) parts.push_back({text.substr(begin)});
}

bool is_before(const SpecialToken& a, const SpecialToken& b) {
  return a.normalized != b.normalized ? b.normalized : a.text < b.text;
}

}  // namespace

std::string to_string(Tokens kind) {
  return std::string(kind_names[static_cast<std::size_t>(kind)]);
}

Tokens tokens_named(std::string_view name) {
  const auto found = std::find(kind_names.begin(), kind_names.end(), name);
  require<ValueError>(found != kind_names.end(), "Tokens", "character, word, byte or bpe: got ",
                      Symbol{name});
  return static_cast<Tokens>(found - kind_names.begin());
}

SpecialTokens::SpecialTokens(std::vector<SpecialToken> tokens) : tokens_(std::move(tokens)) {
  std::sort(tokens_.begin(), tokens_.end(), is_before);
  std::set<std::string_view> texts;
  std::set<Dim> ids;
  for (const SpecialToken& token : tokens_) {
    require<ValueError>(!token.text.empty() && token.text.size() <= longest_special_token,
                        "SpecialTokens", "a special token has 1 to ", longest_special_token,
                        " bytes: number ", token.id, " has ", token.text.size());
    require<ValueError>(texts.insert(token.text).second, "SpecialTokens", "the special token ",
                        in_quotes(token.text), " is there twice");
    require<ValueError>(ids.insert(token.id).second, "SpecialTokens",
                        "two special tokens have number ", token.id);
  }
}

std::vector<TextPart> SpecialTokens::split(std::string_view text) const {
  const TokenIterator normalized = std::partition_point(
      tokens_.begin(), tokens_.end(), [](const SpecialToken& token) { return !token.normalized; });
  std::vector<TextPart> parts, finer;
  append_parts(text, tokens_.begin(), normalized, parts);
  for (const TextPart& part : parts)
    if (part.id >= 0)
      finer.push_back(part);
    else
      append_parts(part.text, normalized, tokens_.end(), finer);
  return finer;
}

std::optional<Dim> SpecialTokens::find(std::string_view text) const {
  for (const SpecialToken& token : tokens_)
    if (token.text == text) return token.id;
  return std::nullopt;
}

// Calls f(symbol, at) for every character or word of a text. `first` is added to each position.
template <class F>
void Tokenizer::for_each_symbol(std::string_view text, std::size_t first, F f) const {
  if (kind_ == Tokens::character) require_utf8(text, first);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 1;
    if (kind_ == Tokens::character) {
      length = code_point_at(text, at).bytes;
    } else if (blanks.find(text[at]) != std::string_view::npos) {
      ++at;
      continue;
    } else if (text[at] != '\n') {
      length = std::min(text.find_first_of(blanks_and_end, at), text.size()) - at;
    }
    const std::string_view chunk = text.substr(at, length);
    if (kind_ == Tokens::word && chunk != "\n")
      for (const WordPiece& piece : word_pieces(chunk)) f(piece.symbol, first + at + piece.at);
    else
      f(chunk, first + at);
    at += length;
  }
}

// Whether the text is exactly one symbol of this kind.
bool Tokenizer::is_symbol(std::string_view symbol) const {
  if (kind_ == Tokens::character) {
    const CodePoint point = code_point_at(symbol, 0);
    return point.valid && point.bytes == symbol.size();
  }
  return symbol == "\n" ||
         (without_joins(symbol).find_first_of(blanks_and_end) == std::string_view::npos &&
          is_word_piece(symbol));
}

Tokenizer::Tokenizer(Tokens kind, std::string_view text, Dim most) : kind_(kind) {
  if (kind == Tokens::bpe) pairs_ = std::make_shared<const BytePairs>(BytePairs::learn(text, most));
  if (has_bytes(kind)) {
    symbols_ = pairs_->symbols();
    return;
  }
  std::set<std::string, std::less<>> found;
  for_each_symbol(text, 0, [&](std::string_view symbol, std::size_t) { found.emplace(symbol); });
  symbols_.assign(found.begin(), found.end());
  number_symbols();
}

Tokenizer::Tokenizer(Tokens kind, std::vector<std::string> symbols)
    : kind_(kind), symbols_(std::move(symbols)) {
  require<ValueError>(kind != Tokens::bpe, "Tokenizer",
                      "tokens of kind bpe are given as BytePairs");
  require<ValueError>(kind != Tokens::byte || symbols_.empty(), "Tokenizer", symbols_.size(),
                      " symbols for tokens of kind byte, which are the 256 bytes");
  if (kind == Tokens::byte)
    symbols_ = pairs_->symbols();
  else
    number_symbols();
}

Tokenizer::Tokenizer(BytePairs pairs, std::vector<SpecialToken> special)
    : kind_(Tokens::bpe),
      symbols_(pairs.symbols()),
      pairs_(std::make_shared<const BytePairs>(std::move(pairs))),
      special_(std::move(special)) {
  for (const SpecialToken& token : special_.list()) {
    require<ValueError>(token.id >= 0 && token.id < most_symbols, "Tokenizer", "the special token ",
                        Symbol{token.text}, " has number ", token.id, "; numbers are 0 to ",
                        most_symbols - 1);
    const auto index = static_cast<std::size_t>(token.id);
    symbols_.resize(std::max(symbols_.size(), index + 1));
    require<ValueError>(symbols_[index].empty() || symbols_[index] == token.text, "Tokenizer",
                        "the special token ", Symbol{token.text}, " has number ", token.id,
                        ", which is that of ", Symbol{symbols_[index]});
    symbols_[index] = token.text;
  }
  require<ValueError>(!symbols_.empty(), "Tokenizer", "there are no symbols");
}

void Tokenizer::limit_to(Dim size) {
  require<ValueError>(kind_ == Tokens::bpe && size >= 1, "Tokenizer",
                      "only tokens of kind bpe can have a limit of 1 or more: got kind ",
                      to_string(kind_), " and limit ", size);
  limit_ = std::min(limit_, size);
}

std::optional<Dim> Tokenizer::end_of_text() const {
  for (const Dim id : marks_.ends)
    if (id < size()) return id;
  const std::optional<Dim> id = special_.find("<|endoftext|>");
  return id && *id < size() ? id : std::nullopt;
}

std::optional<Dim> Tokenizer::begin_of_text() const {
  return marks_.begin && *marks_.begin < size() ? marks_.begin : end_of_text();
}

bool Tokenizer::ends_text(Dim id) const {
  return id == end_of_text() ||
         std::find(marks_.ends.begin(), marks_.ends.end(), id) != marks_.ends.end();
}

std::vector<Dim> Tokenizer::without_text(Dim vocabulary) const {
  std::vector<Dim> ids;
  for (Dim id = 0; id < vocabulary; ++id)
    if (id >= size() || symbols_[static_cast<std::size_t>(id)].empty()) ids.push_back(id);
  return ids;
}

void Tokenizer::number_symbols() {
  require<ValueError>(!symbols_.empty(), "Tokenizer", "there are no symbols");
  for (Dim id = 0; id < size(); ++id) {
    const std::string& symbol = symbols_[static_cast<std::size_t>(id)];
    require<ValueError>(!symbol.empty(), "Tokenizer", "symbol ", id, " is empty");
    require<ValueError>(is_symbol(symbol), "Tokenizer", "symbol ", id, " is not one ",
                        to_string(kind_), ": got ", Symbol{symbol});
    const auto [entry, is_new] = numbers_.try_emplace(symbol, id);
    require<ValueError>(is_new, "Tokenizer", "symbols ", entry->second, " and ", id,
                        " are the same: ", Symbol{symbol});
  }
}

// The tokens of a text whose first byte has number `at`. Calls unknown(symbol, at) in the order of
// the text for what encode() refuses: of byte pairs, each byte that has no symbol and each token
// beyond the limit.
std::vector<Dim> Tokenizer::encode_known(std::string_view text, std::size_t at,
                                         const Unknown& unknown) const {
  std::vector<Dim> ids;
  if (!has_bytes(kind_)) {
    for_each_symbol(text, at, [&](std::string_view symbol, std::size_t place) {
      if (const auto id = find(symbol))
        ids.push_back(*id);
      else
        unknown(kind_ == Tokens::word ? without_joins(symbol) : symbol, place);
    });
    return ids;
  }
  KnownPieces known;
  std::size_t checked = 0;  // the next of ids
  const auto check = [&] {
    for (; checked < ids.size(); ++checked) {
      const Dim id = ids[checked];
      const std::string& symbol = symbols_[static_cast<std::size_t>(id)];
      if (id >= limit_) unknown(std::string_view(symbol), at);
      at += symbol.size();
    }
  };
  for (const TextPart& part : special_.split(text)) {
    if (part.id >= 0) ids.push_back(part.id);
    for (std::string_view rest = part.id < 0 ? part.text : ""; !rest.empty();) {
      const std::size_t end = std::min(pairs_->first_unknown_byte(rest), rest.size());
      pairs_->encode(rest.substr(0, end), ids, known);
      check();
      if (end < rest.size()) unknown(rest.substr(end, 1), at++);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  check();
  std::erase_if(ids, [&](Dim id) { return id >= limit_; });
  return ids;
}

std::vector<Dim> Tokenizer::encode(std::string_view text, std::size_t first) const {
  return encode_known(text, first, [this](std::string_view symbol, std::size_t at) {
    std::string kind = fledge::to_string(kind_);
    if (has_bytes(kind_)) kind = symbol.size() == 1 ? "byte" : "token";
    throw UnknownSymbol("Tokenizer: the " + kind + " " + to_string(Symbol{symbol}) + " at byte " +
                            std::to_string(at) + " is not among the " + std::to_string(size()) +
                            " it has",
                        symbol, at);
  });
}

UnknownSymbols Tokenizer::unknown_symbols(std::string_view text) const {
  UnknownSymbols found;
  std::size_t kept = 0;  // the bytes before it are in `rest`, or left out
  const auto leave_out = [&](std::string_view symbol, std::size_t at) {
    if (found.unknown++ == 0) found.first = at;
    ++found.counts[std::string(symbol)];
    found.rest.append(text, kept, at - kept).append(kind_ == Tokens::word ? " " : "");
    kept = at + symbol.size();
  };
  found.all = std::ssize(encode_known(text, 0, leave_out));
  found.all += found.unknown;
  found.rest.append(text, kept);
  return found;
}

std::string Tokenizer::decode(const std::vector<Dim>& ids) const {
  std::string text;
  std::string_view before;
  const bool is_of_words = kind_ == Tokens::word;
  for (const Dim id : ids) {
    require<ValueError>(id >= 0 && id < size(), "Tokenizer", "no symbol has number ", id,
                        "; there are ", size());
    const std::string& symbol = symbols_[static_cast<std::size_t>(id)];
    const bool apart = is_of_words && !text.empty() && text.back() != '\n';
    if (apart && symbol != "\n" && are_apart(before, symbol)) text += ' ';
    text += is_of_words ? without_joins(symbol) : symbol;
    before = symbol;
  }
  return text;
}

std::optional<Dim> Tokenizer::find(std::string_view symbol) const {
  const auto found = [&](std::string_view name) -> std::optional<Dim> {
    const auto entry = numbers_.find(name);
    return entry == numbers_.end() ? std::nullopt : std::optional(entry->second);
  };
  if (has_bytes(kind_)) {
    const std::optional<Dim> special = special_.find(symbol);
    const std::optional<Dim> id = special ? special : pairs_->find(symbol);
    return id && *id < size() ? id : std::nullopt;
  }
  std::optional<Dim> id = found(symbol);
  if (id || kind_ != Tokens::word) return id;
  const std::string mark(without_joins(symbol));
  for (const std::string& other : {"\t" + mark, mark, mark + "\t", "\t" + mark + "\t"})
    if (!id) id = found(other);
  return id;
}

Tokenizer number_tokenizer(Dim vocabulary) {
  require<ValueError>(vocabulary >= 1 && vocabulary <= most_symbols, "number_tokenizer",
                      "a vocabulary has 1 to ", most_symbols, " tokens: got ", vocabulary);
  std::vector<std::string> numbers;
  for (Dim number = 0; number < vocabulary; ++number) numbers.push_back(std::to_string(number));
  return {Tokens::word, std::move(numbers)};
}

void require_utf8(std::string_view text, std::size_t first) {
  const std::size_t wrong = first_not_utf8(text);
  require<ValueError>(wrong == std::string_view::npos, "Tokenizer",
                      "the text is not UTF-8 at byte ", first + wrong,
                      "; tokens of kind byte or bpe take any bytes");
}

}  // namespace fledge
