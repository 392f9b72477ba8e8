#include "nn/gpt/weight_files.h"

#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/refusal.h"

using namespace fledge;
using testing::write_file;
using tests::refusal;
using Desk = testing::Folder;

namespace {

/// "what came | what to do"
std::string refused_weights(const Desk& folder) {
  try {
    open_weight_file(Folder(folder.path()));
  } catch (const FormatError& error) {
    return error.what() + (" | " + error.advice);
  }
  return "";
}

}  // namespace

TEST_CASE("weight files: other formats are not read, and the message says what to do") {
  for (const auto& [name, what, advice] :
       {std::tuple{"pytorch_model.bin", "a Python pickle", "safe_serialization=True"},
        {"pytorch_model.bin.index.json", "the index of Python pickles", "safe_serialization=True"},
        {"tf_model.h5", "a file of TensorFlow", "safe_serialization=True"},
        {"flax_model.msgpack", "a file of Flax", "safe_serialization=True"},
        {"onnx", "a folder with files of ONNX", "safe_serialization=True"},
        {"adapter_config.json", "of an adapter", "merge_and_unload()"},
        {"birds-Q4_0.gguf", "a file of llama.cpp", "model.safetensors of the same model"},
        {"model-00002-of-00002.safetensors", "one of several files", "large max_shard_size"},
        {"birds.safetensors", "not named model.safetensors", ""}}) {
    const Desk folder;
    write_file(folder / name, "\x80");
    CHECK_THAT(refused_weights(folder),
               StartsWith("cannot read '" + (folder / name) + "': it is " + what) &&
                   ContainsSubstring(advice));
  }
  const Desk empty;
  write_file(empty / "state.safetensors", "");  // of a run whose weights are gone
  CHECK(refusal<FileError>([&] { open_weight_file(Folder(empty.path())); }) ==
        "cannot read '" + (empty / "model.safetensors") + "': no such file or directory");
}
