#include "nn/train/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "nn/gpt/config.h"
#include "nn/gpt/weights.h"
#include "nn/io/checksum.h"
#include "nn/io/files.h"
#include "nn/io/json.h"
#include "nn/io/json_reader.h"
#include "nn/io/safetensors.h"

namespace fledge {

namespace {

constexpr std::int64_t version = 2;  // version 1 has no "id" and no "model"
constexpr const char* first_moment = "adamw.m.";
constexpr const char* second_moment = "adamw.v.";

std::string notes_text(const Trainer& trainer, const Trainer::State& state, const RunNotes& notes) {
  JsonWriter json;
  json.begin_object().field("version", version).field("step", trainer.steps_done());
  json.field("best_step", notes.best_step).field("best_loss", notes.best_loss);
  json.field("last_loss", notes.last_loss).field("since_best", notes.since_best);
  json.field("train_loss", notes.train_loss);
  json.field("text_hash", hexadecimal(notes.text_hash));
  json.field("id", notes.run_id).field("model", notes.model_checksum);
  json.field("csv_bytes", notes.csv_bytes).field("jsonl_bytes", notes.jsonl_bytes);
  json.key("gradients").begin_array();
  for (const AdamW::Moments& moments : state.moments) json.value(moments.t);
  return json.end_array().end_object().text();
}

}  // namespace

std::string checkpoint_bytes(const Trainer& trainer, const RunNotes& notes) {
  const Trainer::State state = trainer.state();
  std::vector<NamedArray> arrays;
  std::size_t p = 0;
  for (const auto& [name, tensor] : named_parameters(trainer.model())) {
    arrays.push_back({name, tensor.value()});
    const AdamW::Moments& moments = state.moments[p++];
    if (moments.t == 0) continue;
    arrays.push_back({first_moment + name, moments.m});
    arrays.push_back({second_moment + name, moments.v});
  }
  return bytes_with_checksum(arrays, {{"run", notes_text(trainer, state, notes)}});
}

namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw FormatError("the checkpoint " + problem);
}

double loss_of(const JsonValue& json) { return json.is_null() ? infinity : json.number(); }

std::uint64_t hash_in(const JsonValue& json) {
  const std::optional<std::uint64_t> hash = unsigned_number(json.string(), 16);
  if (!hash || json.string().size() != 16) json.fail("must have 16 hexadecimal digits");
  return *hash;
}

struct Run {
  RunNotes notes;
  std::int64_t step = 0;
  std::vector<Dim> update_counts;  // of each parameter: AdamW::Moments::t
};

Run run_of(const std::string& text) {
  constexpr std::int64_t most = std::int64_t{1} << 53;
  const JsonValue json = read_json(text);
  const std::int64_t found = json["version"].integer(1, most);
  if (found > version)
    refuse("has format version " + std::to_string(found) + "; this fledge reads version " +
           std::to_string(version) + ": use a newer fledge");
  json.allow_only({"version", "step", "best_step", "best_loss", "last_loss", "since_best",
                   "train_loss", "text_hash", "id", "model", "csv_bytes", "jsonl_bytes",
                   "gradients"});
  Run run;
  run.step = json["step"].integer(0, most);
  run.notes.best_step = json["best_step"].integer(0, run.step);
  run.notes.best_loss = loss_of(json["best_loss"]);
  run.notes.last_loss = loss_of(json["last_loss"]);
  run.notes.since_best = json["since_best"].integer(0, most);
  run.notes.train_loss = loss_of(json["train_loss"]);
  run.notes.text_hash = hash_in(json["text_hash"]);
  if (found > 1) {
    run.notes.run_id = json["id"].string();
    run.notes.model_checksum = json["model"].string();
  }
  run.notes.csv_bytes = static_cast<std::uint64_t>(json["csv_bytes"].integer(0, most));
  run.notes.jsonl_bytes = static_cast<std::uint64_t>(json["jsonl_bytes"].integer(0, most));
  json["gradients"].each_item(
      [&](const JsonValue& count) { run.update_counts.push_back(count.integer(0, most)); });
  return run;
}

// The numbers of a tensor. They must be finite, and not negative in the second moment, which is a
// mean of squares.
Array checked_array(std::string_view bytes, const StoredTensor& tensor) {
  if (tensor.dtype != "F32" && tensor.dtype != "F64")
    refuse("must have numbers of dtype F32 or F64: " + tensor.name + " has " + tensor.dtype);
  const bool is_square = tensor.name.starts_with(second_moment);
  Array array = stored_array(bytes, tensor);
  for (Dim i = 0; i < array.size(); ++i)
    if (!isfinite(array[i]) || (is_square && array[i] < 0))
      require<FormatError>(false, "the checkpoint", "its numbers must be finite",
                           is_square ? " and at least 0" : "", ": ", tensor.name, " has ", array[i],
                           " at element ", i);
  return array;
}

}  // namespace

std::uint64_t most_checkpoint_bytes(const LanguageModelSizes& sizes) {
  const double bytes = 8 * 3 * parameter_count(sizes) + static_cast<double>(most_header_bytes);
  return static_cast<std::uint64_t>(std::min(bytes, 1e15));
}

void require_checkpoint(std::string_view bytes, const LanguageModelSizes& sizes) {
  const StoredHeader header = stored_header(bytes);
  const double needed = 4 * parameter_count(sizes);  // bytes of the weights alone
  if (needed > static_cast<double>(bytes.size() - header.data) ||
      header.tensors.size() < weight_shapes(sizes).size())
    refuse("is of another model: config.json describes " + json_number(parameter_count(sizes)) +
           " numbers, and the file has " + std::to_string(header.tensors.size()) + " tensors in " +
           std::to_string(bytes.size() - header.data) + " bytes");
}

RunNotes load_checkpoint(std::string_view bytes, Trainer& trainer) {
  const StoredHeader header = stored_header(bytes);
  const auto run_text = header.metadata.find("run");
  if (run_text == header.metadata.end() || require_checksum(bytes, header).empty())
    refuse("must have \"run\" and \"checksum\" in its metadata: it was not written by fledge");
  const Run run = run_of(run_text->second);
  const auto named = named_parameters(trainer.model());
  if (run.update_counts.size() != named.size())
    refuse("is of " + std::to_string(run.update_counts.size()) + " parameters, the model has " +
           std::to_string(named.size()));

  NamedShapes expected;
  for (std::size_t p = 0; p < named.size(); ++p) {
    const auto& [name, tensor] = named[p];
    expected.emplace_back(name, tensor.shape());
    if (run.update_counts[p] == 0) continue;
    expected.emplace_back(first_moment + name, tensor.shape());
    expected.emplace_back(second_moment + name, tensor.shape());
  }
  std::map<std::string_view, const StoredTensor*> stored;
  for (const StoredTensor& tensor : header.tensors) stored[tensor.name] = &tensor;
  TensorDifferences differences;
  const auto tensors = find_tensors(std::move(stored), expected, differences);
  differences.require_none("the checkpoint is of another model");

  Trainer::State state{run.step, {}};
  std::vector<Array> weights;
  auto next = tensors.begin();
  for (const Dim count : run.update_counts) {
    weights.push_back(checked_array(bytes, **next++));
    AdamW::Moments moments{{}, {}, count};
    if (count > 0) {
      moments.m = checked_array(bytes, **next++);
      moments.v = checked_array(bytes, **next++);
    }
    state.moments.push_back(std::move(moments));
  }
  trainer.restore(state, weights);
  return run.notes;
}

}  // namespace fledge
