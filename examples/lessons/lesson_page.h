// A lesson as a program: its text, an option to play with, and a picture.
//
// Not here: the text (lesson_text.h) and what a part prints (lesson.h). Key idea: an option to play
// with has a function of its own, which runs in place of the text. So the text always has the same
// numbers, and the READMEs can quote them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "examples/lessons/lesson_text.h"
#include "examples/support/options.h"
#include "examples/support/svg.h"

namespace support {

/// An option, and what the lesson does with its value. One of the three functions is set.
struct Play {
  std::string option, value, help;  // "--beta", "3": an example, which the lesson prints
  OptionLimits limits{};            // of a number
  std::function<void(Lesson&, double value)> with_number{};
  std::function<void(Lesson&, std::int64_t value)> with_whole_number{};
  std::function<void(Lesson&, const std::string& value)> with_text{};
};

struct LessonPage {
  std::string name;  // "attention/04_softmax": the text is this file of examples/lessons, with .md
  std::function<void(LessonText&)> body;  // gives values to the names in the text
  std::vector<Play> plays{};
  std::function<Svg()> picture{};       // for -o FILE
  std::string folder = FLEDGE_LESSONS;  // examples/lessons; the glossary stands above it
};

/// The body of a lesson's main(). Without options it prints the text with the values of the body, what
/// to read and to try, and a last line: "attention/04_softmax: 8 claims hold". Returns 1 when a claim
/// was false, or there was none, and when a name has no value or a value no name.
///
///   --ask        waits for the return key after the prediction
///   -o FILE      writes the picture and nothing else
///   --beta 3     runs this play, and not the parts
int run_lesson(int argc, const char* const* argv, const LessonPage& page);

}  // namespace support
