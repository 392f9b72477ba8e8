// A tokenizer as JSON: fledge's own form, which is saved with the weights that were trained with
// its numbers, and the parts that Hugging Face's tokenizer.json has too.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nn/io/json.h"
#include "nn/text/tokenizer.h"

namespace fledge {

/// The bytes as printable characters, as GPT-2's files write them, in UTF-8: a space is "Ġ", a line
/// end "Ċ". The 188 bytes that are printable in Latin-1 (! to ~, ¡ to ¬, ® to ÿ) are the characters
/// with their numbers. The other 68, in ascending order, are U+0100, U+0101, … (bytes_to_unicode()
/// in GPT-2's encoder.py; Radford et al. 2019).
std::string characters_of_bytes(std::string_view bytes);
/// The opposite direction. nullopt if a character stands for no byte.
std::optional<std::string> bytes_of_characters(std::string_view characters);

/// The list "added_tokens" of Hugging Face's tokenizer.json:
/// [{"id":50256,"content":"<|endoftext|>","single_word":false,"lstrip":false,"rstrip":false,
/// "normalized":false,"special":true}].
Json added_tokens_json(const std::vector<SpecialToken>& tokens);
/// Reads one token without its id: {"content":"<s>",…}, or its text alone. Then it is special.
SpecialToken read_added_token(const JsonValue& json);
/// Reads such a list. A flag that is missing is false. Throws FormatError for other JSON, for ids
/// that are not 0 … most_symbols − 1, and for flags that would change where a token is found:
/// single_word, lstrip or rstrip true.
std::vector<SpecialToken> read_added_tokens(const JsonValue& json);

/// The two elements of an array. Throws FormatError for another value.
std::pair<JsonValue, JsonValue> read_pair(const JsonValue& json);

/// {"kind":"word","rule":"punctuation","symbols":["\n","birds",…]}. Characters have no "rule". For
/// bytes there are only 256, and they are not listed. For bpe:
///
///   {"kind":"bpe","rule":"gpt2","vocab":["!",…,"Ġthe",…],"merges":[[a,b],…],"added_tokens":[…]}
///
/// "vocab" has the bytes of each number as characters; "" is a number without
/// bytes. "added_tokens" are the special tokens if there are any. Throws
/// ValueError for words that are not UTF-8, because JSON must be UTF-8.
Json tokenizer_json(const Tokenizer& tokenizer);

/// Throws FormatError for JSON that tokenizer_json() does not write.
Tokenizer read_tokenizer(const JsonValue& json);

}  // namespace fledge
