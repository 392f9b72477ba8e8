// How an answer is graded: blanks are found, numbers are shown, and claims decide.
//
// A grader calls accept() for each part of the answer, shows what follows from it, and states claims.
// Key idea: a claim of an exercise is a claim of a lesson, with one more sentence that is printed
// when it is false: what the wrong answer does. Next: exercise_list.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "examples/exercises/exercise.h"
#include "examples/lessons/lesson.h"

namespace exercises {

enum class State { solved, open, not_yet };

class Grading {
 public:
  explicit Grading(support::Lesson& lesson) : lesson_(lesson) {}

  /// Shows a part of the answer. Returns whether it can be checked: as many numbers as asked for,
  /// none of them FILL, another NaN, infinite or over 1e100. Else prints what is wrong. The limit
  /// keeps each product of an answer finite.
  bool accept(std::string_view what, double number);
  bool accept(std::string_view what, const Row& row, std::size_t length);
  bool accept(std::string_view what, const Matrix& matrix, std::size_t rows, std::size_t columns);

  /// A choice between RIGHT and SLIP.
  bool accept_choice(std::string_view what, double answer);

  /// Prints a sentence that says why an answer cannot be checked. The exercise is then not solved.
  void refuse(std::string_view sentence);

  void say(std::string_view text = "") { lesson_.say(text); }
  /// Prints a table or a picture, three columns to the right.
  void show(std::string_view picture);

  /// A claim of the lesson. If it is false, `otherwise` says what the answer does.
  bool claim(bool holds, std::string_view what, std::string_view otherwise);
  /// Two claims: each weight of a row of attention is 0 or more, and they add up to 1.
  bool claim_legal(const Row& row);
  /// Prints the text if everything was accepted and every claim holds.
  void conclude(std::string_view text);

  State state() const;

 private:
  bool complete(std::string_view what, const std::string& shown, const Row& numbers);

  support::Lesson& lesson_;
  bool blank_ = false;
  int unusable_ = 0;
};

/// "(0.6, 0.1, FILL)"
std::string text_of(const Row& row);

}  // namespace exercises
