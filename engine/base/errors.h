// Errors. A message has three parts:   op: what must hold: what was given; hint
//
// Each op checks its arguments before it computes anything. A check costs one branch; the message
// is built only when it is needed. Next: shape.h.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <iterator>
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
/// As printf's %g, with a decimal point in every locale.
inline void append(std::string& text, double part, int digits = 6) {
  char number[40];
  if (part != part) part = std::abs(part);  // the sign of a NaN means nothing
  const auto end =
      std::to_chars(number, std::end(number), part, std::chars_format::general, digits);
  text.append(number, end.ptr);
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
