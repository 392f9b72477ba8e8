// Bytes as printable characters, as GPT-2's files write them: a space is "Ġ", a line end "Ċ".
//
// The 188 bytes that are printable in Latin-1 (! to ~, ¡ to ¬, ® to ÿ) are the characters with their
// numbers. The other 68 bytes, in ascending order, are U+0100, U+0101, … (bytes_to_unicode() in
// GPT-2's encoder.py; Radford et al. 2019).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fledge {

/// The bytes, one character each, in UTF-8.
std::string characters_of_bytes(std::string_view bytes);
/// The opposite direction. nullopt if a character stands for no byte.
std::optional<std::string> bytes_of_characters(std::string_view characters);

}  // namespace fledge
