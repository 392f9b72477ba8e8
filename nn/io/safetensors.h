// Weights in files, as safetensors (huggingface/safetensors, format of 2023), read as if an attacker
// had written them:
//
//   8 bytes N, little-endian     N bytes of JSON, the header     the numbers, end to end
//
//   {"__metadata__": {"format": "pt"}, "wte.weight": {"dtype": "F32", "shape": [2, 3],
//                                                     "data_offsets": [0, 24]}, ...}
//
// Not here: files (files.h), which tensor belongs where in a model (nn/gpt/weights.h). Key idea: a
// size that a header declares is compared with the bytes that are there before memory is taken for
// it, and what is not exactly the format is refused.                      Next: safetensors.cpp.
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
  std::string dtype;  // one of the format's own words
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

/// The header of a file's bytes, every rule of the format checked: the ranges have the lengths that
/// follow from shape and type, lie end to end and end with the file; no key stands twice at any
/// level. Beyond the format: no unknown fields, at most 8 axes, 1,000,000 tensors and 1 MB of
/// metadata, and is_tensor_name(). Throws FormatError with the tensor
/// or the place in the header; names are escaped and cut. Time n log n, memory a few times the
/// header.
StoredHeader stored_header(std::string_view file);

/// The width of a number of a type in bits; 0 for a type that the format does not have.
unsigned bits_of(std::string_view dtype);

/// The numbers of a tensor, rounded to Real: F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL, each
/// value exact in double (I64 beyond 2⁵³ is refused). Real's own type keeps every bit, a NaN's too.
/// Throws FormatError for other types.
Array stored_array(std::string_view file, const StoredTensor& tensor);

/// The same into memory that has room for them.
void read_numbers(std::string_view file, const StoredTensor& tensor, Real* to);

/// The place of the first number of a tensor that is not finite as a Real; none when all are.
/// Throws as stored_array() does.
std::optional<std::size_t> first_not_finite(std::string_view file, const StoredTensor& tensor);

struct NamedArray {
  std::string name;
  Array array;
};

/// A file's bytes: the arrays as F32 (F64 in the double and dual builds), sorted by name, the
/// header padded to a multiple of 8. The same arrays and metadata give the same bytes. Throws
/// ValueError for a name that cannot be stored or stands twice, and for metadata that is not UTF-8
/// or over 1 MB.
std::string stored_bytes(std::vector<NamedArray> arrays,
                         const std::map<std::string, std::string>& metadata = {});

}  // namespace fledge
