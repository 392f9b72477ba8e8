// A tokenizer as JSON: it lives beside the weights that were trained with its numbers.
#pragma once

#include "nn/io/json.h"
#include "nn/io/json_reader.h"
#include "nn/text/tokenizer.h"

namespace fledge {

/// {"kind":"word","symbols":["\n","birds",…]}; bytes are not listed; "merges":[[a, b],…] for bpe.
/// Throws ValueError for words that are not UTF-8, which JSON cannot hold.
void write_tokenizer(JsonWriter& json, const Tokenizer& tokenizer);

/// Throws FormatError for what write_tokenizer() does not write.
Tokenizer read_tokenizer(const JsonValue& json);

}  // namespace fledge
