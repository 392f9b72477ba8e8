// Tiny trained models, and what `fledge generate` and `fledge eval` say of them.
#pragma once

#include "tests/examples/fledge/training.h"

namespace testing {

/// A desk with a model of characters, one of words and one of lines of words.
struct Models : Desk {
  Models() {
    trained({poems(), "-o", *this / "chars"});
    trained({poems(), "-o", *this / "words", "--tokens", "word"});
    trained({poems(), "-o", *this / "lines", "--tokens", "word", "--lines"});
  }
  std::string chars() const { return *this / "chars"; }
  std::string words() const { return *this / "words"; }
};
inline const Models& models() {
  static const Models made;
  return made;
}

/// With the seed 1, unless another one is named.
inline Words with_seed(const Words& arguments) {
  const bool named = std::find(arguments.begin(), arguments.end(), "--seed") != arguments.end();
  return Words{"generate"} + arguments + (named ? Words{} : Words{"--seed", "1"});
}
inline Result generated(const Words& arguments, std::string_view input = "") {
  return run(with_program(with_seed(arguments)), {}, input);
}
/// The text that it must give.
inline std::string text(const Words& arguments, std::string_view input = "") {
  CAPTURE(arguments);
  const Result result = generated(arguments, input);
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  CHECK_THAT(result.out, EndsWith("\n"));
  return result.out;
}
inline StrictJson read_line(const std::string& out) { return strict_json(lines_of(out).at(0)); }

}  // namespace testing
