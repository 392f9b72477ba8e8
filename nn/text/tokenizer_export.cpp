#include "nn/text/tokenizer_export.h"

#include <algorithm>

#include "nn/io/json.h"
#include "nn/io/utf8.h"
#include "nn/text/added_tokens.h"
#include "nn/text/byte_characters.h"

namespace fledge {

namespace {

// No symbol is longer than a character, so none is this one.
constexpr const char* unknown_word = "<unknown symbol>";

// The name of each number; "" if it has none.
std::vector<std::string> symbol_names(const Tokenizer& tokenizer) {
  if (tokenizer.kind() == Tokens::character) return tokenizer.symbols();
  std::vector<std::string> names;
  for (const std::string& symbol : tokenizer.pairs().symbols())
    names.push_back(characters_of_bytes(symbol));
  names.resize(tokenizer.symbols().size());
  for (const SpecialToken& token : tokenizer.special_tokens())
    names[static_cast<std::size_t>(token.id)] = token.text;
  return names;
}

bool can_be_expressed(std::vector<std::string> names) {
  for (const std::string& name : names)
    if (first_not_utf8(name) != std::string::npos) return false;
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(
      names.begin(), names.end(),
      [](const std::string& a, const std::string& b) { return a == b && !a.empty(); });
  return twice == names.end();
}

Json vocabulary_json(const std::vector<std::string>& names) {
  Json::Members members;
  for (std::size_t id = 0; id < names.size(); ++id)
    if (!names[id].empty()) members.emplace_back(names[id], id);
  return Json::object(members);
}

std::vector<std::string> merge_lines(const Tokenizer& tokenizer,
                                     const std::vector<std::string>& names) {
  std::vector<std::string> lines;
  for (const auto& [left, right] : tokenizer.merges())
    lines.push_back(names[static_cast<std::size_t>(left)] + " " +
                    names[static_cast<std::size_t>(right)]);
  return lines;
}

Json byte_level_json(bool add_prefix_space, bool trim_offsets) {
  return Json::object({{"type", "ByteLevel"},
                       {"add_prefix_space", add_prefix_space},
                       {"trim_offsets", trim_offsets},
                       {"use_regex", true}});
}

// What differs between the kinds.
struct TokenizerParts {
  Json pre_tokenizer, post_processor, decoder, model;
};

TokenizerParts byte_parts(const Tokenizer& tokenizer, const std::vector<std::string>& names) {
  // The two flags that are true and false concern offsets, which are not tokens: GPT-2's file.
  return {byte_level_json(false, true), byte_level_json(true, false), byte_level_json(true, true),
          Json::object({{"type", "BPE"},
                        {"dropout", nullptr},
                        {"unk_token", nullptr},
                        {"continuing_subword_prefix", ""},
                        {"end_of_word_suffix", ""},
                        {"fuse_unk", false},
                        {"byte_fallback", false},
                        {"ignore_merges", false},
                        {"vocab", vocabulary_json(names)},
                        {"merges", merge_lines(tokenizer, names)}})};
}

// Each character is a piece of its own. A model WordLevel gives an error for an unknown symbol,
// because `unknown_word` is none of them.
TokenizerParts character_parts(const std::vector<std::string>& names) {
  return {
      Json::object({{"type", "Split"},
                    {"pattern", Json::object({{"Regex", "[\\s\\S]"}})},
                    {"behavior", "Isolated"},
                    {"invert", false}}),
      nullptr, Json::object({{"type", "Fuse"}}),
      Json::object(
          {{"type", "WordLevel"}, {"vocab", vocabulary_json(names)}, {"unk_token", unknown_word}})};
}

std::string tokenizer_json_text(const Tokenizer& tokenizer, const std::vector<std::string>& names) {
  const TokenizerParts parts =
      tokenizer.kind() == Tokens::character ? character_parts(names) : byte_parts(tokenizer, names);
  return Json::object({{"version", "1.0"},
                       {"truncation", nullptr},
                       {"padding", nullptr},
                       {"added_tokens", added_tokens_json(tokenizer.special_tokens())},
                       {"normalizer", nullptr},
                       {"pre_tokenizer", parts.pre_tokenizer},
                       {"post_processor", parts.post_processor},
                       {"decoder", parts.decoder},
                       {"model", parts.model}})
             .indented() +
         "\n";
}

std::string config_text(const Tokenizer& tokenizer, Dim context) {
  Json::Members members{{"tokenizer_class", "PreTrainedTokenizerFast"},
                        {"model_max_length", context},
                        {"clean_up_tokenization_spaces", false}};
  const auto add = [&](const char* key, std::optional<Dim> id) {
    for (const SpecialToken& token : tokenizer.special_tokens())
      if (token.id == id) members.emplace_back(key, token.text);
  };
  add("bos_token", tokenizer.marks().begin);
  add("eos_token", tokenizer.end_of_text());
  add("pad_token", tokenizer.marks().pad);
  return Json::object(members).indented() + "\n";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> tokenizer_files(const Tokenizer& tokenizer,
                                                                 Dim context) {
  if (tokenizer.kind() == Tokens::word) return {};
  const std::vector<std::string> names = symbol_names(tokenizer);
  if (!can_be_expressed(names)) return {};
  std::vector<std::pair<std::string, std::string>> files{
      {"tokenizer.json", tokenizer_json_text(tokenizer, names)},
      {"tokenizer_config.json", config_text(tokenizer, context)}};
  if (tokenizer.kind() != Tokens::bpe) return files;
  std::string merges = "#version: 0.2\n";
  for (const std::string& line : merge_lines(tokenizer, names)) merges.append(line).append("\n");
  files.emplace_back("vocab.json", vocabulary_json(names).text() + "\n");
  files.emplace_back("merges.txt", std::move(merges));
  return files;
}

}  // namespace fledge
