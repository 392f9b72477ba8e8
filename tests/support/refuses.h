// What a wrong call answers, by its type and every letter of its text, or by the names and numbers
// in it:
//
//     CHECK(refusal<ShapeError>([&] { a + b; }) == "+: ...");
//     CHECK(refuses<ShapeError>([&] { a + b; }, "+", "(2, 3)", "(4)"));
#pragma once

#include <exception>
#include <ostream>
#include <string>
#include <typeinfo>

namespace tests {

/// The text of the E that f throws; in angle brackets what happened instead.
template <class E, class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const E& error) {
    return typeid(error) == typeid(E) ? error.what()
                                      : std::string("<derived: ") + error.what() + ">";
  } catch (const std::exception& error) {
    return std::string("<another type: ") + error.what() + ">";
  }
  return "<nothing was thrown>";
}

/// True, or the message and what it lacks.
struct Refusal {
  std::string message, lacks;
  explicit operator bool() const { return lacks.empty(); }
  friend std::ostream& operator<<(std::ostream& out, const Refusal& refusal) {
    return out << "\"" << refusal.message << "\" lacks " << refusal.lacks;
  }
};

/// Whether f throws an E, exactly, whose message has each of the parts.
template <class E, class F, class... Parts>
Refusal refuses(F f, const Parts&... parts) {
  Refusal result{refusal<E>(f), ""};
  if (result.message.starts_with("<")) result.lacks = "the type of the exception";
  for (const std::string& part : {std::string(parts)...})
    if (result.message.find(part) == std::string::npos) result.lacks += "'" + part + "' ";
  return result;
}

}  // namespace tests
