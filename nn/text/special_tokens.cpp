#include "nn/text/special_tokens.h"

#include <algorithm>
#include <set>

#include "engine/base/errors.h"
#include "nn/io/utf8.h"

namespace fledge {

namespace {

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

}  // namespace fledge
