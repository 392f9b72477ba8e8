// Writes a number as text, and reads it.
#pragma once

#include <cstddef>
#include <string>

namespace fledge {

/// The most characters of write_number() with 17 digits.
inline constexpr std::size_t longest_number = 32;

/// Writes a number as printf's %g with so many digits, 1 to 17, but with a decimal point in every
/// locale. `to` has room for longest_number characters. Returns the end.
char* write_number(char* to, double number, int digits);

/// The double that is nearest to this decimal number, infinity beyond all of them. In every locale.
double number_of(const std::string& text);

}  // namespace fledge
