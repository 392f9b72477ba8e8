#include "examples/lessons/lesson.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "examples/support/text.h"

namespace support {

void Lesson::print(const std::string& line) const {
  if (output_) return output_(line);
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);  // a lesson takes seconds, and the reader sees how far it is
}

void Lesson::print_labelled(const std::string& label, std::string_view text) const {
  constexpr int columns = 80;
  print(wrapped(label + std::string(text), columns, display_width(label)));
}

void Lesson::part(std::string_view title) {
  ++parts_;
  print((parts_ == 1 ? "" : "\n") + std::to_string(parts_) + ". " + paint_.bold(title) + "\n");
}

void Lesson::say(std::string_view text) {
  constexpr int indent = 3;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view paragraph = text.substr(begin, end - begin);
    const std::size_t blanks = std::min(paragraph.find_first_not_of(' '), paragraph.size());
    print_labelled(std::string(indent + blanks, ' '), paragraph.substr(blanks));
    begin = end + 1;
  }
}

void Lesson::define(std::string_view term, std::string_view meaning) {
  print_labelled("   new word: ", paint_.accent(term) + ". " + std::string(meaning));
}

void Lesson::show(std::string_view picture) { print(std::string(picture)); }

void Lesson::claim(bool holds, std::string_view what) {
  ++claims_;
  false_claims_ += holds ? 0 : 1;
  last_claim_ = {holds, std::string(what)};
  print_labelled("   " + (holds ? paint_.good("ok   ") : paint_.bad("FALSE")) + "  ", what);
}

void Lesson::claim_near(double value, double expected, double tolerance, std::string_view what) {
  const bool holds = std::abs(value - expected) <= tolerance;
  std::string text = std::string(what) + formatted(": %.6g", value);
  if (!holds) text += formatted(", not %.6g within %.3g", expected, tolerance);
  claim(holds, text);
}

void Lesson::claim_rate(int count, int runs, int least, std::string_view what) {
  claim(count >= least && count <= runs,
        formatted("%d of %d seeds (at least %d): ", count, runs, least) + std::string(what));
}

}  // namespace support
