#include "nn/train/checkpoint.h"

#include "nn/io/files.h"
#include "nn/io/json.h"
#include "nn/io/json_reader.h"
#include "nn/io/safetensors.h"

namespace fledge::inline FLEDGE_BUILD {

namespace {

constexpr std::int64_t version = 1;
constexpr const char* first_moment = "adamw.m.";
constexpr const char* second_moment = "adamw.v.";

/// Of all that a checkpoint holds: names, shapes, numbers and the notes.
std::string checksum_of(std::string_view file, const StoredHeader& header, const std::string& run) {
  std::string all = run;
  for (const StoredTensor& tensor : header.tensors) {
    all += '\n' + tensor.name;
    for (const std::uint64_t size : tensor.sizes) all += ' ' + std::to_string(size);
  }
  return hexadecimal(hash_of(all.append(file.substr(header.data))));
}

std::string notes_text(const Trainer& trainer, const Trainer::State& state, const RunNotes& notes) {
  JsonWriter json;
  json.begin_object().field("version", version).field("step", trainer.steps_done());
  json.field("best_step", notes.best_step).field("best_loss", notes.best_loss);
  json.field("last_loss", notes.last_loss).field("since_best", notes.since_best);
  json.field("train_loss", notes.train_loss);
  json.field("settings", hexadecimal(notes.settings_hash));
  json.field("csv_bytes", notes.csv_bytes).field("jsonl_bytes", notes.jsonl_bytes);
  json.key("gradients").begin_array();
  for (const AdamW::Memory& memory : state.moments) json.value(memory.t);
  return json.end_array().end_object().text();
}

}  // namespace

std::string checkpoint_bytes(const Trainer& trainer, const RunNotes& notes) {
  const Trainer::State state = trainer.state();
  std::vector<NamedArray> arrays;
  std::size_t p = 0;
  for (const auto& [name, tensor] : named_parameters(trainer.model())) {
    arrays.push_back({name, tensor.value()});
    const AdamW::Memory& memory = state.moments[p++];
    if (memory.t == 0) continue;
    arrays.push_back({first_moment + name, memory.m});
    arrays.push_back({second_moment + name, memory.v});
  }
  const std::string run = notes_text(trainer, state, notes);
  const std::string unsealed = stored_bytes(arrays);
  const std::string seal = checksum_of(unsealed, stored_header(unsealed), run);
  return stored_bytes(std::move(arrays), {{"run", run}, {"checksum", seal}});
}

}  // namespace fledge::inline FLEDGE_BUILD
