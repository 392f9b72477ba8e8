// Files in safetensors format (huggingface/safetensors, 2023), which holds weights:
//
//   8 bytes N, little-endian     N bytes of JSON, the header     the numbers, end to end
//
//   {"__metadata__": {"format": "pt"}, "wte.weight": {"dtype": "F32", "shape": [2, 3],
//                                                     "data_offsets": [0, 24]}, ...}
//
// A file may come from an attacker. A size in the header is compared with the size of the file
// before memory is allocated for it, and every deviation from the format is an error.
#pragma once

#include <map>

#include "engine/array.h"
#include "nn/io/files.h"
#include "nn/io/json.h"

namespace fledge {

/// What to do about weights in a format of PyTorch.
inline constexpr const char* save_again_advice =
    "save the model again with safe_serialization=True, as model.safetensors";
/// And in one of llama.cpp.
inline constexpr const char* other_file_advice = "download model.safetensors of the same model";

/// The longest header in bytes, as in the format's own library.
inline constexpr std::uint64_t most_header_bytes = 100'000'000;

/// A type of numbers.
struct Dtype {
  std::string_view name;  // "F32"
  std::size_t bytes;      // of a number, which is little-endian
  /// Reads numbers and rounds them to Real, up to the first that is not finite or above `most`.
  /// Returns how many it read.
  std::size_t (*read)(const char* from, std::size_t count, double most, Real* to);
  /// The largest absolute value that is read. For whole numbers of 8 bytes it is 2⁵³ − 1: a double
  /// does not hold all larger ones.
  double most;
};

/// F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL; null for another name.
const Dtype* find_dtype(std::string_view name);

/// A tensor as the header describes it.
struct StoredTensor {
  std::string name;   // 1 to 1,024 bytes, no control characters
  std::string dtype;  // one of the types that are read, such as "F32"
  Shape shape;
  std::uint64_t begin = 0, end = 0;  // its numbers are bytes begin … end − 1 of the file
};

struct StoredHeader {
  std::vector<StoredTensor> tensors;  // in the order of their numbers
  JsonValue metadata;                 // an object of strings; null if there is none
  std::uint64_t end = 0;              // of the header in the file

  /// The metadata under this key; "" if there is none.
  std::string text(std::string_view key) const;
};

/// Reads and checks the header of a file. By the format, the length of each range must follow from
/// shape and type, the ranges must lie end to end and end with the file, and no key may occur
/// twice. In addition: types F64, F32, F16, BF16, I64, I32, I16, I8, U8 and BOOL, no unknown
/// fields, at most 8 axes and 1,000,000 tensors. Throws FormatError naming the tensor or the
/// position in the header. Takes n log n time and memory of a few times the size of the header.
StoredHeader stored_header(const ByteSource& file);

/// Writes the numbers of a tensor, rounded to Real, to `to`, which must have room for them. Throws
/// FormatError naming the tensor for a number that is not finite as a Real, and for an I64 of 2⁵³
/// or more, which a double cannot hold exactly. Some numbers are written then.
void read_numbers(const ByteSource& file, const StoredTensor& tensor, Real* to);
/// The same as an array.
Array read_array(const ByteSource& file, const StoredTensor& tensor);

/// The tensors of a file by name, and the names and shapes that are expected.
using NamedTensors = std::map<std::string_view, const StoredTensor*>;
using NamedShapes = std::vector<std::pair<std::string, Shape>>;
/// The expected tensors in their order. Throws FormatError naming the first that is missing, of
/// another shape, or not expected. The error for a missing one names tensors that are not expected.
std::vector<const StoredTensor*> find_tensors(NamedTensors tensors, const NamedShapes& expected);

struct NamedArray {
  std::string name;
  Array array;
};

/// The bytes of a file: the arrays as F32, sorted by name, from a multiple of 64 bytes on, and a
/// checksum of all bytes in the metadata (checksum.h). The same arrays and metadata give the same
/// bytes. Throws FormatError for names that stored_header() refuses.
std::string stored_bytes(std::vector<NamedArray> arrays,
                         const std::map<std::string, std::string>& metadata = {});

}  // namespace fledge
