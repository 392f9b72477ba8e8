// Files that are read, files that are refused, and what texts give, as text: tests/formats/*.txt.
//
//   == FORMAT accepted             the files that follow are read
//   == FORMAT refused PART | PART  they are refused, and the message has each of these parts
//   good FILE                      this file is accepted
//   FIND -> REPLACE                it with one change
//   FILE                           a whole file
//     PART | PART                  what the message about the file above it has besides
//   == FUNCTION gives
//   good GIVEN                     what the function is given besides the texts that follow
//   TEXT -> RESULT                 what it says about a text; the message, if it refuses it
//
// \x0a is a byte, (nothing) is a file without bytes, and a line that begins with # is a comment.
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "nn/gpt/config.h"
#include "nn/gpt/weights.h"
#include "nn/inspect/ngram_losses.h"
#include "nn/io/checksum.h"
#include "nn/io/json.h"
#include "nn/text/corpus.h"
#include "nn/text/pieces.h"
#include "nn/text/tokenizer_files.h"
#include "nn/text/tokenizer_json.h"
#include "tests/support/folder.h"
#include "tests/support/given.h"
#include "tests/support/json_reader.h"
#include "tests/support/refuses.h"
#include "tests/support/stored_file.h"

using namespace fledge;
using testing::bytes_of_line;
using tests::refusal;

namespace {

struct FileCase {
  std::string where, format, bytes, given;
  bool is_accepted = false, has_result = false;
  std::vector<std::string> parts = {};  // of the message; the result
};

/// Texts with `between` between them; no text gives none.
std::vector<std::string> split_text(std::string text, const std::string& between) {
  std::vector<std::string> parts;
  for (std::size_t end = 0; !text.empty(); text.erase(0, end)) {
    end = std::min(text.find(between), text.size());
    parts.push_back(text.substr(0, end));
    end += end < text.size() ? between.size() : 0;
  }
  return parts;
}

void append_cases(const std::filesystem::path& path, std::vector<FileCase>& cases) {
  std::ifstream file(path);
  REQUIRE(file);
  FileCase section;
  std::string line, good;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::size_t arrow = line.find(" -> ");
    if (line.empty() || line[0] == '#') continue;
    section.where = path.filename().string() + ":" + std::to_string(number);
    if (line.starts_with("== ")) {
      const bool is_accepted = line.ends_with(" accepted");
      section.has_result = line.ends_with(" gives");
      const std::size_t end = line.find(is_accepted          ? " accepted"
                                        : section.has_result ? " gives"
                                                             : " refused");
      REQUIRE(end != line.npos);
      section.format = line.substr(3, end - 3);
      section.is_accepted = is_accepted;
      section.parts = split_text(line.substr(std::min(end + 9, line.size())), " | ");
    } else if (line.starts_with("  ")) {
      for (std::string& part : split_text(line.substr(2), " | "))
        cases.back().parts.push_back(std::move(part));
    } else if (line.starts_with("good ")) {
      good = bytes_of_line(line.substr(5));
      if (!section.has_result) cases.push_back({section.where, section.format, good, "", true});
    } else if (section.has_result) {
      REQUIRE(arrow != line.npos);
      cases.push_back(section);
      cases.back().given = good;
      cases.back().bytes = bytes_of_line(line.substr(0, arrow));
      cases.back().parts = {bytes_of_line(line.substr(arrow + 4))};
    } else {
      cases.push_back(section);
      std::string& bytes = cases.back().bytes = good;
      const std::string find = bytes_of_line(line.substr(0, arrow));
      const std::size_t at = bytes.find(find);
      INFO(section.where);
      REQUIRE((arrow == line.npos || at != bytes.npos));
      if (arrow == line.npos)
        bytes = find;
      else
        bytes.replace(at, find.size(), bytes_of_line(line.substr(arrow + 4)));
    }
  }
}

// "NAME TEXT | NAME TEXT": the tokenizer of a folder with these files.
Tokenizer read_files(const std::string& files) {
  const testing::Folder folder;
  for (const std::string& file : split_text(files, " | ")) {
    const std::size_t blank = file.find(' ');
    testing::write_file(folder / file.substr(0, blank), file.substr(blank + 1));
  }
  std::optional<Tokenizer> read = read_tokenizer_files(Folder(folder.path()));
  if (!read) throw FormatError("there is no tokenizer");
  return *std::move(read);
}

/// What a reader of a format says about a file; "" when it accepts it.
template <class E, class Read>
std::function<std::string(const std::string&)> reader(Read read) {
  return [read](const std::string& file) {
    const std::string message = refusal<E>([&] { read(file); });
    return message == "<nothing was thrown>" ? "" : message;
  };
}

constexpr const char* accepted = "<nothing was thrown>";
const std::map<std::string, std::function<std::string(const std::string&)>> readers{
    {"json", reader<FormatError>([](const std::string& file) {
       const bool theirs =
           refusal<testing::JsonError>([&] { testing::strict_json(file); }) == accepted;
       const bool ours = refusal<FormatError>([&] { read_json(file); }) == accepted;
       if (ours != theirs) throw std::logic_error("another reader says otherwise");
       read_json(file);
     })},
    {"safetensors", reader<FormatError>([](const std::string& file) {
       const std::size_t plus = file.rfind("} +");  // so many bytes of zeros behind the header
       const std::size_t zeros = plus == file.npos ? 0 : std::stoul(file.substr(plus + 3));
       stored_header(
           tests::stored_file(file.substr(0, plus == file.npos ? plus : plus + 1), zeros));
     })},
    {"bytes of safetensors",
     reader<FormatError>([](const std::string& file) { stored_header(file); })},
    {"characters",
     reader<ValueError>([](const std::string& file) { Tokenizer(Tokens::character, file); })},
    {"added tokens",
     reader<FormatError>([](const std::string& file) { read_added_tokens(read_json(file)); })},
    {"fledge's tokenizer",
     reader<FormatError>([](const std::string& file) { read_tokenizer(read_json(file)); })},
    {"tokenizer files", reader<FormatError>([](const std::string& files) { read_files(files); })},
    {"config.json", reader<FormatError>([](const std::string& file) { read_config(file); })},
    {"keys of config.json",
     reader<FormatError>([](const std::string& file) { check_config_keys(read_json(file)); })},
    {"folder with this file", reader<FormatError>([](const std::string& file) {
       const testing::Folder folder;
       const bool is_good = file == weights_name;
       testing::write_file(folder / file, is_good ? tests::stored_file("{}") : "\x80");
       try {
         open_weight_file(Folder(folder.path()));
       } catch (const FormatError& error) {
         throw FormatError(error.what() + ("; " + error.advice));
       }
     })}};

// "KIND of TEXT"; files with their names, "vocab.json {…} | merges.txt a b"; or fledge's own JSON,
// with " limited to N" behind it.
Tokenizer tokenizer_of(const std::string& given) {
  if (given.find(".json ") < given.find('{')) return read_files(given);
  const std::size_t of = given.find(" of "), limit = given.find(" limited to ");
  if (given[0] != '{') return {tokens_named(given.substr(0, of)), given.substr(of + 4), 260};
  Tokenizer tokenizer = read_tokenizer(read_json(given.substr(0, limit)));
  if (limit != given.npos) tokenizer.limit_to(std::stoi(given.substr(limit + 12)));
  return tokenizer;
}

template <class Range, class F>
std::string joined_with(const std::string& between, const Range& range, F shown) {
  std::string text;
  for (const auto& item : range) text.append(text.empty() ? "" : between).append(shown(item));
  return text;
}
const auto number_text = [](Dim number) { return std::to_string(number); };

std::string corpus_report(const std::string& given, const std::string& text) {
  std::istringstream words(given);
  std::string reading, kind, valid;
  words >> reading >> kind >> valid;
  CorpusOptions options{.symbols = 300, .valid = std::stod(valid)};
  options.reading = reading == "lines" ? Reading::lines : Reading::stream;
  options.tokens = tokens_named(kind);
  const Corpus corpus = read_corpus(text, options);
  const CorpusFacts& facts = corpus.facts;
  return corpus.tokenizer.decode(corpus.train.tokens) + "|" +
         corpus.tokenizer.decode(corpus.valid.tokens) + "|" + std::to_string(facts.bytes) +
         " bytes, " + std::to_string(facts.documents) + " documents, " +
         std::to_string(facts.symbols) + " symbols, " + std::to_string(facts.unseen) + " unseen, " +
         "repeated " + json_number(facts.repeated_share);
}

using Text = const std::string&;
const std::map<std::string, std::function<std::string(Text given, Text text)>> functions{
    {"pieces of GPT-2",
     [](Text, Text text) {
       std::vector<std::string> pieces;
       for (std::size_t at = 0; at < text.size(); at += pieces.back().size())
         pieces.emplace_back(piece_at(text, at));
       return joined_with("|", pieces, [](Text piece) { return piece; });
     }},
    {"word pieces",
     [](Text, Text text) {
       return joined_with("|", word_pieces(text), [](auto& piece) { return piece.symbol; });
     }},
    {"numbers",
     [](Text given, Text text) {
       return joined_with(" ", tokenizer_of(given).encode(text), number_text);
     }},
    {"text of numbers",
     [](Text given, Text text) {
       std::istringstream words(text);
       return tokenizer_of(given).decode({std::istream_iterator<Dim>(words), {}});
     }},
    {"text of its numbers",
     [](Text given, Text text) {
       const Tokenizer tokenizer = tokenizer_of(given);
       return tokenizer.decode(tokenizer.encode(text));
     }},
    {"number of a symbol",
     [](Text given, Text text) {
       const std::optional<Dim> found = tokenizer_of(given).find(text);
       return found ? std::to_string(*found) : "none";
     }},
    {"unknown symbols",
     [](Text given, Text text) {
       const UnknownSymbols found = tokenizer_of(given).unknown_symbols(text);
       return std::to_string(found.unknown) + " of " + std::to_string(found.all) + " from " +
              std::to_string(found.first) + ": " +
              joined_with(" ", found.counts,
                          [](auto& c) { return c.first + "=" + std::to_string(c.second); }) +
              "|" + found.rest;
     }},
    {"corpus", corpus_report},
    {"safetensors numbers",
     [](Text given, Text text) {
       const Dtype& type = *find_dtype(given);
       const std::string bytes = "x" + text;  // at an odd address
       std::vector<Real> numbers(text.size() / type.bytes);
       const std::size_t read =
           type.read(bytes.data() + 1, numbers.size(), type.most, numbers.data());
       const bool stops = read < numbers.size();
       numbers.resize(read);
       const std::string shown =
           joined_with(" ", numbers, [](Real number) { return json_number(value_of(number)); });
       return shown + (stops && !shown.empty() ? " stop" : stops ? "stop" : "");
     }},
    {"copied share",
     [](Text given, Text text) {
       const std::size_t bar = text.find(" | ");
       return json_number(
           copied_share({text.substr(0, bar)}, text.substr(bar + 3), std::stoul(given)));
     }},
    {"json number written",
     [](Text given, Text text) {
       const double number = std::stod(text);
       return given == "float" ? json_number(static_cast<float>(number)) : json_number(number);
     }},
    {"whole number of 64 bits",
     [](Text given, Text text) {
       const auto number = unsigned_number(text, std::stoi(given));
       return number ? std::to_string(*number) : "none";
     }},
    {"lines",
     [](Text, Text text) {
       return joined_with("|", lines_of(text), [](auto line) { return std::string(line); });
     }},
    {"bytes as characters", [](Text, Text text) { return characters_of_bytes(text); }},
    {"characters as bytes",
     [](Text, Text text) { return bytes_of_characters(text).value_or("none"); }},
    {"escaped name", [](Text, Text text) { return escaped_name(text); }},
    {"escaped bytes that are not UTF-8",
     [](Text, Text text) {
       const bool is_utf8 = first_not_utf8(text) == text.npos;
       return (is_utf8 ? "" : std::to_string(first_not_utf8(text)) + ": ") + utf8_text(text);
     }},
    {"json string written", [](Text, Text text) { return json_string(text); }},
    {"json string read", [](Text, Text text) {
       const std::string read = read_json(text).string();
       if (read != testing::strict_json(text).string())
         return std::string("another reader differs");
       return read;
     }}};

std::string result_of(const FileCase& c) {
  try {
    return functions.at(c.format)(c.given, c.bytes);
  } catch (const ValueError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("formats: files are read, or refused with the parts of a message; texts give results") {
  std::vector<FileCase> cases;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(FLEDGE_SOURCE_DIR) + "/tests/formats"))
    if (entry.path().extension() == ".txt") append_cases(entry.path(), cases);
  std::map<std::string, std::array<int, 2>> seen;
  for (const FileCase& c : cases) {
    INFO(c.where << ", " << c.format << ": " << escaped_name(c.bytes));
    if (c.has_result) {
      ++seen[c.format][0];
      CHECK(result_of(c) == c.parts.at(0));
      continue;
    }
    const std::string message = readers.at(c.format)(c.bytes);
    INFO("says: " << message);
    CHECK(message.empty() == c.is_accepted);
    CHECK((c.is_accepted || !c.parts.empty()));
    CHECK(!message.starts_with("<"));  // an exception of another type
    CHECK(message.find_first_of("\x1b\n\r\t") == message.npos);
    for (const std::string& part : c.parts) CHECK_THAT(message, ContainsSubstring(part));
    ++seen[c.format].at(c.is_accepted);
  }
  for (const auto& [format, read] : readers) {
    INFO(format);
    CHECK(seen[format][0] > 0);
    CHECK(seen[format][1] > 0);
  }
  for (const auto& [name, function] : functions) CHECK(seen[name][0] > 0);
}
