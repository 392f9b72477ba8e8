// Files that mean other tokens than ours. Damaged files are in test_tokenizer_files_damaged.cpp.
#include <unistd.h>

#include "nn/text/tokenizer_files.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"

using namespace fledge;
using testing::write_file;

namespace {

// The error of a folder with this file, with DIR instead of its path; "accepted" without an error.
std::string error_of(const std::vector<std::pair<std::string, std::string>>& files) {
  const testing::Folder folder;
  for (const auto& [name, text] : files) write_file(folder / name, text);
  try {
    return read_tokenizer_files(Folder(folder.path())) ? "accepted" : "none";
  } catch (const std::runtime_error& error) {
    REQUIRE((dynamic_cast<const FormatError*>(&error) || dynamic_cast<const FileError*>(&error)));
    std::string message = error.what();
    const std::size_t at = message.find(folder.path());
    return at == std::string::npos ? message : message.replace(at, folder.path().size(), "DIR");
  }
}

// The members of the objects of a small tokenizer.json. "" is the file itself.
std::map<std::string, std::map<std::string, std::string>> small_parts() {
  const std::string byte_level = R"("ByteLevel")";
  return {{"",
           {{"version", R"("1.0")"},
            {"truncation", "null"},
            {"padding", "null"},
            {"normalizer", "null"}}},
          {"added_tokens[0]", {{"id", "3"}, {"content", R"("<e>")"}}},
          {"pre_tokenizer", {{"type", byte_level}, {"add_prefix_space", "false"}}},
          {"post_processor", {{"type", byte_level}}},
          {"decoder", {{"type", byte_level}}},
          {"model", {{"vocab", R"({"a":0,"b":1,"ab":2,"<e>":3})"}, {"merges", R"(["a b"])"}}}};
}

std::string json_of(const std::map<std::string, std::string>& members) {
  std::string text;
  for (const auto& [key, value] : members)
    text.append(text.empty() ? "{" : ",").append("\"" + key + "\":").append(value);
  return text + "}";
}

std::string small_json(const std::map<std::string, std::map<std::string, std::string>>& parts) {
  std::map<std::string, std::string> top;
  for (const auto& [name, members] : parts) {
    if (name.empty())
      top.insert(members.begin(), members.end());
    else if (name == "added_tokens[0]")
      top["added_tokens"] = "[" + json_of(members) + "]";
    else
      top[name] = json_of(members);
  }
  return json_of(top);
}

// The error of a file that differs in one value.
std::string error_with(const std::string& part, const std::string& key, const std::string& value) {
  auto parts = small_parts();
  parts[part][key] = value;
  return error_of({{"tokenizer.json", small_json(parts)}});
}

// A key of tokenizer.json: the value that the library takes for it if the file has none, values that
// mean the same tokens as ours, and values that do not.
//
// Sources: files of the repository huggingface/tokenizers, folder tokenizers/src. "required": the
// library refuses a file without the key; fledge does so only where that is said.
struct Field {
  const char *part, *key, *library_default;
  std::vector<std::string> accepted, refused;
  const char* source;
};

const std::vector<Field> fields{
    {"", "version", "none", {R"("1.0")"}, {R"("2.0")", "1"}, "tokenizer/serialization.rs"},
    {"",
     "truncation",
     "null",
     {"null", R"({"max_length":9})"},
     {},
     "tokenization_utils_fast.py: set_truncation_and_padding() sets both anew in each call"},
    {"", "padding", "null", {"null", R"({"pad_id":0})"}, {}, "as truncation"},
    {"", "normalizer", "null", {"null"}, {R"({"type":"NFC"})"}, "normalizers/mod.rs"},
    {"", "other", "ignored", {}, {"null"}, "tokenizer/serialization.rs: unknown keys are ignored"},
    {"pre_tokenizer",
     "type",
     "required",
     {R"("ByteLevel")"},
     {R"("Whitespace")", R"("Split")", "1"},
     "pre_tokenizers/mod.rs"},
    {"pre_tokenizer",
     "add_prefix_space",
     "required",
     {"false"},
     {"true", "null"},
     "pre_tokenizers/byte_level.rs; true in ByteLevel::default()"},
    {"pre_tokenizer",
     "trim_offsets",
     "required",
     {"true", "false"},
     {},
     "pre_tokenizers/byte_level.rs: of offsets, not of tokens"},
    {"pre_tokenizer",
     "use_regex",
     "true",
     {"true"},
     {"false"},
     "pre_tokenizers/byte_level.rs, default_true()"},
    {"post_processor",
     "type",
     "required",
     {R"("ByteLevel")"},
     {R"("TemplateProcessing")", R"("RobertaProcessing")"},
     "processors/mod.rs"},
    {"decoder",
     "type",
     "required",
     {R"("ByteLevel")"},
     {R"("Fuse")", R"("Metaspace")"},
     "decoders/mod.rs"},
    {"model",
     "type",
     "BPE",
     {R"("BPE")"},
     {R"("WordLevel")", R"("WordPiece")", R"("Unigram")"},
     "models/mod.rs, ModelUntagged"},
    {"model", "dropout", "null", {"null", "0", "0.0"}, {"0.1"}, "models/bpe/model.rs, BpeBuilder"},
    {"model", "unk_token", "null", {"null"}, {R"("<e>")"}, "models/bpe/model.rs, BpeBuilder"},
    {"model",
     "continuing_subword_prefix",
     "null",
     {"null", R"("")"},
     {R"("##")"},
     "models/bpe/model.rs, BpeBuilder"},
    {"model",
     "end_of_word_suffix",
     "null",
     {"null", R"("")"},
     {R"("</w>")"},
     "models/bpe/model.rs, BpeBuilder"},
    {"model", "fuse_unk", "false", {"false"}, {"true"}, "models/bpe/model.rs, BpeBuilder"},
    {"model", "byte_fallback", "false", {"false"}, {"true"}, "models/bpe/model.rs, BpeBuilder"},
    {"model", "ignore_merges", "false", {"false"}, {"true"}, "models/bpe/model.rs, BpeBuilder"},
    {"model", "other", "ignored", {}, {"null"}, "models/bpe/serialization.rs"},
    {"added_tokens[0]",
     "single_word",
     "required",
     {"false"},
     {"true"},
     "tokenizer/added_vocabulary.rs, AddedToken; false in AddedToken::default()"},
    {"added_tokens[0]",
     "lstrip",
     "required",
     {"false"},
     {"true"},
     "tokenizer/added_vocabulary.rs, AddedToken; false in AddedToken::default()"},
    {"added_tokens[0]",
     "rstrip",
     "required",
     {"false"},
     {"true"},
     "tokenizer/added_vocabulary.rs, AddedToken; false in AddedToken::default()"},
    {"added_tokens[0]",
     "normalized",
     "required",
     {"false", "true"},
     {"0"},
     "tokenizer/added_vocabulary.rs: two passes, refresh_added_tokens(); true in default()"},
    {"added_tokens[0]",
     "special",
     "required",
     {"false", "true"},
     {},
     "tokenizer/added_vocabulary.rs; false in AddedToken::default()"},
};

}  // namespace

TEST_CASE("tokenizer files: what means other tokens is refused, and the key is named") {
  CHECK(error_of({{"tokenizer.json", small_json(small_parts())}}) == "accepted");
  for (const Field& field : fields) {
    const std::string path = field.part + std::string(*field.part ? "." : "") + field.key;
    for (const std::string& value : field.accepted)
      CHECK(error_with(field.part, field.key, value) == "accepted");
    for (const std::string& value : field.refused) {
      INFO(path << " = " << value);
      const std::string error = error_with(field.part, field.key, value);
      CHECK_THAT(error, StartsWith("'DIR/tokenizer.json': line 1, column "));
      CHECK_THAT(error, ContainsSubstring(path));
    }
  }
  CHECK_THAT(
      error_with("model", "byte_fallback", "true"),
      EndsWith("model.byte_fallback must be false, because fledge does not have it: got true"));
  for (const char* part : {"pre_tokenizer", "decoder"}) {
    auto parts = small_parts();
    parts.erase(part);
    CHECK_THAT(error_of({{"tokenizer.json", small_json(parts)}}),
               EndsWith("the text must have a key '" + std::string(part) + "'"));
    parts[""][part] = "null";
    CHECK_THAT(error_of({{"tokenizer.json", small_json(parts)}}),
               EndsWith(std::string(part) + " must be of type ByteLevel: got null"));
  }
  auto parts = small_parts();
  parts.erase("post_processor");
  CHECK(error_of({{"tokenizer.json", small_json(parts)}}) == "accepted");
}

TEST_CASE("tokenizer files: tokenizer_config.json may not change the tokens") {
  // transformers: GPT2TokenizerFast puts add_prefix_space into the pre_tokenizer, GPT2Tokenizer puts
  // tokens before and after each text for add_bos_token and add_eos_token.
  for (const std::string key : {"add_prefix_space", "add_bos_token", "add_eos_token"})
    CHECK_THAT(error_of({{"tokenizer.json", small_json(small_parts())},
                         {"tokenizer_config.json", "{\"" + key + "\":true}"}}),
               StartsWith("'DIR/tokenizer_config.json': line 1, column ") &&
                   EndsWith(key + " must be false, because fledge does not have it: got true"));
}

TEST_CASE("tokenizer files: GPT-2's cut may be written as Split and ByteLevel") {
  const std::string gpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+)"
                           R"(|\\s+(?!\\S)|\\s+)",
                    byte_level =
                        R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false})";
  const auto split = [](const std::string& regex, const std::string& more) {
    return R"({"type":"Split","pattern":{"Regex":")" + regex + "\"}," + more + "}";
  };
  const auto error = [](const std::string& cuts) {
    auto parts = small_parts();
    parts.erase("pre_tokenizer");
    parts[""]["pre_tokenizer"] = R"({"type":"Sequence","pretokenizers":[)" + cuts + "]}";
    return error_of({{"tokenizer.json", small_json(parts)}});
  };
  const std::string isolated = R"("behavior":"Isolated","invert":false)", cut = "," + byte_level;
  CHECK(error(split(gpt2, isolated) + cut) == "accepted");
  CHECK(error(split(gpt2, R"("behavior":"Removed","invert":true)") + cut) == "accepted");
  CHECK(error(split(R"('(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+)"
                    R"(|\\s+(?!\\S)|\\s+)",
                    isolated) +
              cut) == "accepted");
  for (const auto& [cuts, problem] :
       {std::pair{split(R"(\\s+)", isolated) + cut, "pattern.Regex must be GPT-2's pattern: got"},
        {split(gpt2, R"("behavior":"Removed")") + cut, "behavior must be Isolated: got"},
        {split(gpt2, isolated), "must be Split and ByteLevel: got 1 parts"},
        {byte_level + cut, "pretokenizers[0].type must be Split: got"},
        {split(gpt2, isolated) + R"(,{"type":"ByteLevel","add_prefix_space":true})",
         "add_prefix_space must be false"},
        {split(gpt2, isolated) + R"(,{"type":"Digits"})", "type must be ByteLevel"}})
    CHECK_THAT(error(cuts), ContainsSubstring(problem));
}

TEST_CASE("tokenizer files: vocabularies and merges that do not fit together") {
  const auto vocabulary = [](const std::string& text) {
    return error_with("model", "vocab", text);
  };
  CHECK_THAT(vocabulary(R"({"a":0,"b":0})"),
             EndsWith("model.vocab.b is number 0, as another symbol is"));
  CHECK_THAT(vocabulary(R"({"a":1000000})"),
             EndsWith("model.vocab.a must be a whole number from 0 to 999999: got 1000000"));
  CHECK_THAT(vocabulary(R"({"a":0,"b":1,"ab":2,"x y":4})"),
             EndsWith("model.vocab.x y is the number of 'x y', which stands for no bytes; special "
                      "tokens stand in added_tokens"));
  CHECK_THAT(vocabulary(R"({"a":0,"b":1,"ab":2,"<e>":4})"),
             EndsWith("model.vocab.<e> is number 4, and the special token '<e>' is number 3"));
  CHECK_THAT(
      vocabulary(R"({"a":0,"b":1,"ab":3})"),
      EndsWith("model.vocab is wrong: Tokenizer: the special token '<e>' has number 3, which "
               "is that of 'ab'"));
  CHECK_THAT(vocabulary(R"({"a":0,"b":1,"ab":2})"), Equals("accepted"));
  for (const char* wrong : {"[]", "null", R"({"a":-1})", R"({"a":0.5})", R"({"a":"0"})",
                            R"({"a":0,"a":1})", R"({"":0})"})
    CHECK_THAT(vocabulary(wrong), StartsWith("'DIR/tokenizer.json': line 1, column "));

  const auto merges = [](const std::string& text) { return error_with("model", "merges", text); };
  CHECK_THAT(merges(R"(["a b","c a"])"),
             EndsWith("model.merges[1] is wrong: merges: the vocabulary has no symbol 'c'"));
  CHECK_THAT(merges(R"(["b a"])"),
             EndsWith("merge 0 is of symbols 1 and 0: no symbol has the bytes of both"));
  CHECK_THAT(merges(R"(["a b",["a","b"]])"), EndsWith("merge 1 is merge 0 again: symbols 0 and 1"));
  CHECK_THAT(merges(R"(["a  b"])"), EndsWith("with one space between them: got 'a  b'"));
  for (const char* wrong : {"null", "{}", "[1]", R"([["a"]])", R"([["a","b","ab"]])", R"(["ab"])",
                            R"([["a",1]])", R"([""])"})
    CHECK_THAT(merges(wrong), StartsWith("'DIR/tokenizer.json': line 1, column "));
}

TEST_CASE("tokenizer files: merges.txt is refused with the number of the line") {
  const auto error = [](const std::string& merges) {
    return error_of({{"vocab.json", R"({"a":0,"b":1,"ab":2})"}, {"merges.txt", merges}});
  };
  CHECK(error("#version: 0.2\na b\n") == "accepted");
  CHECK(
      error("#version: 0.2\na b\n\n") ==
      "'DIR/merges.txt': line 3: merges: a merge is two symbols with one space between them: got ''");
  CHECK(error("a b\na c\n") ==
        "'DIR/merges.txt': line 2: merges: the vocabulary has no symbol 'c'");
  CHECK(error("a b\r\n#version: 0.2\r\n") ==
        "'DIR/merges.txt': line 2: merges: the vocabulary has no symbol '#version:'");
  CHECK(
      error("b a\n") ==
      "'DIR/merges.txt': line 1: BytePairs: merge 0 is of symbols 1 and 0: no symbol has the bytes "
      "of both");
  CHECK(error_of({{"vocab.json", "{}"}, {"merges.txt", ""}}) ==
        "'DIR/vocab.json': line 1, column 1: the text must have at least one symbol");
  CHECK(error_of({{"vocab.json", R"({"a":0,"é b":1})"}, {"merges.txt", ""}})
            .starts_with("'DIR/vocab.json': line 1, column "));
  CHECK(error_of({{"vocab.json", R"({"a":0})"}}) ==
        "cannot read 'DIR/merges.txt': no such file or directory");
  CHECK(error_of({{"merges.txt", ""}}) ==
        "cannot read 'DIR/vocab.json': no such file or directory");
}

TEST_CASE("tokenizer files: a file of more than 64 MB is not read") {
  for (const std::string name : {"tokenizer.json", "vocab.json", "merges.txt"}) {
    const testing::Folder folder;
    write_file(folder / "vocab.json", R"({"a":0})");
    write_file(folder / name, "{}");
    REQUIRE(truncate((folder / name).c_str(), (64 << 20) + 1) == 0);
    CHECK_THROWS_AS(read_tokenizer_files(Folder(folder.path())), FileError);
  }
}
