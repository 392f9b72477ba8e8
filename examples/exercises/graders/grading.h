// How an answer is graded: blanks are found, numbers are shown, and claims decide.
//
// A grader calls ask() for each part of an answer, computes what follows from it, and states claims,
// each with the mistakes that are known. Their sentences are in sentences.txt, by key.
#pragma once

#include <initializer_list>

#include "examples/exercises/exercise.h"
#include "examples/lessons/vocabulary.h"

namespace exercises {

using fledge::farthest, fledge::numbers;

enum class State { solved, open, not_yet };

class Grading;
using Grader = void(Grading&);

struct Exercise {
  std::string file;                              // "01_forget_birds", in examples/exercises
  std::vector<std::string> question;             // the lines of its .txt: the first is the title
  std::map<std::string, std::string> sentences;  // by key
  std::vector<std::string> hints;                // from a gentle one to nearly the answer
  Grader* grade;
};

/// The exercises of graders/sentences.txt in this folder; the number of one is its position, from 1.
std::vector<Exercise> all_exercises(const std::string& folder);

/// In the order of the exercises: graders.cpp.
std::vector<Grader*> all_graders();

/// A mistake that is known: the end of the key of its sentence, and whether the answer has it.
struct Mistake {
  const char* key;
  bool is_made;
};

struct Column {
  std::string title;
  std::vector<std::string> cells;
};

fledge::Tensor tensor(const Matrix& matrix);
double at(const fledge::Tensor& x, fledge::Dim i, fledge::Dim j);
bool is_near(const fledge::Tensor& a, const fledge::Tensor& b, double tolerance);
/// The number in this format of printf. A zero has no sign; with decimals, a number of a million and
/// more has six digits instead.
std::string rounded(double number, const char* format = "%.6g");
/// One text for each number, row by row.
std::vector<std::string> rounded(const fledge::Tensor& x, const char* format = "%.6g");
/// "(0.6, 0.1, FILL)"
std::string text_of(const Row& row);

class Grading {
 public:
  Grading(support::Lesson& lesson, const Exercise& exercise)
      : lesson_(lesson), exercise_(exercise) {}

  /// Grades the present answer, and prints the sentence `solved` if it is right.
  State grade();

  /// Shows a part of the answer. If it cannot be checked, says why. Each number must be there (no
  /// FILL), be a number, and be at most 1e100, so that each product is finite.
  bool ask(const std::string& key, double number);
  /// Of a row or a matrix the size counts too. Returns it as (1, length) or as (rows, columns), and
  /// zeros if it cannot be checked.
  fledge::Tensor ask(const std::string& key, const Matrix& matrix, std::size_t rows,
                     std::size_t columns);
  fledge::Tensor ask(const std::string& key, const Row& row, std::size_t length) {
    return ask(key, Matrix{row}, 1, length);
  }
  /// Prints a sentence that says why an answer cannot be checked: it is then not solved.
  void refuse(const std::string& key);
  /// Whether each part so far can be checked.
  bool accepted() const { return !is_open_ && !is_refused_; }

  /// What stands for {{name}} in the sentences: let("gap", gap, "ratio", std::exp(gap)). A number has
  /// the format of {{gap|%.4f}} there, as in rounded().
  template <class... NamesAndValues>
  void let(const NamesAndValues&... all) {
    for (const auto& [name, value] : support::values_of(all...))
      names_.insert_or_assign(name, value);
  }
  std::string sentence(const std::string& key) const;

  void say(const std::string& key) { lesson_.say(sentence(key)); }
  /// Prints a table three columns to the right; all columns but the first are numbers.
  void table(const std::vector<Column>& columns);

  /// A claim of the lesson. If it is false, the first mistake that was made follows, or `key.else`.
  bool claim(const std::string& key, bool holds, std::initializer_list<Mistake> mistakes = {});
  /// Two claims: each weight of a row of attention is 0 or more, and they add up to 1.
  void claim_legal(const fledge::Tensor& row);

 private:
  bool is_usable(const std::string& key, const std::string& shown, const Row& numbers);

  support::Lesson& lesson_;
  const Exercise& exercise_;
  support::TextValues names_;
  bool is_open_ = false, is_refused_ = false;
};

}  // namespace exercises
