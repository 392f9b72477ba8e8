#include "nn/text/tokenizer_files.h"

#include <cerrno>

#include "nn/io/json_reader.h"
#include "nn/text/added_tokens.h"
#include "nn/text/byte_characters.h"

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

// Throws unless the value of the key is missing, null, or one that `is_harmless`.
template <class F>
void refuse_key(const JsonValue& object, std::string_view key, const char* what_must_hold,
                F is_harmless) {
  const JsonValue value = object.find(key);
  if (!value.is_null() && !is_harmless(value))
    value.fail(std::string(what_must_hold) + ": got " + value.shown());
}

void require_null(const JsonValue& object, std::string_view key) {
  refuse_key(object, key, "must be null, because fledge does not have it",
             [](const JsonValue&) { return false; });
}

void require_false(const JsonValue& object, std::string_view key) {
  refuse_key(object, key, "must be false, because fledge does not have it",
             [](const JsonValue& value) { return !value.boolean(); });
}

void require_empty(const JsonValue& object, std::string_view key) {
  refuse_key(object, key, "must be null or \"\", because fledge does not have it",
             [](const JsonValue& value) { return value.string().empty(); });
}

// The object of this key, whose type must be ByteLevel.
JsonValue byte_level(const JsonValue& json, std::string_view key) {
  JsonValue part = json[key];
  if (!part.is_object()) part.fail("must be of type ByteLevel: got " + part.shown());
  if (part["type"].string() != "ByteLevel")
    part["type"].fail("must be ByteLevel: got " + part["type"].shown());
  part.allow_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  return part;
}

// Symbols with their numbers, as a vocabulary lists them, and merges.
class NamedPairs {
 public:
  // `json`: {"!":0,"\"":1,…}. A special token may have any characters.
  NamedPairs(const JsonValue& json, const std::vector<SpecialToken>& special) {
    std::map<std::string_view, Dim> special_ids;
    for (const SpecialToken& token : special) special_ids.emplace(token.text, token.id);
    std::vector<std::string> symbols;
    std::vector<bool> is_used;
    json.each_member([&](const std::string& name, const JsonValue& value) {
      const Dim id = value.integer(0, most_symbols - 1);
      const auto place = static_cast<std::size_t>(id);
      if (place >= symbols.size()) {
        symbols.resize(place + 1);
        is_used.resize(place + 1);
      }
      if (is_used[place]) value.fail("is number " + std::to_string(id) + ", as another symbol is");
      is_used[place] = true;
      const std::optional<std::string> bytes = bytes_of_characters(name);
      const auto token = special_ids.find(name);
      if (token != special_ids.end()) {
        if (token->second != id)
          value.fail("is number " + std::to_string(id) + ", and the special token " +
                     in_quotes(name) + " is number " + std::to_string(token->second));
      } else if (!bytes || bytes->empty()) {
        value.fail("is the number of " + in_quotes(name) +
                   ", which stands for no bytes; special tokens stand in added_tokens");
      }
      // A special token may look like other bytes: "é" is also the character of byte 233.
      if (bytes && (token == special_ids.end() || *bytes == name)) symbols[place] = *bytes;
    });
    if (is_used.empty() && special.empty()) json.fail("must have at least one symbol");
    pairs_ = BytePairs(std::move(symbols));
  }

  // Adds the merge of the symbols with these names. Throws ValueError.
  void add(const std::string& left, const std::string& right) {
    require<ValueError>(static_cast<Dim>(merges_.size()) < most_symbols, "merges",
                        "this is one more than the most merges, ", most_symbols);
    const Dim first = number_of(left);  // an error names the first that is wrong
    merges_.emplace_back(first, number_of(right));
  }
  // The same for "left right".
  void add(std::string_view line) {
    const std::size_t space = line.find(' ');
    require<ValueError>(
        space != std::string_view::npos && line.find(' ', space + 1) == std::string_view::npos,
        "merges", "a merge is two symbols with one space between them: got ", in_quotes(line));
    add(std::string(line.substr(0, space)), std::string(line.substr(space + 1)));
  }

  // Throws MergeError and ValueError.
  Tokenizer tokenizer(std::vector<SpecialToken> special) {
    pairs_.set_merges(std::move(merges_));
    if (special.empty() && pairs_.merges().empty() && pairs_.symbols() == BytePairs().symbols())
      return {Tokens::byte, std::vector<std::string>()};
    return Tokenizer(std::move(pairs_), std::move(special));
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
  std::vector<Merge> merges_;
};

void add_merge(NamedPairs& pairs, const JsonValue& item) {
  if (!item.is_array()) return pairs.add(item.string());
  std::vector<std::string> names;
  item.each_item([&](const JsonValue& name) {
    if (names.size() == 2) item.fail("must be a pair of symbols");
    names.push_back(name.string());
  });
  if (names.size() != 2) item.fail("must be a pair of symbols");
  pairs.add(names[0], names[1]);
}

// f(), whose ValueError becomes the FormatError of a value; but not its MergeError, which has a place
// of its own.
template <class F>
auto or_fail(const JsonValue& value, F f) {
  try {
    return f();
  } catch (const MergeError&) {
    throw;
  } catch (const ValueError& error) {
    value.fail("is wrong: " + std::string(error.what()));
  }
}

Tokenizer read_model(const JsonValue& model, std::vector<SpecialToken> special) {
  const JsonValue type = model.find("type");
  if (model.has("type") && type.string() != "BPE") type.fail("must be BPE: got " + type.shown());
  model.allow_only({"type", "dropout", "unk_token", "continuing_subword_prefix",
                    "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges", "vocab",
                    "merges"});
  refuse_key(model, "dropout", "must be null or 0, because fledge does not have it",
             [](const JsonValue& value) { return value.number() == 0; });
  require_null(model, "unk_token");
  require_empty(model, "continuing_subword_prefix");
  require_empty(model, "end_of_word_suffix");
  for (const char* key : {"fuse_unk", "byte_fallback", "ignore_merges"}) require_false(model, key);
  const JsonValue vocabulary = model["vocab"], merges = model["merges"];
  NamedPairs pairs = or_fail(vocabulary, [&] { return NamedPairs(vocabulary, special); });
  merges.each_item([&](const JsonValue& item) { or_fail(item, [&] { add_merge(pairs, item); }); });
  try {
    return or_fail(vocabulary, [&] { return pairs.tokenizer(std::move(special)); });
  } catch (const MergeError& error) {
    std::size_t rank = 0;
    merges.each_item([&](const JsonValue& item) {
      if (rank++ == error.merge) item.fail("is wrong: " + std::string(error.what()));
    });
    throw;
  }
}

Tokenizer read_tokenizer_json(std::string text) {
  const JsonValue json = read_json(std::move(text));
  json.allow_only({"version", "truncation", "padding", "added_tokens", "normalizer",
                   "pre_tokenizer", "post_processor", "decoder", "model"});
  refuse_key(json, "version", "must be \"1.0\"",
             [](const JsonValue& value) { return value.string() == "1.0"; });
  for (const char* key : {"truncation", "padding", "normalizer"}) require_null(json, key);
  const JsonValue cut = byte_level(json, "pre_tokenizer");
  if (cut["add_prefix_space"].boolean())
    cut["add_prefix_space"].fail("must be false: fledge puts no space before a text");
  refuse_key(cut, "use_regex", "must be true, because fledge cuts a text as GPT-2 does",
             [](const JsonValue& value) { return value.boolean(); });
  byte_level(json, "decoder");
  if (!json.find("post_processor").is_null()) byte_level(json, "post_processor");
  std::vector<SpecialToken> special;
  if (!json.find("added_tokens").is_null()) special = read_added_tokens(json["added_tokens"]);
  return read_model(json["model"], std::move(special));
}

[[noreturn]] void fail_in_line(std::size_t line, const ValueError& error) {
  throw FormatError("line " + std::to_string(line) + ": " + error.what());
}

// Adds a merge for each line, and returns the number of the line of the first one.
std::size_t add_lines(NamedPairs& pairs, const std::string& text) {
  std::size_t number = 0, first = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    at = end + 1;
    if (++number == 1 && line.starts_with("#version")) {
      first = 2;
      continue;
    }
    try {
      pairs.add(line);
    } catch (const ValueError& error) {
      fail_in_line(number, error);
    }
  }
  return first;
}

Tokenizer read_vocabulary_and_merges(const Folder& folder) {
  if (folder.has("added_tokens.json"))
    throw FormatError(in_quotes(folder.file("added_tokens.json")) +
                      ": added tokens are read from tokenizer.json alone; save the tokenizer again "
                      "with AutoTokenizer");
  std::vector<SpecialToken> special;
  NamedPairs pairs = with_file(folder, "vocab.json", [&](std::string text) {
    const JsonValue json = read_json(std::move(text));
    if (json.has(end_of_text_token))
      special.push_back(
          {end_of_text_token, json[end_of_text_token].integer(0, most_symbols - 1), false, true});
    return or_fail(json, [&] { return NamedPairs(json, special); });
  });
  return with_file(folder, "merges.txt", [&](const std::string& text) {
    const std::size_t first = add_lines(pairs, text);
    try {
      return pairs.tokenizer(std::move(special));
    } catch (const MergeError& error) {
      fail_in_line(first + error.merge, error);
    }
  });
}

// transformers prefers what these keys say to what tokenizer.json says.
void check_tokenizer_config(const Folder& folder) {
  if (!folder.has("tokenizer_config.json")) return;
  with_file(folder, "tokenizer_config.json", [&](std::string text) {
    const JsonValue json = read_json(std::move(text));
    for (const char* key : {"add_prefix_space", "add_bos_token", "add_eos_token"})
      require_false(json, key);
    const JsonValue added = json.find("added_tokens_decoder");
    if (!added.is_null())
      added.each_member([](const std::string&, const JsonValue& token) {
        for (const char* key : {"single_word", "lstrip", "rstrip"}) require_false(token, key);
      });
    return true;
  });
}

}  // namespace

std::optional<Tokenizer> read_tokenizer_files(const Folder& folder) {
  const bool has_one_file = folder.has("tokenizer.json");
  if (!has_one_file && !folder.has("vocab.json") && !folder.has("merges.txt")) return std::nullopt;
  check_tokenizer_config(folder);
  return has_one_file ? with_file(folder, "tokenizer.json", read_tokenizer_json)
                      : read_vocabulary_and_merges(folder);
}

}  // namespace fledge
