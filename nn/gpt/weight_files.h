// The safetensors file with the weights of a model in a folder: model.safetensors.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nn/io/folder.h"
#include "nn/io/safetensors.h"

namespace fledge {

inline constexpr const char* weights_name = "model.safetensors";

struct WeightFile {
  std::string path;
  ByteSource bytes;
  StoredHeader header;
};

/// Opens the file and reads its header. Throws FileError, and FormatError naming the file; as
/// refuse_missing_weights() if there is no such file.
WeightFile open_weight_file(const Folder& folder);
/// Throws FormatError that names what the folder has in the place of weights: those of another
/// format, an adapter, weights in several files; FileError if it has none of these.
[[noreturn]] void refuse_missing_weights(const Folder& folder);

/// The tensors of a file by name, and the names and shapes that are expected.
using NamedTensors = std::map<std::string_view, const StoredTensor*>;
using NamedShapes = std::vector<std::pair<std::string, Shape>>;
/// The expected tensors in their order. Throws FormatError naming the first that is missing, of
/// another shape, or not expected. The error for a missing one names tensors that are not expected.
std::vector<const StoredTensor*> find_tensors(NamedTensors tensors, const NamedShapes& expected);

}  // namespace fledge
