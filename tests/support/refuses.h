// What a wrong call answers, by its type and the names and numbers in its message:
//
//     CHECK(refuses<ShapeError>([&] { a + b; }, "+", "(2, 3)", "(4)"));
#pragma once

#include <ostream>
#include <string>

#include "tests/support/refusal.h"

namespace tests {

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
