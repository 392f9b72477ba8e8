// Blocks of numbers as text: little-endian bytes in base64 (RFC 4648). A page decodes them with one
// call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fledge::page {

std::string base64(const std::string& bytes);
/// The opposite direction. Throws ValueError for a text that base64() does not write.
std::string base64_decoded(const std::string& text);

/// Numbers of 16 bits: two bytes each.
std::string base64(const std::vector<std::uint16_t>& numbers);
/// Floats: four bytes each.
std::string base64(const std::vector<float>& numbers);
/// The numbers as floats.
std::string base64(const std::vector<double>& numbers);
std::vector<double> floats_of_base64(const std::string& text);

/// A share 0 … 1 in 16 bits: round(65535·share). The error is at most 7.7e-6.
std::uint16_t share_in_16_bits(double share);

}  // namespace fledge::page
