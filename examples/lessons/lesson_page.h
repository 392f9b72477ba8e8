// A lesson as a command.
#pragma once

#include "examples/lessons/lesson_text.h"

namespace support {

/// A part of a lesson: gives values to names in the text.
using Part = void (*)(LessonText& to);

/// What runs in place of the parts when the lesson is given arguments, which come with blanks
/// between: gives values to names in the part "Try".
using WithArguments = void (*)(LessonText& to, const std::string& arguments);

/// What a lesson runs. Its source has one such constant.
struct LessonProgram {
  /// The name of the lesson is that of the source: attention/softmax.
  LessonProgram(std::vector<Part> parts_of_text, WithArguments run_with_arguments = nullptr,
                const char* source = __builtin_FILE());

  std::vector<Part> parts;
  WithArguments with_arguments;

  inline static std::map<std::string, const LessonProgram*> all;  // of this program, by name
};

/// Runs the lesson that argv[0] names: build/lessons/attention/softmax.
/// Without arguments it prints the text with the values of the parts, what to read and to try, and
/// a last line: "attention/softmax: 8 claims hold". Returns 1 when a claim was false, or there was
/// none, and when a name has no value or a value no name.
///
///   --ask        takes the reader's guesses, and waits between the parts on a terminal
///   --json FILE  also writes LessonText::json()
///
/// The text is attention/softmax.md in `folder`, or else in examples/lessons. The glossary is in
/// the folder above.
int run_lesson(int argc, const char* const* argv, const std::string& folder = "");

}  // namespace support
