// Errors. A message has three parts:   op: what must hold: what was given; hint
//
// Not here: asserts for bugs of fledge itself. A check costs one branch; the message is built only
// when it is needed. Each op checks its arguments before it computes anything. Next: shape.h.
#pragma once

#include <clocale>
#include <concepts>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "engine/base/dim.h"

namespace fledge {

/// Shapes that do not fit; the message shows all of them.
struct ShapeError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// An argument outside its range: an index, a rate, an axis.
struct ValueError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// A graph used in a way that would give wrong gradients: freed, shared or missing.
struct GraphError : std::logic_error {
  using std::logic_error::logic_error;
};

/// A number that must be finite and is not.
struct NumericError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace message {

inline void append(std::string& text, std::string_view part) { text += part; }
/// A number has a decimal point in every locale: printf writes the separator of the locale that the
/// process has set.
inline void append(std::string& text, double part, int digits = 6) {
  char number[40];
  std::snprintf(number, sizeof number, "%.*g", digits, part);
  const std::size_t end = text.size();
  text += part == part ? number : "nan";  // the sign of a NaN means nothing
  const std::string_view separator = std::localeconv()->decimal_point;
  const std::size_t at = text.find(separator, end);
  if (at != std::string::npos) text.replace(at, separator.size(), ".");
}
template <std::integral T>
void append(std::string& text, T part) {
  text += std::to_string(part);
}

template <class T>
concept HasToString = std::is_class_v<T> && !std::is_convertible_v<T, std::string_view>;
template <HasToString T>
void append(std::string& text, const T& part) {
  text += to_string(part);
}

}  // namespace message

/// Throws `E("op: " + parts…)` unless `ok`.
template <class E = ShapeError, class... Parts>
void require(bool ok, std::string_view op, const Parts&... parts) {
  if (ok) [[likely]]
    return;
  std::string message(op);
  message += ": ";
  (message::append(message, parts), ...);
  throw E(message);
}

}  // namespace fledge
