// The safetensors files with the weights of a model in a folder.
//
// They are one file, model.safetensors, or several shards. model.safetensors.index.json then names
// the shard of each tensor:   {"weight_map": {"wte.weight": "model-00001-of-00002.safetensors", …}}
// (sharded checkpoints of huggingface/transformers).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nn/io/folder.h"
#include "nn/io/safetensors.h"

namespace fledge {

inline constexpr const char *weights_name = "model.safetensors",
                            *shard_index_name = "model.safetensors.index.json";

/// The most shards of a model that is read or written.
inline constexpr std::size_t most_shards = 1000;

struct WeightFile {
  std::string path;
  ByteSource bytes;
  StoredHeader header;
};

/// Opens the files and reads their headers. The name of a shard is a plain file name that ends with
/// ".safetensors". Each tensor of the index is in its shard, and no other tensor is in a shard. All
/// shards have the same "step" in their metadata. Throws FileError, and FormatError naming the
/// file; as refuse_missing_weights() if there are no such files.
std::vector<WeightFile> open_weight_files(const Folder& folder);
/// Throws FormatError that names what the folder has in the place of weights: those of another
/// format, an adapter, shards without an index; FileError if it has none of these.
[[noreturn]] void refuse_missing_weights(const Folder& folder);

/// "model-00001-of-00002.safetensors" for shard 0 of 2; model.safetensors if there is one.
std::string shard_name(std::size_t shard, std::size_t shards);
/// The text of model.safetensors.index.json. `bytes` is the size of all numbers; `shard_of` has the
/// name of the file for each tensor.
std::string shard_index(std::uint64_t bytes, const std::map<std::string, std::string>& shard_of);

/// A tensor and the file that has its numbers.
struct PlacedTensor {
  const ByteSource* file;
  const StoredTensor* tensor;

  void read_numbers(Real* to) const { fledge::read_numbers(*file, *tensor, to); }
};
/// The tensors of files by name, and the names and shapes that are expected.
using PlacedTensors = std::map<std::string_view, PlacedTensor>;
using NamedShapes = std::vector<std::pair<std::string, Shape>>;
/// The expected tensors in their order. Throws FormatError naming the first that is missing, of
/// another shape, or not expected. The error for a missing one names tensors that are not expected.
std::vector<PlacedTensor> find_tensors(PlacedTensors placed, const NamedShapes& expected);

}  // namespace fledge
