#include "nn/train/checkpoint.h"

#include <algorithm>

#include "nn/gpt/weights.h"
#include "nn/io/checksum.h"
#include "nn/io/json.h"
#include "nn/io/json_reader.h"

namespace fledge {

namespace {

constexpr std::int64_t version = 3;  // of the format
constexpr const char *first_moment = "adamw.m.", *second_moment = "adamw.v.";

[[noreturn]] void refuse(const std::string& problem) {
  throw FormatError("the checkpoint " + problem);
}

void read_note(const JsonValue& json, std::int64_t& to) {
  to = json.integer(0, std::int64_t{1} << 53);
}
void read_note(const JsonValue& json, double& to) {
  to = json.is_null() ? infinity : json.number();
}
void read_note(const JsonValue& json, std::string& to) { to = json.string(); }

Array read_array(const ByteSource& file, const StoredTensor& tensor) {
  Array array(tensor.shape);
  read_numbers(file, tensor, array.write());
  const bool is_square = tensor.name.starts_with(second_moment);
  for (Dim i = 0; is_square && i < array.size(); ++i)
    require<FormatError>(array[i] >= 0, "the checkpoint must have no negative mean of squares",
                         in_quotes(tensor.name), " has one, number ", i, " is ", array[i]);
  return array;
}

}  // namespace

std::string checkpoint_bytes(const Trainer& trainer, RunNotes notes) {
  const Trainer::State state = trainer.state();
  notes.step = state.done;
  std::vector<NamedArray> arrays;
  std::vector<Dim> gradients;
  for (const auto& [name, tensor] : named_parameters(trainer.model())) {
    const AdamW::Moments& moments = state.moments[gradients.size()];
    gradients.push_back(moments.t);
    arrays.push_back({name, tensor.value()});
    if (moments.t == 0) continue;
    arrays.push_back({first_moment + name, moments.m});
    arrays.push_back({second_moment + name, moments.v});
  }
  Json::Members run{{"version", version}, {"gradients", gradients}};
  notes.visit([&](const char* key, const auto& value) { run.emplace_back(key, value); });
  return stored_bytes(std::move(arrays), {{"run", Json::object(run).text()}});
}

RunNotes load_checkpoint(std::string_view bytes, Trainer& trainer) {
  const StoredHeader header = stored_header(bytes);
  if (header.text("run").empty())
    refuse("must have \"run\" in its metadata: it was not written by fledge");
  const JsonValue run = read_json(header.text("run"));
  if (run["version"].integer(1, 1'000'000) != version)
    refuse("must have format version " + std::to_string(version) + ": got " +
           run["version"].shown() + "; use the fledge that wrote it, or train again");
  require_checksum(bytes);
  RunNotes notes;
  notes.visit([&](std::string_view key, auto& value) { read_note(run[key], value); });
  const auto named = named_parameters(trainer.model());
  Trainer::State state{notes.step, {}};
  run["gradients"].each_item([&](const JsonValue& count) {
    if (state.moments.size() <= named.size())
      state.moments.push_back({{}, {}, count.integer(0, notes.step)});
  });
  if (state.moments.size() != named.size())
    refuse("must be of a model with " + std::to_string(named.size()) +
           " parameters: it has another number of them");

  NamedShapes expected;
  for (std::size_t p = 0; p < named.size(); ++p)
    for (const char* part : {"", first_moment, second_moment})
      if (*part == '\0' || state.moments[p].t > 0)
        expected.emplace_back(part + named[p].first, named[p].second.shape());
  const ByteSource file = bytes;
  NamedTensors named_tensors;
  for (const StoredTensor& tensor : header.tensors) named_tensors[tensor.name] = &tensor;
  const auto tensors = find_tensors(std::move(named_tensors), expected);

  std::vector<Array> weights;
  auto next = tensors.begin();
  for (AdamW::Moments& moments : state.moments) {
    weights.push_back(read_array(file, **next++));
    if (moments.t == 0) continue;
    moments.m = read_array(file, **next++);
    moments.v = read_array(file, **next++);
  }
  trainer.restore(state, weights);
  return notes;
}

}  // namespace fledge
