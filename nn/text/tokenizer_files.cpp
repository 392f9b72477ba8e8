#include "nn/text/tokenizer_files.h"

#include <cerrno>
#include <numeric>
#include <set>

#include "nn/io/checksum.h"
#include "nn/text/tokenizer_json.h"

namespace fledge {

namespace {

const std::string end_of_text_token = "<|endoftext|>";

// Calls f(contents) with a file of the folder, and puts its path before the message of an error.
template <class F>
auto with_file(const Folder& folder, const std::string& name, F f) {
  std::optional<std::string> text = folder.read(name, most_json_bytes);
  if (!text) throw FileError("read", folder.file(name), ENOENT);
  return located_at(in_quotes(folder.file(name)), [&] { return f(std::move(*text)); });
}

// Throws unless the value of the key is missing, null, or the text `off`: fledge does not have what
// another value turns on.
void require_off(const JsonValue& object, std::string_view key, const std::string& off) {
  const JsonValue value = object.find(key);
  if (value.is_null() || value.shown() == off || (off == "0" && value.shown() == "0.0")) return;
  value.refuse("must be " + (off == "null" ? off : "null or " + off) +
               ", because fledge does not have it");
}

void require_type(const JsonValue& part, const std::string& type) {
  if (part["type"].string() != type) part["type"].refuse("must be " + type);
}

// Throws unless the object is of type ByteLevel.
JsonValue byte_level(JsonValue part) {
  if (!part.is_object()) part.refuse("must be of type ByteLevel");
  require_type(part, "ByteLevel");
  part.allow_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  return part;
}

// GPT-2's pattern of pieces (pieces.h), in the forms that files have: of GPT-2's encoder.py, and of
// the library tiktoken for r50k_base. They cut every text into the same pieces.
constexpr std::string_view gpt2_patterns[] = {
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
    R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
    R"('(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s)"};

// Throws unless this cuts a text at GPT-2's pattern. Every text is all matches, so it does not
// matter whether matches are isolated or what is not a match is removed.
void check_split(const JsonValue& split) {
  require_type(split, "Split");
  split.allow_only({"type", "pattern", "behavior", "invert"});
  const JsonValue pattern = split["pattern"]["Regex"];
  if (std::find(std::begin(gpt2_patterns), std::end(gpt2_patterns), pattern.string()) ==
      std::end(gpt2_patterns))
    pattern.refuse("must be GPT-2's pattern");
  const bool inverts = split.has("invert") && split["invert"].boolean();
  if (const std::string behavior = split["behavior"].string();
      behavior != "Isolated" && !(behavior == "Removed" && inverts))
    split["behavior"].refuse("must be Isolated");
}

// Throws unless a text is cut as GPT-2 does: by ByteLevel, or by Split and then ByteLevel. Cutting
// a piece again at the same pattern changes nothing, so use_regex may be true or false behind
// Split.
void check_pre_tokenizer(const JsonValue& json) {
  std::vector<JsonValue> parts{json};
  const bool is_sequence = json.is_object() && json["type"].string() == "Sequence";
  if (is_sequence) {
    parts.clear();
    json["pretokenizers"].each_item([&](const JsonValue& part) { parts.push_back(part); });
    if (parts.size() != 2)
      json["pretokenizers"].fail("must be Split and ByteLevel: got " +
                                 std::to_string(parts.size()) + " parts");
    check_split(parts[0]);
  }
  const JsonValue cut = byte_level(parts.back());
  if (cut["add_prefix_space"].boolean())
    cut["add_prefix_space"].fail("must be false: fledge puts no space before a text");
  if (!is_sequence && !cut.find("use_regex").is_null() && !cut["use_regex"].boolean())
    cut["use_regex"].fail("must be true, because fledge cuts a text as GPT-2 does");
}

// The number of a special token that the files give by its text alone: the vocabulary has it.
constexpr Dim no_number = -1;

// Appends the tokens whose texts are not in the list yet.
void add_missing(std::vector<SpecialToken>& tokens, const std::vector<SpecialToken>& more) {
  std::set<std::string> texts;
  for (const SpecialToken& token : tokens) texts.insert(token.text);
  for (const SpecialToken& token : more)
    if (texts.insert(token.text).second) tokens.push_back(token);
}

// Symbols with their numbers, as a vocabulary lists them, and merges.
class NamedPairs {
 public:
  // `json`: {"!":0,"\"":1,…}. A special token may have any characters. Those without a number get
  // that of the vocabulary, or the next one that is free, as in add_tokens() of tokenizers.
  NamedPairs(const JsonValue& json, std::vector<SpecialToken> special)
      : special_(std::move(special)) {
    std::map<std::string_view, SpecialToken*> special_tokens;
    for (SpecialToken& token : special_) special_tokens.emplace(token.text, &token);
    std::vector<std::string> symbols;
    std::vector<bool> is_used;
    json.each_member([&](const std::string& name, const JsonValue& value) {
      const Dim id = value.integer(0, most_symbols - 1);
      const auto index = static_cast<std::size_t>(id);
      if (index >= symbols.size()) {
        symbols.resize(index + 1);
        is_used.resize(index + 1);
      }
      if (is_used[index]) value.fail("is number " + std::to_string(id) + ", as another symbol is");
      is_used[index] = true;
      const std::optional<std::string> bytes = bytes_of_characters(name);
      const auto token = special_tokens.find(name);
      if (token != special_tokens.end()) {
        Dim& number = token->second->id;
        if (number == no_number) number = id;
        if (number != id)
          value.fail("is number " + std::to_string(id) + ", and the special token " +
                     in_quotes(name) + " is number " + std::to_string(number));
      } else if (!bytes || bytes->empty()) {
        value.fail("is the number of " + in_quotes(name) +
                   ", which stands for no bytes; special tokens stand in added_tokens");
      }
      // A special token may look like other bytes: "é" is also the character of byte 233.
      if (bytes && (token == special_tokens.end() || *bytes == name)) symbols[index] = *bytes;
    });
    if (is_used.empty() && special_.empty()) json.fail("must have at least one symbol");
    auto next = static_cast<Dim>(symbols.size());
    for (const SpecialToken& token : special_) next = std::max(next, token.id + 1);
    for (SpecialToken& token : special_)
      if (token.id == no_number) token.id = next++;
    pairs_ = BytePairs(std::move(symbols));
  }

  // Adds the merge of the symbols with these names. Throws ValueError.
  void add(const std::string& left, const std::string& right) {
    const Dim first = number_of(left);  // an error names the first that is wrong
    pairs_.add_merge({first, number_of(right)});
  }
  // The same for "left right".
  void add(std::string_view line) {
    const std::size_t space = line.find(' ');
    require<ValueError>(
        space != std::string_view::npos && line.find(' ', space + 1) == std::string_view::npos,
        "merges", "a merge is two symbols with one space between them: got ", in_quotes(line));
    add(std::string(line.substr(0, space)), std::string(line.substr(space + 1)));
  }

  bool has_all_bytes() const {
    std::string all(256, '\0');
    std::iota(all.begin(), all.end(), '\0');
    return pairs_.first_unknown_byte(all) == std::string::npos;
  }

  // Throws ValueError.
  Tokenizer tokenizer() {
    if (special_.empty() && pairs_.merges().empty() && pairs_.symbols() == BytePairs().symbols())
      return {Tokens::byte, std::vector<std::string>()};
    return Tokenizer(std::move(pairs_), std::move(special_));
  }

 private:
  Dim number_of(const std::string& name) const {
    const std::optional<std::string> bytes = bytes_of_characters(name);
    const std::optional<Dim> number = bytes ? pairs_.find(*bytes) : std::nullopt;
    require<ValueError>(number.has_value(), "merges", "the vocabulary has no symbol ",
                        in_quotes(name));
    return *number;
  }

  BytePairs pairs_;
  std::vector<SpecialToken> special_;
};

void add_merge(NamedPairs& pairs, const JsonValue& item) {
  if (!item.is_array()) return pairs.add(item.string());
  const auto [left, right] = read_pair(item);
  const std::string first = left.string();  // an error names the first that is wrong
  pairs.add(first, right.string());
}

// f(), whose ValueError becomes the FormatError of a value.
template <class F>
auto or_fail(const JsonValue& value, F f) {
  try {
    return f();
  } catch (const ValueError& error) {
    value.fail("is wrong: " + std::string(error.what()));
  }
}

Tokenizer read_model(const JsonValue& model, const std::vector<SpecialToken>& special) {
  if (model.has("type")) require_type(model, "BPE");
  model.allow_only({"type", "dropout", "unk_token", "continuing_subword_prefix",
                    "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges", "vocab",
                    "merges"});
  for (const auto& [key, off] : {std::pair{"dropout", "0"},
                                 {"continuing_subword_prefix", "\"\""},
                                 {"end_of_word_suffix", "\"\""},
                                 {"fuse_unk", "false"},
                                 {"byte_fallback", "false"},
                                 {"ignore_merges", "false"}})
    require_off(model, key, off);
  const JsonValue vocabulary = model["vocab"], merges = model["merges"];
  NamedPairs pairs = or_fail(vocabulary, [&] { return NamedPairs(vocabulary, special); });
  if (!pairs.has_all_bytes())
    require_off(model, "unk_token", "null");  // with all, no text is unknown
  merges.each_item([&](const JsonValue& item) { or_fail(item, [&] { add_merge(pairs, item); }); });
  return or_fail(vocabulary, [&] { return pairs.tokenizer(); });
}

Tokenizer read_tokenizer_json(std::string text, const std::vector<SpecialToken>& beside) {
  const JsonValue json = read_json(std::move(text));
  json.allow_only({"version", "truncation", "padding", "added_tokens", "normalizer",
                   "pre_tokenizer", "post_processor", "decoder", "model"});
  if (const JsonValue version = json.find("version");
      !version.is_null() && version.string() != "1.0")
    version.refuse("must be \"1.0\"");
  // truncation and padding are the settings of the last call: transformers sets them anew in each.
  require_off(json, "normalizer", "null");
  check_pre_tokenizer(json["pre_tokenizer"]);
  byte_level(json["decoder"]);
  if (!json.find("post_processor").is_null()) byte_level(json["post_processor"]);
  std::vector<SpecialToken> special;
  if (!json.find("added_tokens").is_null()) special = read_added_tokens(json["added_tokens"]);
  add_missing(special, beside);
  return read_model(json["model"], special);
}

// Adds a merge for each line.
void add_lines(NamedPairs& pairs, const std::string& text) {
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    at = end + 1;
    if (++number == 1 && line.starts_with("#version")) continue;
    try {
      pairs.add(line);
    } catch (const ValueError& error) {
      throw FormatError("line " + std::to_string(number) + ": " + error.what());
    }
  }
}

Tokenizer read_vocabulary_and_merges(const Folder& folder, std::vector<SpecialToken> special) {
  NamedPairs pairs = with_file(folder, "vocab.json", [&](std::string text) {
    const JsonValue json = read_json(std::move(text));
    if (json.has(end_of_text_token)) add_missing(special, {{end_of_text_token, no_number}});
    return or_fail(json, [&] { return NamedPairs(json, special); });
  });
  return with_file(folder, "merges.txt", [&](const std::string& text) {
    add_lines(pairs, text);
    try {
      return pairs.tokenizer();
    } catch (const ValueError& error) {
      throw FormatError("it and the special tokens beside it: " + std::string(error.what()));
    }
  });
}

// Adds the tokens that these keys name, in this order.
void add_named(std::vector<SpecialToken>& tokens, const JsonValue& json) {
  const auto add = [&](const JsonValue& value) {
    if (value.is_null()) return;
    tokens.push_back(read_added_token(value));
    tokens.back().id = no_number;
    tokens.back().special = true;
  };
  for (const char* key :
       {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"})
    add(json.find(key));
  if (const JsonValue more = json.find("additional_special_tokens"); more.is_array())
    more.each_item(add);
}

// f(json) for a file of the folder, if there is one.
template <class F>
void with_json(const Folder& folder, const char* name, F f) {
  if (folder.has(name))
    with_file(folder, name, [&](std::string text) { f(read_json(std::move(text))); });
}

// The special tokens of the files beside the vocabulary, as from_pretrained() of transformers 4
// reads them: those of added_tokens_decoder in tokenizer_config.json or, without this key, of
// special_tokens_map.json and added_tokens.json; then those that tokenizer_config.json names.
std::vector<SpecialToken> tokens_beside(const Folder& folder) {
  std::vector<SpecialToken> tokens, names;
  bool has_decoder = false;
  with_json(folder, "tokenizer_config.json", [&](const JsonValue& json) {
    // transformers prefers what these keys say to what tokenizer.json says.
    for (const char* key : {"add_prefix_space", "add_bos_token", "add_eos_token"})
      require_off(json, key, "false");
    add_named(names, json);
    const JsonValue added = json.find("added_tokens_decoder");
    has_decoder = !added.is_null();
    if (has_decoder)
      added.each_member([&](const std::string& number, const JsonValue& token) {
        const std::optional<std::uint64_t> id = unsigned_number(number, 10);
        if (!id || *id >= static_cast<std::uint64_t>(most_symbols))
          token.fail("must have a number from 0 to " + std::to_string(most_symbols - 1) +
                     " as its key");
        tokens.push_back(read_added_token(token));
        tokens.back().id = static_cast<Dim>(*id);
      });
  });
  if (!has_decoder) {
    with_json(folder, "special_tokens_map.json",
              [&](const JsonValue& json) { add_named(names, json); });
    with_json(folder, "added_tokens.json", [&](const JsonValue& json) {
      json.each_member([&](const std::string& text, const JsonValue& id) {
        const bool special = std::any_of(names.begin(), names.end(),
                                         [&](const auto& token) { return token.text == text; });
        tokens.push_back({text, id.integer(0, most_symbols - 1), !special, special});
      });
    });
  }
  std::vector<SpecialToken> all;
  add_missing(all, tokens);
  add_missing(all, names);
  return all;
}

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

// Bytes and byte pairs. The two flags that are true and false concern offsets, which are not
// tokens: GPT-2's file.
Json::Members byte_parts(const Tokenizer& tokenizer, const std::vector<std::string>& names) {
  return {{"pre_tokenizer", byte_level_json(false, true)},
          {"post_processor", byte_level_json(true, false)},
          {"decoder", byte_level_json(true, true)},
          {"model", Json::object({{"type", "BPE"},
                                  {"dropout", nullptr},
                                  {"unk_token", nullptr},
                                  {"continuing_subword_prefix", ""},
                                  {"end_of_word_suffix", ""},
                                  {"fuse_unk", false},
                                  {"byte_fallback", false},
                                  {"ignore_merges", false},
                                  {"vocab", vocabulary_json(names)},
                                  {"merges", merge_lines(tokenizer, names)}})}};
}

// Each character is a piece of its own. A model WordLevel gives an error for an unknown symbol,
// because its unk_token, longer than a character, is none of them.
Json::Members character_parts(const std::vector<std::string>& names) {
  return {{"pre_tokenizer", Json::object({{"type", "Split"},
                                          {"pattern", Json::object({{"Regex", "[\\s\\S]"}})},
                                          {"behavior", "Isolated"},
                                          {"invert", false}})},
          {"post_processor", nullptr},
          {"decoder", Json::object({{"type", "Fuse"}})},
          {"model", Json::object({{"type", "WordLevel"},
                                  {"vocab", vocabulary_json(names)},
                                  {"unk_token", "<unknown symbol>"}})}};
}

std::string tokenizer_json_text(const Tokenizer& tokenizer, const std::vector<std::string>& names) {
  Json::Members members{{"version", "1.0"},
                        {"truncation", nullptr},
                        {"padding", nullptr},
                        {"added_tokens", added_tokens_json(tokenizer.special_tokens())},
                        {"normalizer", nullptr}};
  for (auto& part : tokenizer.kind() == Tokens::character ? character_parts(names)
                                                          : byte_parts(tokenizer, names))
    members.push_back(std::move(part));
  return Json::object(members).indented() + "\n";
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

std::optional<Tokenizer> read_tokenizer_files(const Folder& folder) {
  const bool has_one_file = folder.has("tokenizer.json");
  if (!has_one_file && !folder.has("vocab.json") && !folder.has("merges.txt")) return std::nullopt;
  std::vector<SpecialToken> beside = tokens_beside(folder);
  if (!has_one_file) return read_vocabulary_and_merges(folder, std::move(beside));
  return with_file(folder, "tokenizer.json",
                   [&](std::string text) { return read_tokenizer_json(std::move(text), beside); });
}

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
