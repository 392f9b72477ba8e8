// A lesson as a command: its text, and options to play with.
//
// Key idea: an option to play with has a function of its own, which runs in place of the text. So the
// text always has the same numbers, and the READMEs can quote them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "examples/lessons/lesson_text.h"
#include "examples/support/options.h"

namespace support {

/// A part of a lesson: gives values to names in the text.
using Part = void (*)(LessonText& to);

/// An option to play with: gives values to names in the blocks that stand behind it in the part
/// "Try". "" stands for arguments without an option, which come with blanks between.
struct Play {
  std::string option;  // "--beta"
  std::variant<void (*)(LessonText&, double), void (*)(LessonText&, std::int64_t),
               void (*)(LessonText&, const std::string&)>
      run;
  OptionLimits limits{};  // of a number
};

/// What a lesson runs. Its source has one such constant.
struct LessonProgram {
  /// The name of the lesson is that of the source: attention/softmax.
  LessonProgram(std::vector<Part> parts_of_text, std::vector<Play> options_to_play_with = {},
                const char* source = __builtin_FILE());

  std::vector<Part> parts;
  std::vector<Play> plays;

  inline static std::map<std::string, const LessonProgram*> all;  // of this program, by name
};

/// Runs the lesson that argv[0] names: build/lessons/attention/softmax.
/// Without options it prints the text with the values of the parts, what to read and to try, and a
/// last line: "attention/softmax: 8 claims hold". Returns 1 when a claim was false, or there was
/// none, and when a name has no value or a value no name.
///
///   --ask        takes the reader's guesses, and waits between the parts on a terminal
///   --json FILE  also writes LessonText::json()
///   --beta 3     runs this play, and not the parts
///
/// The text is attention/softmax.md in `folder`, or else in examples/lessons. Above the folder stands
/// the glossary.
int run_lesson(int argc, const char* const* argv, const std::string& folder = "");

}  // namespace support
