// A checksum for safetensors files, because the format has none.
#pragma once

#include "nn/io/safetensors.h"

namespace fledge {

/// stored_bytes() with a checksum in the metadata, under the key "checksum": 16 hexadecimal digits,
/// computed from the names, types, shapes and numbers of the tensors and from all other metadata.
std::string bytes_with_checksum(std::vector<NamedArray> arrays,
                                std::map<std::string, std::string> metadata);

/// Returns the checksum in the file; "" if the file has none. Throws FormatError if the checksum
/// does not match the contents.
std::string require_checksum(std::string_view file, const StoredHeader& header);

}  // namespace fledge
