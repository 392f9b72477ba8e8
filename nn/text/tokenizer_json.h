// Saves a tokenizer as JSON, next to the weights that were trained with its numbers.
#pragma once

#include "nn/io/json.h"
#include "nn/io/json_reader.h"
#include "nn/text/tokenizer.h"

namespace fledge {

/// {"kind":"word","rule":"punctuation","symbols":["\n","birds",…]}. Characters have no "rule". For
/// bytes there are only 256, and they are not listed. For bpe:
///
///   {"kind":"bpe","rule":"gpt2","vocab":["!",…,"Ġthe",…],"merges":[[a,b],…],"added_tokens":[…]}
///
/// "vocab" has the bytes of each number as characters (byte_characters.h); "" is a number without
/// bytes. "added_tokens" are the special tokens (special_tokens.h), if there are any. Throws
/// ValueError for words that are not UTF-8, because JSON must be UTF-8.
Json tokenizer_json(const Tokenizer& tokenizer);

/// Throws FormatError for JSON that tokenizer_json() does not write.
Tokenizer read_tokenizer(const JsonValue& json);

}  // namespace fledge
