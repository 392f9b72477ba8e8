#include "nn/train/checkpoint.h"

#include "nn/gpt/weights.h"
#include "nn/io/checksum.h"

namespace fledge {

namespace {

constexpr const char *average_prefix = "average.", *last_prefix = "last.";

[[noreturn]] void refuse_run(const std::string& problem) {
  throw FormatError("the checkpoint " + problem);
}

void read_note(const JsonValue& json, std::int64_t& to) {
  to = json.integer(0, std::int64_t{1} << 53);
}
void read_note(const JsonValue& json, double& to) {
  to = json.is_null() ? infinity : json.number();
}

// What a run keeps of a parameter besides NAME, and whether NAME is of an earlier step than the last.
struct Parts {
  bool is_earlier, average, last;
};
Parts parts_of(const Trainer& trainer, const RunNotes& notes) {
  const bool averages = trainer.options().average > 0, is_earlier = notes.kept_step() != notes.step;
  return {is_earlier, averages && is_earlier, averages || is_earlier};
}

// The numbers of a tensor, which must be finite, and if they are means of squares not negative.
Array read_part(const ByteSource& file, const StoredTensor& tensor) {
  Array array = read_array(file, tensor);
  const bool is_square = tensor.name.starts_with("adamw.v.");
  for (Dim i = 0; is_square && i < array.size(); ++i)
    require<FormatError>(array[i] >= 0, "the checkpoint must have no negative mean of squares",
                         in_quotes(tensor.name), " has one, number ", i, " is ", array[i]);
  return array;
}

}  // namespace

std::string checkpoint_bytes(const Trainer& trainer, RunNotes notes, const std::vector<Array>& best,
                             const std::string& settings) {
  const Trainer::State state = trainer.state();
  notes.step = state.done;
  const Parts parts = parts_of(trainer, notes);
  std::vector<NamedArray> arrays;
  std::vector<Dim> gradients;
  for (const auto& [name, tensor] : named_parameters(trainer.model())) {
    const std::size_t p = gradients.size();
    Moments moments = state.moments[p];
    gradients.push_back(moments.t);
    arrays.push_back({name, parts.is_earlier ? best.at(p)
                            : parts.last     ? state.average[p]
                                             : tensor.value()});
    if (parts.average) arrays.push_back({average_prefix + name, state.average[p]});
    if (parts.last) arrays.push_back({last_prefix + name, tensor.value()});
    moments.each([&, &own = name](const std::string& prefix, const Array& array) {
      arrays.push_back({prefix + own, array});
    });
  }
  Json::Members members{{"gradients", gradients}};
  notes.visit([&](const char* key, const auto& value) { members.push_back({key, value}); });
  if (const auto& step = notes.unrecorded)
    members.push_back({"unrecorded", Json::object({{"loss", step->loss},
                                                   {"gradient_norm", step->gradient_norm},
                                                   {"rate", step->rate}})});
  return stored_bytes(std::move(arrays), {{"format", std::string(run_format)},
                                          {"notes", Json::object(members).text()},
                                          {"settings", settings}});
}

Checkpoint open_checkpoint(ByteSource file) {
  StoredHeader header = stored_header(file);
  const std::string format = header.text("format");
  if (!format.starts_with("fledge run")) refuse_run("must be written by fledge train");
  if (format != run_format)
    refuse_run("must have the format " + in_quotes(run_format) + ": got " + in_quotes(format) +
               "; use the fledge that wrote it, or train again");
  require_checksum(file, header.end);
  const JsonValue json = read_json(header.text("notes"));
  RunNotes notes;
  notes.visit([&](std::string_view key, auto& value) { read_note(json[key], value); });
  if (json.has("unrecorded")) {
    const JsonValue step = json["unrecorded"];
    notes.unrecorded = Trainer::Step{notes.step, step["loss"].number(),
                                     step["gradient_norm"].number(), step["rate"].number()};
  }
  std::string settings = header.text("settings");
  return {std::move(file), std::move(header), notes, std::move(settings)};
}

LanguageModel kept_model(const Checkpoint& checkpoint, const LanguageModelSizes& sizes) {
  WeightFile kept{"", checkpoint.file, checkpoint.header};
  std::erase_if(kept.header.tensors, [](const StoredTensor& tensor) {
    for (const char* prefix : {average_prefix, last_prefix, "adamw.", "muon."})
      if (tensor.name.starts_with(prefix)) return true;
    return false;
  });
  return read_weights(kept, sizes, StoredFor::run);
}

std::vector<Array> restore(const Checkpoint& checkpoint, Trainer& trainer) {
  const auto named = named_parameters(trainer.model());
  Trainer::State state = trainer.state();  // whose moments they are
  state.done = checkpoint.notes.step;
  std::size_t p = 0;
  read_json(checkpoint.header.text("notes"))["gradients"].each_item([&](const JsonValue& count) {
    const Dim gradients = count.integer(0, state.done);
    if (p++ < named.size())
      state.moments[p - 1] = {{}, {}, gradients, state.moments[p - 1].is_muon};
  });
  if (p != named.size())
    refuse_run("must be of a model with " + std::to_string(named.size()) +
               " parameters: it has another number of them");

  const Parts parts = parts_of(trainer, checkpoint.notes);
  std::vector<Array> kept(named.size()), weights(named.size());
  NamedShapes expected;
  std::vector<Array*> arrays;  // for their numbers
  for (p = 0; p < named.size(); ++p) {
    const auto expect = [&](const std::string& prefix, Array& array) {
      expected.emplace_back(prefix + named[p].name, named[p].tensor.shape());
      arrays.push_back(&array);
    };
    expect("", kept[p]);
    if (parts.average) expect(average_prefix, state.average[p]);
    if (parts.last) expect(last_prefix, weights[p]);
    state.moments[p].each(expect);
  }
  NamedTensors tensors;
  for (const StoredTensor& tensor : checkpoint.header.tensors) tensors[tensor.name] = &tensor;
  const auto found = find_tensors(std::move(tensors), expected);
  for (std::size_t i = 0; i < arrays.size(); ++i)
    *arrays[i] = read_part(checkpoint.file, *found[i]);
  if (!parts.average && !state.average.empty()) state.average = kept;
  trainer.restore(state, parts.last ? weights : kept);
  return kept;
}

}  // namespace fledge
