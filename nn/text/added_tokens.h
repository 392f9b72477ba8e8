// Special tokens as Hugging Face's tokenizer.json lists them, and as fledge's own files do.
#pragma once

#include <vector>

#include "nn/io/json.h"
#include "nn/io/json_reader.h"
#include "nn/text/special_tokens.h"

namespace fledge {

/// The list "added_tokens" of Hugging Face's tokenizer.json:
/// [{"id":50256,"content":"<|endoftext|>","single_word":false,"lstrip":false,"rstrip":false,
/// "normalized":false,"special":true}].
Json added_tokens_json(const std::vector<SpecialToken>& tokens);
/// Reads one token without its id: {"content":"<s>",…}, or its text alone. Then it is special.
SpecialToken read_added_token(const JsonValue& json);
/// Reads such a list. A flag that is missing is false. Throws FormatError for other JSON, for ids that
/// are not 0 … most_symbols − 1, and for flags that would change where a token is found: single_word,
/// lstrip or rstrip true.
std::vector<SpecialToken> read_added_tokens(const JsonValue& json);

}  // namespace fledge
