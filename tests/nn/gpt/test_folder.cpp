#include "nn/gpt/folder.h"

#include <cstdlib>
#include <filesystem>

#include "tests/nn/modules.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/dump.h"
#include "tests/support/folder.h"
#include "tests/support/refusal.h"

using namespace tests;
using testing::write_file;
using Desk = testing::Folder;
namespace fs = std::filesystem;

namespace {

constexpr LanguageModelSizes stored_sizes{
    .vocabulary = 5, .context = 3, .layers = 2, .heads = 2, .width = 4, .bias = Bias::without};

LanguageModel stored_model(std::uint64_t seed) {
  Rng rng(seed);
  LanguageModel model(stored_sizes, rng);
  redraw(model, seed);
  return model;
}

void write_model(const std::string& folder, const LanguageModel& model,
                 const Json::Members& own = {}) {
  write_file(folder + "/config.json", config_json(model.sizes, own));
  write_file(folder + "/model.safetensors", weights_bytes(model, {{"format", "pt"}}));
}

std::string reading_model(const std::string& folder) {
  return refusal<FileError>([&] { read_model(folder); });
}
std::string reading_wrong(const std::string& folder) {
  return refusal<FormatError>([&] { read_model(folder); });
}

}  // namespace

TEST_CASE("model folder: PyTorch's models are read as they are, and computed alike") {
  for (const char* name : {"bias", "no_bias"}) {
    const std::string dumps = fs::path(__FILE__).parent_path() / "dumps";
    const auto errors = dump_errors(dumps + "/" + name);
    CHECK(errors.size() == (std::string(name) == "bias" ? 2 + 28 : 2 + 20));
    for (const auto& [quantity, error] : errors) {
      INFO(name << ": " << quantity);
      CHECK(error <= rounding);  // programs/compare_dump computes them in double, to 1e-12
    }
  }
}

TEST_CASE("model folder: what is written is read again") {
  const Desk folder;
  const LanguageModel model = stored_model(1);
  write_model(folder.path(), model, {{"steps", 7}});
  const SavedModel saved = read_model(folder.path());
  CHECK(saved.config.own["steps"].integer(0, 10) == 7);
  const auto before = named_parameters(model), after = named_parameters(saved.model);
  REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(after[i].first == before[i].first);
    CHECK(same_bits(after[i].second.value(), before[i].second.value()));
  }
  // Without a key that says so, biases are there when the weights have them: here as zeros.
  std::string text = read_file(folder.path() + "/config.json");
  const std::size_t at = text.find("  \"bias\": false,\n");
  REQUIRE(at != std::string::npos);
  write_file(folder.path() + "/config.json", text.erase(at, 17));
  CHECK(read_model(folder.path()).model.sizes.bias == Bias::with);
}

TEST_CASE("model folder: what is wrong names its file") {
  const Desk folder;
  const std::string config = folder.path() + "/config.json",
                    weights = folder.path() + "/model.safetensors";
  const auto about = [](const std::string& file, const std::string& reason) {
    return "cannot read '" + file + "': " + reason;
  };
  CHECK(reading_model(folder.path()) == about(config, "no such file or directory"));
  write_file(config, config_json(stored_sizes));
  CHECK(reading_model(folder.path()) == about(weights, "no such file or directory"));
  write_file(weights, "birds");
  CHECK(
      reading_wrong(folder.path()) ==
      about(
          weights,
          "the first 8 bytes must be the length of a header, which follows: the file has 5 bytes"));
  write_file(weights, weights_bytes(stored_model(1)));
  write_file(config, "{}");
  CHECK(reading_wrong(folder.path()) ==
        about(config, "line 1, column 1: the text must have a key 'vocab_size'"));
  LanguageModelSizes wrong = stored_sizes;
  wrong.vocabulary = 6;
  write_file(config, config_json(wrong));
  CHECK(reading_wrong(folder.path()) ==
        about(weights, "its tensors: 'wte.weight' must have shape (6, 4): the file has (5, 4)"));
  wrong.vocabulary = 1'000'000;
  write_file(config, config_json(wrong));
  CHECK(reading_wrong(folder.path()) ==
        about(weights, "the model has 4000436 numbers, and the file has " +
                           std::to_string(fs::file_size(weights)) + " bytes"));
  fs::remove(config);
  fs::create_directory(config);
  CHECK(reading_model(folder.path()) == about(config, "it is a folder"));
}

TEST_CASE("model folder: for the folder of a cache, the error names the folder of the model") {
  const Desk cache;
  const auto snapshot = [&](const std::string& commit) { return cache / "snapshots/" + commit; };
  for (const char* commit : {"aaa", "bbb", "ccc"}) fs::create_directories(snapshot(commit));
  CHECK_THAT(reading_model(cache.path()), EndsWith("config.json': no such file or directory"));
  const std::string what = "'" + cache.path() + "' is the cache of a model: the model is in '";
  write_model(snapshot("aaa"), stored_model(1));
  write_model(snapshot("bbb"), stored_model(1));
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
  const std::string config = folder.path() + "/config.json",
                    weights = folder.path() + "/model.safetensors";
  write_model(folder.path(), stored_model(1));
  // 24 GB of weights are declared, and a kilobyte is there.
  write_file(config, config_json({.vocabulary = 5, .context = 3, .layers = 1000, .width = 512}));
  CHECK_THAT(reading_wrong(folder.path()), ContainsSubstring("the model has "));
  write_file(config, config_json(stored_sizes));
  fs::resize_file(weights, std::uint64_t{1} << 40);  // sparse: nothing is on the disk
  CHECK_THAT(reading_model(folder.path()),
             ContainsSubstring(" bytes of numbers, and the file has "));
  fs::resize_file(config, std::uint64_t{1} << 40);
  CHECK_THAT(reading_model(folder.path()),
             ContainsSubstring("it has 1099511627776 bytes; at most 67108864 are read"));
}
