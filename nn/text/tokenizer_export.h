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
///   word, split at blanks alone: a model WordLevel.
/// - vocab.json and merges.txt, for bpe.
/// - tokenizer_config.json, if there is a tokenizer.json. `context` is the most tokens of a text.
///
/// These cannot be expressed, and give no file: words with punctuation marks of their own, because
/// the symbol of a mark depends on the blanks beside it; byte pairs of older versions, because no
/// type of pre_tokenizer cuts as they do; words that are not UTF-8; a special token whose text is the
/// name of another symbol.
std::vector<std::pair<std::string, std::string>> tokenizer_files(const Tokenizer& tokenizer,
                                                                 Dim context);

}  // namespace fledge
