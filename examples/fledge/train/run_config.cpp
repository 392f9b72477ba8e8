#include "examples/fledge/train/run_config.h"

#include "nn/gpt/config.h"
#include "nn/io/checksum.h"
#include "nn/io/utf8.h"
#include "nn/text/tokenizer_json.h"

namespace fledge::train {

namespace {

constexpr std::int64_t version = 4;

// A path may have any bytes, but a string of JSON is UTF-8. Other bytes, and %, are saved as %FF.
std::string encoded(std::string_view path) {
  std::string text;
  for (std::size_t at = 0; at < path.size();) {
    const CodePoint point = code_point_at(path, at);
    for (const char byte : path.substr(at, point.bytes))
      if (point.valid && byte != '%')
        text += byte;
      else
        text += "%" + hexadecimal(static_cast<unsigned char>(byte)).substr(14);
    at += point.bytes;
  }
  return text;
}

std::string decoded(const JsonValue& json) {
  const std::string text = json.string();
  std::string path;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      path += text[at];
      continue;
    }
    const std::string digits = text.substr(at + 1, 2);
    const std::optional<std::uint64_t> byte = unsigned_number(digits, 16);
    if (!byte || digits.size() != 2) json.fail("must have two hexadecimal digits after each %");
    path += static_cast<char>(*byte);
    at += 2;
  }
  return path;
}

// One path as a string ("": the built-in text), several as an array.
Json saved_paths(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (const std::string& path : paths) all.push_back(encoded(path));
  return all.size() > 1 ? Json(all) : Json(all.empty() ? "" : all[0]);
}

std::vector<std::string> read_paths(const JsonValue& json) {
  std::vector<std::string> paths;
  if (json.is_array())
    json.each_item([&](const JsonValue& path) { paths.push_back(decoded(path)); });
  else if (const std::string path = decoded(json); !path.empty())
    paths.push_back(path);
  return paths;
}

}  // namespace

MarkTokens saved_marks(const Tokenizer& tokenizer) {
  if (tokenizer.marks() != MarkTokens{}) return tokenizer.marks();
  const std::optional<Dim> end_of_text = tokenizer.end_of_text(),
                           end = end_of_text ? end_of_text : tokenizer.find("\n");
  return {end, end ? std::vector<Dim>{*end} : std::vector<Dim>{}, {}};
}

std::string config_text(const RunConfig& config, const Json::Members& notes) {
  TrainConfig settings = config.settings;
  const Json::Members own{{"version", version},
                          {"text", saved_paths(config.settings.texts)},
                          {"text_bytes", config.text_bytes},
                          {"text_hash", hexadecimal(config.text_hash)},
                          {"run", train_options(settings).saved()},
                          {"tokenizer", tokenizer_json(config.tokenizer)}};
  Json::Members all = mark_notes(saved_marks(config.tokenizer));
  all.insert(all.end(), notes.begin(), notes.end());
  return config_json(config.settings.sizes, own, all);
}

RunConfig run_config(const ModelConfig& config) {
  if (config.own.is_null())
    throw FormatError("it has no fledge tokenizer, so this model cannot be used with text");
  const JsonValue& own = config.own;
  const std::int64_t found = own["version"].integer(1, 1'000'000);
  if (found != version)
    own["version"].fail(
        "must be " + std::to_string(version) + ": got " + std::to_string(found) + "; " +
        (found < version ? older_advice : "use the fledge that wrote it, or train again"));
  own.allow_only({"version", "text", "text_bytes", "text_hash", "run", "tokenizer", "without"});
  TrainConfig settings;
  settings.sizes = config.sizes;
  train_options(settings).load(own["run"]);
  if (settings.training.schedule.warmup > settings.training.schedule.steps)
    own["run"].fail("must have a warm-up within its steps");
  settings.texts = read_paths(own["text"]);
  settings.corpus.seed = settings.training.seed;
  Tokenizer tokenizer = read_tokenizer(own["tokenizer"]);
  settings.corpus.tokens = tokenizer.kind();
  // GPT-2's tables may have rows without a token, and its byte pairs tokens without a row.
  if (tokenizer.size() > settings.sizes.vocabulary) {
    if (tokenizer.kind() != Tokens::bpe)
      own["tokenizer"].fail("has " + std::to_string(tokenizer.size()) + " symbols, the model " +
                            std::to_string(settings.sizes.vocabulary));
    tokenizer.limit_to(settings.sizes.vocabulary);
  }
  // The marks that a run has of itself are notes for others: its texts go on behind a line end.
  if (config.marks != saved_marks(tokenizer)) tokenizer.set_marks(config.marks);
  const std::optional<std::uint64_t> hash = unsigned_number(own["text_hash"].string(), 16);
  if (!hash) own["text_hash"].fail("must be a hexadecimal number");
  const auto bytes = own["text_bytes"].integer(1, std::int64_t{1} << 53);
  return {std::move(settings), std::move(tokenizer), static_cast<std::uint64_t>(bytes), *hash};
}

RunConfig run_config(const std::string& text) { return run_config(read_config(text)); }

}  // namespace fledge::train
