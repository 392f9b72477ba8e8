// The header of a safetensors file as text: what it says, each entry being of the right form.
//
//   {"__metadata__": {"format": "pt"}, "wte.weight": {"dtype": "F32", "shape": [2, 3],
//                                                     "data_offsets": [0, 24]}, ...}
//
// Not here: whether it is true of the file's bytes (safetensors.cpp).
//                                                                     Next: safetensors_header.cpp.
#pragma once

#include "nn/io/safetensors.h"

namespace fledge {

/// The tensors in the text's order, their sizes and offsets as they are declared; two may have one
/// name still. Messages count bytes from the file's beginning, 8 before the text. Throws
/// StoredError.
StoredHeader header_of(std::string_view text);

/// The width of a number of a StoredTensor's type.
std::uint64_t bits_of(std::string_view dtype);

}  // namespace fledge
