// A lesson as a program: question, prediction, parts, what to read in the code, what to try.
//
// Not here: what the parts print (lesson.h). Key idea: an option to play with has a function of its
// own, which runs in place of the parts. So the parts always print the same numbers, and the
// READMEs can quote them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "examples/lessons/lesson.h"
#include "examples/support/options.h"
#include "examples/support/svg.h"

namespace support {

/// A place in the sources. A test looks for the name in the file.
struct SourcePlace {
  std::string file, name, what;  // "engine/ops/softmax.cpp", "softmax", "the formula and its rule"
};

/// An option, and what the lesson does with its value. One of the three functions is set.
struct Play {
  std::string option, value, help;  // "--beta", "3": an example, which the lesson prints
  OptionLimits limits{};            // of a number
  std::function<void(Lesson&, double value)> with_number{};
  std::function<void(Lesson&, std::int64_t value)> with_whole_number{};
  std::function<void(Lesson&, const std::string& value)> with_text{};
};

struct LessonPage {
  std::string name;        // "attention/04_softmax"
  std::string title;       // "Softmax: from scores to shares"
  std::string question;    // what the lesson answers
  std::string prediction;  // "Predict: …", which the reader does before reading on
  std::function<void(Lesson&)> body;
  std::vector<SourcePlace> reading;
  std::vector<Play> plays{};
  std::function<Svg()> picture{};  // for -o FILE
};

/// The body of a lesson's main(). Without options it prints title, question and prediction, runs
/// the body, prints what to read and to try, and a last line: "attention/04_softmax: 8 claims
/// hold". Returns 1 when a claim was false, or there was none.
///
///   --ask        waits for the return key after the prediction
///   -o FILE      writes the picture and nothing else
///   --beta 3     runs this play, and not the parts
int run_lesson(int argc, const char* const* argv, const LessonPage& page);

}  // namespace support
