// The weights of a model in a file and in a folder: read as they were written, as other programs
// write them, and refused by the first difference. Folders without weights: tests/formats;
// those that lack or damage a file: command/damaged.txt; PyTorch's: programs/compare_dump.cpp.
#include "nn/gpt/weights.h"

#include <filesystem>

#include "nn/io/files.h"
#include "tests/nn/modules.h"
#include "tests/support/folder.h"

using namespace tests;
using testing::write_file;
using Desk = testing::Folder;
namespace fs = std::filesystem;

namespace {

LanguageModel model_with(std::uint64_t seed, Bias bias = Bias::with) {
  return drawn_model(
      {.vocabulary = 5, .context = 3, .layers = 2, .heads = 2, .width = 4, .bias = bias}, seed);
}

// Of Llama's shape: 4 heads of 2, which share 2 of keys.
LanguageModel llama_with(std::uint64_t seed, OutputHead head = OutputHead::tied) {
  LanguageModelSizes sizes{.vocabulary = 5, .context = 3, .layers = 2, .heads = 4, .width = 8};
  sizes.bias = Bias::without, sizes.recipe = llama();
  sizes.recipe.key_heads = 2, sizes.recipe.head = head;
  return drawn_model(sizes, seed);
}

std::vector<NamedArray> arrays_of(const LanguageModel& model, const std::string& prefix = "") {
  std::vector<NamedArray> arrays;
  for (const auto& [name, tensor] : named_parameters(model))
    arrays.push_back({prefix + name, tensor.value().clone()});
  return arrays;
}
NamedArray& named(std::vector<NamedArray>& arrays, const std::string& name) {
  return *std::find_if(arrays.begin(), arrays.end(),
                       [&](const NamedArray& a) { return a.name == name; });
}

Verdict same_weights(const LanguageModel& a, const LanguageModel& b) {
  const auto all = parameters(a), others = parameters(b);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const Verdict verdict = same_bits(all[i].value(), others.at(i).value()); !verdict)
      return verdict;
  return {};
}

LanguageModel model_read(const std::string& bytes, const LanguageModelSizes& sizes) {
  return read_weights({"model.safetensors", bytes, stored_header(bytes)}, sizes);
}

std::string file_of(const LanguageModel& model) {
  return stored_bytes(named_weights(model), {{"format", "pt"}});
}

void write_model(const std::string& folder, const LanguageModel& model,
                 const Json::Members& own = {}) {
  write_file(folder + "/config.json", config_json(model.sizes, own));
  write_file(folder + "/model.safetensors", file_of(model));
}

std::string reading_model(const std::string& folder) {
  return refusal<FileError>([&] { read_model(folder); });
}
std::string reading_wrong(const std::string& folder) {
  return refusal<FormatError>([&] { read_model(folder); });
}

}  // namespace

TEST_CASE("model weights: a model's file gives the same model, to the bit") {
  for (const Bias bias : {Bias::with, Bias::without}) {
    const LanguageModel model = model_with(1, bias);
    const std::string bytes = file_of(model);
    const LanguageModel other = model_read(bytes, model.sizes);
    CHECK_FALSE(same_weights(other, model_with(2, bias)));
    CHECK(same_weights(other, model));
    CHECK(file_of(other) == bytes);
  }
}

// modeling_llama.py: nn.Linear has the weights (out, in). That they mean the same is compared with
// PyTorch (programs/compare_dump.cpp).
TEST_CASE("model weights: Llama's names and shapes, and the same numbers, to the bit") {
  for (const OutputHead head : {OutputHead::tied, OutputHead::own}) {
    const LanguageModel model = llama_with(1, head);
    std::vector<NamedArray> arrays = named_weights(model);
    CHECK(arrays.size() == (head == OutputHead::own ? 21 : 20));
    const Array qkv = model.h[1].attn.c_attn.weight.value();
    struct Row {
      const char* name;
      Array weight;  // (in, more than out), whose columns from `first` on are the rows of the file
      Dim first, out;
    };
    for (const Row& row : {Row{"self_attn.q_proj", qkv, 0, 8},
                           {"self_attn.k_proj", qkv, 8, 4},
                           {"self_attn.v_proj", qkv, 12, 4},
                           {"self_attn.o_proj", model.h[1].attn.c_proj.weight.value(), 0, 8},
                           {"mlp.gate_proj", model.h[1].mlp.c_gate.weight.value(), 0, 24},
                           {"mlp.up_proj", model.h[1].mlp.c_fc.weight.value(), 0, 24},
                           {"mlp.down_proj", model.h[1].mlp.c_proj.weight.value(), 0, 8}}) {
      CAPTURE(row.name);
      const Array stored =
          named(arrays, "model.layers.1." + std::string(row.name) + ".weight").array;
      const Dim in = row.weight.shape().dim(0), columns = row.weight.shape().dim(1);
      REQUIRE(stored.shape() == Shape{row.out, in});
      bool same = true;
      for (Dim i = 0; i < stored.size(); ++i)
        same = same && stored[i] == row.weight[i % in * columns + row.first + i / in];
      CHECK(same);
    }
    CHECK(same_weights(model_read(stored_bytes(arrays), model.sizes), model));
    arrays.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", Array::ones({1})});
    CHECK(same_weights(model_read(stored_bytes(arrays), model.sizes), model));
  }
  LanguageModelSizes own = llama_with(1).sizes;
  own.recipe.head = OutputHead::own;
  CHECK(refuses<FormatError>([&] { model_read(file_of(llama_with(1)), own); }, "'lm_head.weight'",
                             "(5, 8)", "none"));
  std::vector<NamedArray> arrays = named_weights(llama_with(1));
  arrays.push_back({"lm_head.weight", Array::ones({5, 8})});
  CHECK(refuses<FormatError>([&] { model_read(stored_bytes(arrays), llama_with(1).sizes); },
                             "lm_head.weight", "model.embed_tokens.weight", "differ at 0"));
  CHECK(refuses<FormatError>(
      [&] { model_read(stored_bytes(arrays_of(llama_with(1))), llama_with(1).sizes); },
      "'model.embed_tokens.weight'", "none", "'h.0.attn.c_attn.weight'"));
}

TEST_CASE("model weights: biases of a model without biases are zeros") {
  const LanguageModelSizes sizes = model_with(1, Bias::without).sizes;
  std::vector<NamedArray> arrays = named_weights(model_with(1, Bias::without));
  CHECK(arrays.size() == 28);
  NamedArray& bias = named(arrays, "h.1.mlp.c_fc.bias");
  bias.array.write()[7] = Real(0.5);
  const std::string bytes = stored_bytes(arrays);
  CHECK(refuses<FormatError>([&] { model_read(bytes, sizes); }, "'h.1.mlp.c_fc.bias'", "zeros",
                             "number 7 is 0.5"));
}

TEST_CASE("model weights: prefixes of other programs, GPT-2's masks, the head of a tied model") {
  const LanguageModel model = model_with(1);
  for (const char* prefix : {"transformer.", "module.", "_orig_mod.", "_orig_mod.transformer.",
                             "module._orig_mod.transformer.", "_orig_mod.module."}) {
    INFO(prefix);
    CHECK(same_weights(model_read(stored_bytes(arrays_of(model, prefix)), model.sizes), model));
  }
  std::vector<NamedArray> arrays = arrays_of(model, "transformer.");
  for (const char* name :
       {"transformer.h.0.attn.bias", "transformer.h.11.attn.masked_bias", "h.1.attn.bias"})
    arrays.push_back({name, Array::full({1, 1, 3, 3}, Real(infinity))});
  arrays.push_back({"lm_head.weight", model.wte.weight.value()});
  const std::string bytes = stored_bytes(arrays);
  CHECK(same_weights(model_read(bytes, model.sizes), model));
  arrays.pop_back();  // lm_head.weight alone is the table
  named(arrays, "transformer.wte.weight").name = "lm_head.weight";
  CHECK(same_weights(model_read(stored_bytes(arrays), model.sizes), model));
}

TEST_CASE("model weights: the first difference is named") {
  using Arrays = std::vector<NamedArray>;
  const Array table = model_with(1).wte.weight.value();
  Array other = table.clone();
  other.write()[7] = 0;
  struct Row {
    std::function<void(Arrays&)> change;
    std::vector<std::string> parts;
  };
  const auto add = [](const std::string& name, const Array& array) {
    return [name, array](Arrays& a) { a.push_back({name, array}); };
  };
  for (const Row& row : std::vector<Row>{
           {[](Arrays& a) { named(a, "wte.weight").name = "wte"; },
            {"'wte.weight'", "(5, 4)", "none", "'wte'"}},
           {[](Arrays& a) {
              for (NamedArray& array : a) array.name.insert(0, "model.");
            },
            {"'wte.weight'",
             "'model.h.0.attn.c_attn.bias', 'model.h.0.attn.c_attn.weight', "
             "'model.h.0.attn.c_proj.bias', …"}},
           {[](Arrays& a) {
              named(a, "h.1.mlp.c_fc.weight").array = Array::zeros({16, 4});
            },
            {"'h.1.mlp.c_fc.weight'", "(4, 16)", "(16, 4)"}},
           {[](Arrays& a) { named(a, "wpe.weight").array.write()[1] = Real(infinity); },
            {"'wpe.weight'", "finite", "number 1"}},
           {[](Arrays& a) { named(a, "ln_f.bias").array.write()[2] = Real(quiet_nan); },
            {"'ln_f.bias'", "finite", "number 2"}},
           {[](Arrays& a) { a = arrays_of(model_with(1, Bias::without)); },
            {"'h.0.attn.c_attn.bias'", "(12)", "none"}},
           {add("h.2.attn.bias_", Array({}, {1})), {"'h.2.attn.bias_'", "not in the model"}},
           {add("transformer.ln_f.weight", Array::ones({4})), {"'ln_f.weight'", "twice"}},
           {add("lm_head.weight", other), {"lm_head.weight", "wte.weight", "differ at 7"}},
           {add("lm_head.weight", Array::zeros({4, 5})), {"'lm_head.weight'", "(5, 4)", "(4, 5)"}},
           {add("a\u202Eb", table), {"'a\\xe2\\x80\\xaeb'", "not in the model"}}}) {
    Arrays arrays = arrays_of(model_with(1));
    row.change(arrays);
    const std::string bytes = stored_bytes(arrays);
    for (const std::string& part : row.parts)
      CHECK(refuses<FormatError>([&] { model_read(bytes, model_with(2).sizes); }, part));
  }
  // A file that is too small for a model is refused before the model is built.
  LanguageModelSizes large = model_with(1).sizes;
  large.layers = 1000;
  large.width = 10'000;
  const std::string bytes = file_of(model_with(1));
  CHECK(refuses<FormatError>([&] { model_read(bytes, large); }, "1200130100000 numbers",
                             std::to_string(bytes.size()) + " bytes"));
}

TEST_CASE("model folder: what is written is read again; without a key the file decides on biases") {
  const Desk folder;
  const LanguageModel model = model_with(1, Bias::without);
  write_model(folder.path(), model, {{"steps", 7}});
  const SavedModel saved = read_model(folder.path());
  CHECK(saved.config.own["steps"].integer(0, 10) == 7);
  CHECK(same_weights(saved.model, model));
  std::string text = read_file(folder.path() + "/config.json");
  const std::size_t at = text.find("  \"bias\": false,\n");
  REQUIRE(at != std::string::npos);
  write_file(folder.path() + "/config.json", text.erase(at, 17));
  CHECK(read_model(folder.path()).model.sizes.bias == Bias::with);  // zeros, in the file
  write_file(folder.path() + "/model.safetensors", stored_bytes(arrays_of(model, "transformer.")));
  CHECK(read_model(folder.path()).model.sizes.bias == Bias::without);
}

TEST_CASE("model folder: for the folder of a cache, the error names the folder of the model") {
  const Desk cache;
  const auto snapshot = [&](const std::string& commit) { return cache / "snapshots/" + commit; };
  for (const char* commit : {"aaa", "bbb", "ccc"}) fs::create_directories(snapshot(commit));
  CHECK_THAT(reading_model(cache.path()), EndsWith("config.json': no such file or directory"));
  const std::string what = "'" + cache.path() + "' is the cache of a model: the model is in '";
  write_model(snapshot("aaa"), model_with(1));
  write_model(snapshot("bbb"), model_with(1));
  CHECK(reading_wrong(cache.path()) == what + snapshot("bbb") + "'");
  fs::create_directory(cache / "refs");
  write_file(cache / "refs/main", "aaa\n");
  CHECK(reading_wrong(cache.path()) == what + snapshot("aaa") + "'");
  write_file(cache / "refs/main", "../..");
  CHECK(reading_wrong(cache.path()) == what + snapshot("bbb") + "'");
  const Desk adapter;
  write_file(adapter / "adapter_config.json", "{}");
  CHECK_THAT(reading_wrong(adapter.path()), ContainsSubstring("adapter_config.json': it is of an"));
}

TEST_CASE("model folder: sizes are compared before a file is read or a model is built") {
  const Desk folder;
  const LanguageModelSizes sizes = model_with(1, Bias::without).sizes;
  const std::string config = folder.path() + "/config.json",
                    weights = folder.path() + "/model.safetensors";
  write_model(folder.path(), model_with(1, Bias::without));
  // 24 GB of weights are declared, and a kilobyte is there.
  write_file(config, config_json({.vocabulary = 5, .context = 3, .layers = 1000, .width = 512}));
  CHECK_THAT(reading_wrong(folder.path()), ContainsSubstring("the model has "));
  write_file(config, config_json(sizes));
  fs::resize_file(weights, std::uint64_t{1} << 40);  // sparse: nothing is on the disk
  CHECK_THAT(reading_model(folder.path()),
             ContainsSubstring(" bytes of numbers, and the file has "));
  fs::resize_file(config, std::uint64_t{1} << 40);
  CHECK_THAT(reading_model(folder.path()),
             ContainsSubstring("it has 1099511627776 bytes; at most 67108864 are read"));
}

TEST_CASE("model weights: zero biases of Starcoder2 without biases are no difference") {
  LanguageModelSizes sizes{.vocabulary = 5, .context = 3, .layers = 1, .heads = 2, .width = 8};
  sizes.bias = Bias::without, sizes.recipe.position = Position::rotary;
  const LanguageModel model = new_model(sizes);
  std::vector<NamedArray> arrays = named_weights(model);
  arrays.push_back({"model.layers.0.self_attn.q_proj.bias", Array::zeros({8})});
  arrays.push_back({"model.layers.0.mlp.c_fc.bias", Array::zeros({32})});
  CHECK(same_weights(model_read(stored_bytes(arrays), sizes), model));
}
