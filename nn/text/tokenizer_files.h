// Reads and writes a tokenizer as the files of Hugging Face's libraries.
//
// A file is read if its tokenizer cuts a text into exactly the tokens that GPT-2's would with these
// symbols and merges. A file whose tokenizer does something else is refused, and the error names
// the key.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nn/io/folder.h"
#include "nn/text/tokenizer.h"

namespace fledge {

/// The tokenizer of a folder: tokenizer.json if there is one, else vocab.json with merges.txt,
/// where "<|endoftext|>" is a special token; nullopt if there is neither. The symbols are byte
/// pairs; if they are the 256 bytes in their order and nothing else, the kind is byte.
///
/// Special tokens are also those of tokenizer_config.json, special_tokens_map.json and
/// added_tokens.json. One that these files name without a number has the number of the vocabulary
/// or, if it is not there, the next one.
///
/// tokenizer.json must be of version 1.0, with a model of type BPE, a decoder of type ByteLevel,
/// and a pre_tokenizer of type ByteLevel, or of Split at GPT-2's pattern and ByteLevel. truncation
/// and padding are ignored. These are refused because they change the tokens: a normalizer, other
/// types of model, pre_tokenizer, decoder or post_processor, add_prefix_space, use_regex false,
/// dropout, unk_token where a byte has no symbol, fuse_unk, byte_fallback, ignore_merges, a prefix
/// or suffix of words, single_word, lstrip, rstrip, keys that are not known, and in
/// tokenizer_config.json add_prefix_space, add_bos_token and add_eos_token.
///
/// Throws FormatError with file, line and key for those, for two symbols with one number, numbers
/// that are not 0 … most_symbols − 1, and merges of symbols that are not in the vocabulary. Throws
/// FileError for a file that cannot be read and for one of more than 64 MB.
std::optional<Tokenizer> read_tokenizer_files(const Folder& folder);

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
