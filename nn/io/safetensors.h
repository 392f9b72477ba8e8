// Weights in files, as safetensors (huggingface/safetensors, format of 2023), read as if an enemy
// had written them:
//
//   8 bytes N, little-endian     N bytes of JSON, the header     the numbers, end to end
//
// Not here: files (files.h), which tensor belongs where in a model (models/model_folder.h). Key
// idea: nothing is allocated from a size that a header declares before that size was checked
// against the bytes that are there, and whatever is not exactly the format is refused, by kind and
// place.                                                               Next: safetensors_header.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/array.h"
#include "nn/io/utf8.h"

namespace fledge {

/// The longest header in bytes, as in the format's own library.
inline constexpr std::uint64_t most_header_bytes = 100'000'000;

/// What is wrong with a file. The names are those of the format's own library where it has one.
enum class SafetensorsFault {
  header_too_small,
  header_too_large,
  invalid_header_length,
  invalid_utf8,
  invalid_json,
  duplicate_key,
  invalid_metadata,
  missing_field,
  unknown_field,
  wrong_type,
  unknown_dtype,
  unsupported_dtype,
  misaligned_size,
  number_out_of_range,
  size_overflow,
  rank_too_large,
  too_many_tensors,
  bad_name,
  invalid_offset,
  size_mismatch,
  incomplete_buffer,
  bad_value,
};

/// Says what is wrong, in which tensor or at which byte of the file; names are escaped and cut.
struct StoredError : std::runtime_error {
  StoredError(SafetensorsFault what, const std::string& message)
      : std::runtime_error(message), fault(what) {}
  SafetensorsFault fault;
};

/// A tensor as the header describes it; its numbers are bytes begin … end − 1 behind the header.
struct StoredTensor {
  std::string name;
  std::string_view dtype;            // one of the format's own words
  std::vector<std::uint64_t> sizes;  // at most 8; their product, zeros aside, is below 2⁶⁰
  std::uint64_t begin = 0, end = 0;
};

struct StoredHeader {
  std::vector<StoredTensor> tensors;  // in the order of their numbers
  std::map<std::string, std::string> metadata;
  std::size_t data = 0;  // where the numbers begin

  /// Null when there is none of this name.
  const StoredTensor* find(std::string_view name) const;
};

/// The header of a file's bytes, every rule of the format checked: sizes times width is end −
/// begin, ranges lie end to end and end with the file, no key stands twice at any level. Beyond the
/// format: no unknown fields, at most 8 axes, 1,000,000 tensors and 1 MB of metadata, names of 1 to
/// 1,024 bytes without control characters. Throws StoredError. Time n log n, memory a few times the
/// header.
StoredHeader stored_header(std::string_view file);

/// The shape, for a message or an Array.
Shape shape_of(const StoredTensor& tensor);

/// The numbers of a tensor: F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL, each value exact in
/// double (I64 beyond 2⁵³ is refused as bad_value). Throws StoredError for other types.
std::vector<double> stored_numbers(std::string_view file, const StoredHeader& header,
                                   const StoredTensor& tensor);

/// The same in its shape, rounded to Real; Real's own type keeps every bit, a NaN's too.
Array stored_array(std::string_view file, const StoredHeader& header, const StoredTensor& tensor);

/// The same into memory that has room for them.
void read_numbers(std::string_view file, const StoredHeader& header, const StoredTensor& tensor,
                  Real* to);

/// The place of the first number of a tensor that is not finite as a Real; none when all are.
/// Throws as stored_numbers() does.
std::optional<std::size_t> first_not_finite(std::string_view file, const StoredHeader& header,
                                            const StoredTensor& tensor);

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
