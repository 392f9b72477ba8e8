// What the parts of a lesson print: sentences, new words, numbers, and claims that are checked.
//
// Not here: what stands before and after the parts (lesson_page.h), pictures (drawn.h) and tables
// (table.h). Key ideas: a lesson checks each claim that it prints, and one false claim makes its
// exit status 1. Sentences are broken between words, so that they fit into 80 columns.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "examples/support/text.h"

namespace support {

class Lesson {
 public:
  /// Takes a line that was printed, without its line end.
  using Output = std::function<void(const std::string& line)>;

  /// Lines go to `output`, or to stdout if there is none.
  explicit Lesson(Paint paint = {}, Output output = {})
      : paint_(paint), output_(std::move(output)) {}

  /// "2. title" between empty lines; parts count from 1.
  void part(std::string_view title);
  /// Prints paragraphs, one a line of the text: three columns to the right, and wrapped. A paragraph
  /// that begins with blanks stands further to the right, all its lines.
  void say(std::string_view text = "");
  /// A term and its meaning: "   new word: softmax. The function that …". The meaning is a sentence,
  /// and the same as in examples/GLOSSARY.md. No lesson before this one may use the term.
  void define(std::string_view term, std::string_view meaning);
  /// Prints a table or a picture unchanged. Its lines must fit into 80 columns.
  void show(std::string_view picture);
  /// "   ok     what", or "   FALSE  what", wrapped below `what`.
  void claim(bool holds, std::string_view what);
  /// |value − expected| ≤ tolerance, which no NaN is: "   ok     what: 0.043".
  void claim_near(double value, double expected, double tolerance, std::string_view what);
  /// Holds if count is `least` or more of `runs`: "   ok     97 of 100 seeds (at least 95): what".
  void claim_rate(int count, int runs, int least, std::string_view what);

  /// Prints a line as it is.
  void print(const std::string& line) const;
  /// Prints the label and the text behind it, in 80 columns; later lines begin where the text begins.
  void print_labelled(const std::string& label, std::string_view text) const;

  struct Claim {
    bool holds = false;
    std::string text{};
  };
  /// The last claim, as it was printed.
  const Claim& last_claim() const { return last_claim_; }
  int claims() const { return claims_; }
  int false_claims() const { return false_claims_; }
  Paint paint() const { return paint_; }

 private:
  Paint paint_;
  Output output_;
  int parts_ = 0, claims_ = 0, false_claims_ = 0;
  Claim last_claim_;
};

}  // namespace support
