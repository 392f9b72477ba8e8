// Errors. A message has three parts:   op: what must hold: what was given; hint
//
// Each op checks its arguments before it computes anything. A check costs one branch; the message
// is built only when it is needed. Next: shape.h.
#pragma once

#include <concepts>
#include <cstdint>
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

// Few functions for the many calls of require(), whose code then is short.
void append(std::string& text, std::string_view part);
void append(std::string& text, const char* part);
/// As printf's %g, with a decimal point in every locale.
void append(std::string& text, double part, int digits = 6);
/// The number alone.
std::string digits(double number, int count = 6);
void append(std::string& text, std::int64_t part);
void append(std::string& text, std::uint64_t part);
template <std::integral T>
void append(std::string& text, T part) {
  append(text,
         static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(part));
}

template <class T>
concept HasToString = std::is_class_v<T> && !std::is_convertible_v<T, std::string_view>;
template <HasToString T>
void append(std::string& text, const T& part) {
  append(text, to_string(part));
}

/// "op: "
std::string beginning(std::string_view op);

template <class E>
[[noreturn, gnu::noinline]] void fail(const std::string& text) {
  throw E(text);
}

}  // namespace message

/// Throws `E("op: " + parts…)` unless `ok`.
template <class E = ShapeError, class... Parts>
void require(bool ok, std::string_view op, const Parts&... parts) {
  if (ok) [[likely]]
    return;
  std::string text = message::beginning(op);
  (message::append(text, parts), ...);
  message::fail<E>(text);
}

}  // namespace fledge
