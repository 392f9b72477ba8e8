// Writes a tokenizer as files that Hugging Face's libraries read.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nn/text/tokenizer.h"

namespace fledge {

/// Files as (name, text).
///
/// - tokenizer.json, if the tokenizer can be expressed exactly:
///   bpe: a model BPE with ByteLevel, as GPT-2's. byte: the same without merges.
///   character: a model WordLevel, every character cut off.
/// - vocab.json and merges.txt, for bpe.
/// - tokenizer_config.json, if there is a tokenizer.json. `context` is the most tokens of a text.
///
/// These cannot be expressed, and give no file: words, because the symbol of a punctuation mark
/// depends on the blanks beside it; a special token that is not UTF-8, or whose text is the name of
/// another symbol.
std::vector<std::pair<std::string, std::string>> tokenizer_files(const Tokenizer& tokenizer,
                                                                 Dim context);

}  // namespace fledge
