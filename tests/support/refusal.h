// What a wrong call answers: CHECK(refusal<ShapeError>([&] { a + b; }) == "+: ...") tests the type
// of the exception, exactly, and every letter of its text.
#pragma once

#include <exception>
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

}  // namespace tests
