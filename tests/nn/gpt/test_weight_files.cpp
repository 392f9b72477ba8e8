#include "nn/gpt/weight_files.h"

#include <filesystem>

#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/refusal.h"
#include "tests/support/stored_file.h"

using namespace tests;
using testing::write_file;
using Desk = testing::Folder;

namespace {

// Two shards and their index.
void write_shards(const Desk& folder) {
  write_file(folder / "a.safetensors", stored_bytes({{"x", uniform({2, 3}, 1)}}));
  write_file(folder / "b.safetensors",
             stored_bytes({{"y", uniform({4}, 2)}, {"z", uniform({1}, 3)}}));
  write_file(
      folder / shard_index_name,
      shard_index(44, {{"x", "a.safetensors"}, {"y", "b.safetensors"}, {"z", "b.safetensors"}}));
}

std::vector<WeightFile> opened(const Desk& folder) {
  return open_weight_files(Folder(folder.path()));
}

// The problem with an index of this text, without the path of its file.
std::string index_problem(const Desk& folder, const std::string& text) {
  write_file(folder / shard_index_name, text);
  const std::string message = refusal<FormatError>([&] { opened(folder); }),
                    begin = "cannot read '" + (folder / shard_index_name) + "': ";
  return message.starts_with(begin) ? message.substr(begin.size()) : message;
}

}  // namespace

TEST_CASE("weight files: one file, or the shards of an index") {
  const Desk folder;
  write_shards(folder);
  const std::vector<WeightFile> shards = opened(folder);
  REQUIRE(shards.size() == 2);
  CHECK(shards[0].path == folder / "a.safetensors");
  CHECK(shards[0].header.tensors.at(0).name == "x");
  CHECK(shards[1].header.tensors.size() == 2);
  Array y({4});
  PlacedTensor{&shards[1].bytes, find(shards[1].header, "y")}.read_numbers(y.write());
  CHECK(same_bits(y, uniform({4}, 2)));
  // model.safetensors alone comes first.
  write_file(folder / "model.safetensors", stored_bytes({{"w", uniform({1}, 4)}}));
  REQUIRE(opened(folder).size() == 1);
  CHECK(opened(folder)[0].header.tensors.at(0).name == "w");
}

TEST_CASE("weight files: an index that leads out of the folder is refused") {
  const Desk folder;
  write_shards(folder);
  for (const char* name : {"../b.safetensors", "/etc/passwd", "x/b.safetensors", "", ".safetensors",
                           "b.bin", "..", "a.safetensors\\u0000"}) {
    INFO(name);
    CHECK_THAT(index_problem(folder, R"({"weight_map": {"x": ")" + std::string(name) + "\"}}"),
               ContainsSubstring("line 1, column 22: weight_map.x must be the name of a "
                                 ".safetensors file in the same folder: got \""));
  }
  CHECK_THAT(index_problem(folder, "[]"), ContainsSubstring("must be an object"));
  CHECK_THAT(index_problem(folder, "{}"), ContainsSubstring("must have a key 'weight_map'"));
  CHECK_THAT(index_problem(folder, R"({"weight_map": {}})"),
             ContainsSubstring("must name the shard of each tensor"));
  CHECK_THAT(index_problem(folder, R"({"weight_map": {"x": 1}})"),
             ContainsSubstring("must be a string"));
  CHECK_THAT(index_problem(folder, R"({"weight_map": {"x": "a.safetensors"}, "more": 1})"),
             ContainsSubstring("more"));
  std::string many = R"({"weight_map": {)";
  for (int i = 0; i <= 1000; ++i) {
    const std::string number = std::to_string(i);
    write_file(folder / (number + ".safetensors"), stored_bytes({}));
    many += (i > 0 ? ", \"" : "\"") + number + "\": \"" + number + ".safetensors\"";
  }
  CHECK(index_problem(folder, many + "}}") == "it must name at most 1000 files");
}

TEST_CASE("weight files: an index and its shards must have the same tensors") {
  const Desk folder;
  write_shards(folder);
  const auto problem = [&](const std::map<std::string, std::string>& shard_of) {
    return index_problem(folder, shard_index(44, shard_of));
  };
  const std::string in = "cannot read '" + folder.path();
  CHECK(problem({{"x", "a.safetensors"}, {"y", "b.safetensors"}}) ==
        in + "/b.safetensors': it has the tensor 'z', for which model.safetensors.index.json names "
             "no file");
  CHECK(problem({{"x", "b.safetensors"}, {"y", "b.safetensors"}, {"z", "b.safetensors"}}) ==
        in + "/b.safetensors': it must have the tensor 'x', for which model.safetensors.index.json "
             "names it");
  // x is in both shards.
  write_file(folder / "b.safetensors",
             stored_bytes({{"x", uniform({2, 3}, 1)}, {"y", uniform({4}, 2)}}));
  CHECK(problem({{"x", "a.safetensors"}, {"y", "b.safetensors"}}) ==
        in + "/b.safetensors': it has the tensor 'x', for which model.safetensors.index.json names "
             "'a.safetensors'");
  write_shards(folder);
  std::filesystem::remove(folder / "b.safetensors");
  CHECK(refusal<FileError>([&] { opened(folder); }) ==
        in + "/b.safetensors': no such file or directory");
  write_file(folder / "b.safetensors", "birds");
  CHECK_THAT(refusal<FormatError>([&] { opened(folder); }),
             ContainsSubstring("b.safetensors': the first 8 bytes must be the length of a header"));
}

TEST_CASE("weight files: other formats are not read, and the message says what to do") {
  for (const auto& [name, what, advice] :
       {std::tuple{"pytorch_model.bin", "a Python pickle", "safe_serialization=True"},
        {"pytorch_model.bin.index.json", "the index of Python pickles", "safe_serialization=True"},
        {"tf_model.h5", "a file of TensorFlow", "safe_serialization=True"},
        {"flax_model.msgpack", "a file of Flax", "safe_serialization=True"},
        {"onnx", "a folder with files of ONNX", "safe_serialization=True"},
        {"adapter_config.json", "of an adapter", "merge_and_unload()"},
        {"birds-Q4_0.gguf", "a file of llama.cpp", "model.safetensors of the same model"},
        {"model-00002-of-00002.safetensors", "a part of the weights", "index.json is missing"},
        {"birds.safetensors", "not named model.safetensors", ""}}) {
    const Desk folder;
    write_file(folder / name, "\x80");
    const auto refused = [&] {
      try {
        opened(folder);
      } catch (const FormatError& error) {
        return error.what() + (" | " + error.advice);
      }
      return std::string();
    };
    CHECK_THAT(refused(), StartsWith("cannot read '" + (folder / name) + "': it is " + what) &&
                              ContainsSubstring(advice));
  }
  const Desk empty;
  write_file(empty / "state.safetensors", "");  // of a run whose weights are gone
  CHECK(refusal<FileError>([&] { opened(empty); }) ==
        "cannot read '" + (empty / "model.safetensors") + "': no such file or directory");
}

TEST_CASE("the names of shards are those of transformers") {
  CHECK(shard_name(0, 1) == "model.safetensors");
  CHECK(shard_name(0, 2) == "model-00001-of-00002.safetensors");
  CHECK(shard_name(11, 12) == "model-00012-of-00012.safetensors");
}
