// Texts that are one token wherever they occur, such as "<|endoftext|>". They are found before a
// text is cut into pieces.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/real.h"

namespace fledge {

/// A special token. The flags have the names and meanings of Hugging Face's library "tokenizers".
struct SpecialToken {
  std::string text;
  Dim id = 0;
  bool normalized = false;  // found only in what is left after the tokens without this flag
  bool special = true;      // other programs may leave it out when they decode

  bool operator==(const SpecialToken&) const = default;
};

/// The tokens that begin, end and fill texts, as the files of a model name them: bos_token_id,
/// eos_token_id (one number or several) and pad_token_id. A number may be beyond the vocabulary.
struct MarkTokens {
  std::optional<Dim> begin;
  std::vector<Dim> ends;
  std::optional<Dim> pad;

  bool operator==(const MarkTokens&) const = default;
};

/// A part of a text: a special token with its id, or text between special tokens. Then the id is −1.
struct TextPart {
  std::string_view text;
  Dim id = -1;
};

class SpecialTokens {
 public:
  SpecialTokens() = default;
  /// Throws ValueError for a text that is empty or has more than 1,024 bytes, and for two tokens
  /// with the same text or the same number.
  explicit SpecialTokens(std::vector<SpecialToken> tokens);

  /// The parts of a text in their order. The leftmost special token is found first; of those that
  /// begin at the same place, the longest.
  std::vector<TextPart> split(std::string_view text) const;

  std::optional<Dim> find(std::string_view text) const;
  /// First those that are not `normalized`, in the order of their texts.
  const std::vector<SpecialToken>& list() const { return tokens_; }

 private:
  std::vector<SpecialToken> tokens_;
};

}  // namespace fledge
