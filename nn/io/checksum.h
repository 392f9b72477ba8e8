// Whether a safetensors file holds what was written: the format itself has no checksum.
#pragma once

#include "nn/io/safetensors.h"

namespace fledge {

/// 16 hexadecimal digits that follow from all that a file holds: names, types, shapes and numbers
/// of its tensors, and its metadata without the key "checksum".
std::string checksum_of(std::string_view file, const StoredHeader& header);

/// What stored_bytes() gives, with the checksum in the metadata.
std::string bytes_with_checksum(std::vector<NamedArray> arrays,
                                std::map<std::string, std::string> metadata);

/// The file's own checksum; "" for a file that was written without one. Throws FormatError when it
/// does not fit the contents.
std::string require_checksum(std::string_view file, const StoredHeader& header);

}  // namespace fledge
