// The safetensors format (huggingface/safetensors, 2023), which holds weights:
//
//   8 bytes N, little-endian     N bytes of JSON, the header     the numbers, end to end
//
//   {"__metadata__": {"format": "pt"}, "wte.weight": {"dtype": "F32", "shape": [2, 3],
//                                                     "data_offsets": [0, 24]}, ...}
//
// A file may come from an attacker. A size in the header is compared with the size of the file before
// memory is allocated for it, and every deviation from the format is an error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/array.h"
#include "nn/io/errors.h"

namespace fledge {

/// The longest header in bytes, as in the format's own library.
inline constexpr std::uint64_t most_header_bytes = 100'000'000;

/// A tensor as the header describes it.
struct StoredTensor {
  std::string name;
  std::string dtype;  // one of the format's types, such as "F32"
  Shape shape;
  std::uint64_t begin = 0, end = 0;  // its numbers are bytes begin … end − 1 of the file
};

struct StoredHeader {
  std::vector<StoredTensor> tensors;  // in the order of their numbers
  std::map<std::string, std::string> metadata;
  std::size_t data = 0;  // where the numbers begin
};

/// Whether a tensor may have this name: 1 to 1,024 bytes of UTF-8, no control characters.
bool is_tensor_name(std::string_view name);

/// The most bytes that the keys and values of the metadata may have.
inline constexpr std::size_t most_metadata_bytes = 1 << 20;

/// Reads and checks the header of a file. By the format, the length of each range must follow from
/// shape and type, the ranges must lie end to end and end with the file, and no key may occur twice.
/// In addition: no unknown fields, at most 8 axes, 1,000,000 tensors and 1 MB of metadata, and names
/// must pass is_tensor_name(). Throws FormatError naming the tensor or the place in the header.
/// Takes n log n time and memory of a few times the size of the header.
StoredHeader stored_header(std::string_view file);

/// Bits per number of a type; 0 if the format has no such type.
unsigned bits_of(std::string_view dtype);

/// The numbers of a tensor, rounded to Real. Types F64, F32, F16, BF16, I64, I32, I16, I8, U8 and BOOL
/// are read; F32 numbers keep every bit if Real is float. Throws FormatError for other types and for
/// I64 numbers of 2⁵³ or more, which a double cannot hold exactly.
Array stored_array(std::string_view file, const StoredTensor& tensor);

/// Writes the numbers of stored_array() to `to`, which must have room for them.
void read_numbers(std::string_view file, const StoredTensor& tensor, Real* to);

/// The index of the first number that is not finite as a Real; nullopt if all are finite. Throws as
/// stored_array() does.
std::optional<std::size_t> first_not_finite(std::string_view file, const StoredTensor& tensor);

struct NamedArray {
  std::string name;
  Array array;
};

/// The bytes of a file: the arrays as F32, sorted by name, the header padded to a multiple of 8 bytes.
/// The same arrays and metadata give the same bytes. Throws ValueError for a name that
/// is_tensor_name() rejects or that occurs twice, and for metadata that is not UTF-8 or has more than
/// 1 MB.
std::string stored_bytes(std::vector<NamedArray> arrays,
                         const std::map<std::string, std::string>& metadata = {});

}  // namespace fledge
