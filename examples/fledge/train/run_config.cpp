#include "examples/fledge/train/run_config.h"

#include <cerrno>

#include "examples/fledge/unusable.h"
#include "nn/gpt/config.h"
#include "nn/gpt/folder.h"
#include "nn/io/utf8.h"
#include "nn/text/tokenizer_json.h"

namespace fledge::train {

namespace {

constexpr std::int64_t version = 2;
constexpr std::string_view checksum_key = "\"checksum\": \"", no_checksum = "0000000000000000";

// The checksum of the whole text, with zeros in the place of the checksum itself.
std::string checksum_of_text(const std::string& text, std::size_t place) {
  std::string zeroed = text;
  return hexadecimal(hash_of(zeroed.replace(place, no_checksum.size(), no_checksum)));
}

// Only the key itself matches: inside strings of JSON the quotes are escaped.
std::size_t place_of_checksum(const std::string& text) {
  const std::size_t key = text.find(checksum_key);
  return key == std::string::npos ? key : key + checksum_key.size();
}

// A path may have any bytes, but a string of JSON is UTF-8. Other paths are saved in hexadecimal.
void write_path(JsonWriter& json, const std::string& path) {
  if (first_not_utf8(path) == std::string::npos) {
    json.field("text", path);
    return;
  }
  std::string digits;
  for (const char c : path)
    for (const int shift : {4, 0})
      digits += "0123456789abcdef"[static_cast<unsigned char>(c) >> shift & 15];
  json.field("text_hex", digits);
}

std::string path_of(const JsonValue& json) {
  if (!json.has("text_hex")) return json["text"].string();
  const JsonValue hex = json["text_hex"];
  const std::string digits = hex.string();
  if (json.has("text")) hex.fail("and text are two names of one file: only one may be there");
  if (digits.size() % 2 != 0 || digits.find_first_not_of("0123456789abcdef") != std::string::npos)
    hex.fail("must be pairs of hexadecimal digits");
  std::string path;
  for (std::size_t at = 0; at < digits.size(); at += 2)
    path += static_cast<char>(*unsigned_number(digits.substr(at, 2), 16));
  return path;
}

void write_settings(JsonWriter& json, TrainConfig settings) {
  write_path(json.begin_object(), settings.text_path);
  train_options(settings).save(json);
  json.end_object();
}

void read_settings(const JsonValue& json, TrainConfig& settings) {
  json["warmup"].integer(0, json["steps"].integer(1, std::int64_t{1'000'000'000}));
  train_options(settings).load(json, {"text", "text_hex"});
  settings.text_path = path_of(json);
  settings.corpus.seed = settings.training.seed;
}

}  // namespace

std::string config_text(const RunConfig& config) {
  std::string text = config_json(config.settings.sizes, [&](JsonWriter& json) {
    json.begin_object().field("version", version);
    json.field("id", config.id).field("checksum", std::string(no_checksum));
    json.field("text_bytes", config.text_bytes).field("text_hash", hexadecimal(config.text_hash));
    json.key("run");
    write_settings(json, config.settings);
    json.key("tokenizer");
    write_tokenizer(json, config.tokenizer);
    json.end_object();
  });
  const std::size_t place = place_of_checksum(text);
  return text.replace(place, no_checksum.size(), checksum_of_text(text, place));
}

std::string run_id(const RunConfig& config) {
  RunConfig lasting = config;
  lasting.id = "";
  lasting.settings.text_path = "";
  lasting.settings.training.schedule.steps = 0;
  lasting.settings.training.schedule.rate = 0;
  return hexadecimal(hash_of(config_text(lasting)));
}

RunConfig run_config(const ModelConfig& config) {
  const std::string& text = config.text;
  if (config.own.is_null())
    throw FormatError(
        "it has no part of fledge's: without the tokenizer of its text the "
        "model reads and writes no words");
  const JsonValue& own = config.own;
  const std::int64_t found = own["version"].integer(1, 1'000'000);
  if (found > version)
    own.fail("version " + std::to_string(found) +
             " is newer than this fledge, which reads version " + std::to_string(version) +
             ": use a newer fledge");
  if (found == 1)
    own.allow_only({"version", "text_bytes", "text_hash", "run", "tokenizer"});
  else
    own.allow_only({"version", "id", "checksum", "text_bytes", "text_hash", "run", "tokenizer"});
  TrainConfig settings;
  settings.sizes = config.sizes;
  read_settings(own["run"], settings);
  Tokenizer tokenizer = read_tokenizer(own["tokenizer"]);
  settings.corpus.tokens = tokenizer.kind();
  if (tokenizer.size() != settings.sizes.vocabulary)
    own["tokenizer"].fail("has " + std::to_string(tokenizer.size()) + " symbols, the model " +
                          std::to_string(settings.sizes.vocabulary));
  const std::optional<std::uint64_t> hash = unsigned_number(own["text_hash"].string(), 16);
  if (!hash) own["text_hash"].fail("must be a hexadecimal number");
  const auto bytes = own["text_bytes"].integer(0, std::int64_t{1} << 53);
  RunConfig run{std::move(settings), std::move(tokenizer), static_cast<std::uint64_t>(bytes),
                *hash};
  if (found == 1) {
    run.id = run_id(run);
    run.is_current = false;
    return run;
  }
  run.id = own["id"].string();
  const std::size_t place = place_of_checksum(text);
  if (place == std::string::npos || checksum_of_text(text, place) != own["checksum"].string())
    own["checksum"].fail("does not fit the contents: something in the file was changed");
  return run;
}

RunConfig run_config(const std::string& text) { return run_config(read_config(text)); }

RunConfig read_run_config(const Folder& folder) {
  const std::string path = folder.file("config.json");
  std::optional<std::string> read = folder.read("config.json", most_json_bytes);
  if (!read) throw FileError("read", path, ENOENT);
  return of_file(path, not_of_a_run, [&] { return run_config(*read); });
}

}  // namespace fledge::train
