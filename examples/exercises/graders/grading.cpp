#include "examples/exercises/graders/grading.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>

#include "examples/support/text.h"

namespace exercises {

using support::formatted;

namespace {

/// Whether the number is FILL; its sign does not matter.
bool is_blank(double number) {
  return std::bit_cast<std::uint64_t>(std::abs(number)) == std::bit_cast<std::uint64_t>(FILL);
}

/// Six digits, without the sign of a zero.
std::string text_of(double number) {
  if (is_blank(number)) return "FILL";
  return std::isnan(number) ? "not a number" : formatted("%.6g", number + 0.0);
}

}  // namespace

std::string text_of(const Row& row) {
  std::string text;
  for (const double number : row) text += (text.empty() ? "" : ", ") + text_of(number);
  return "(" + text + ")";
}

bool Grading::complete(std::string_view what, const std::string& shown, const Row& numbers) {
  const std::string name(what);
  const auto has = [&](bool (*property)(double)) {
    return std::any_of(numbers.begin(), numbers.end(), property);
  };
  if (has(is_blank)) {
    blank_ = true;
    lesson_.say("open   " + name + ": " + shown);
    return false;
  }
  lesson_.say(name + ": " + shown);
  if (has([](double x) { return std::isnan(x); }))
    refuse(
        "A result is not a number. Examples of this are 0.0 / 0.0, the root or logarithm of a "
        "negative number, and infinity minus infinity.");
  else if (has([](double x) { return std::isinf(x); }))
    refuse("An infinite number is no answer: use a large number.");
  else if (has([](double x) { return std::abs(x) > 1e100; }))
    refuse("The numbers are too large: use numbers between -1e100 and 1e100.");
  else
    return true;
  return false;
}

void Grading::refuse(std::string_view sentence) {
  ++unusable_;
  lesson_.say(sentence);
}

bool Grading::accept(std::string_view what, double number) {
  return complete(what, text_of(number), {number});
}

bool Grading::accept(std::string_view what, const Row& row, std::size_t length) {
  if (!complete(what, text_of(row), row)) return false;
  if (row.size() == length) return true;
  refuse(formatted("It has %zu numbers; the exercise needs %zu.", row.size(), length));
  return false;
}

bool Grading::accept(std::string_view what, const Matrix& matrix, std::size_t rows,
                     std::size_t columns) {
  std::string shown;
  Row numbers;
  bool fits = matrix.size() == rows;
  for (const Row& row : matrix) {
    shown += (shown.empty() ? "" : ", ") + text_of(row);
    numbers.insert(numbers.end(), row.begin(), row.end());
    fits = fits && row.size() == columns;
  }
  if (!complete(what, shown, numbers)) return false;
  if (fits) return true;
  std::string name(what);
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  refuse(name + formatted(" must be %zu rows, each of ", rows) +
         support::counted(static_cast<int>(columns), "number") + ".");
  return false;
}

bool Grading::accept_choice(std::string_view what, double answer) {
  if (answer != RIGHT && answer != SLIP) {
    if (!accept(what, answer)) return false;
    refuse("The answer must be RIGHT or SLIP.");
    return false;
  }
  lesson_.say(std::string(what) + ": " + (answer == RIGHT ? "RIGHT" : "SLIP"));
  return true;
}

void Grading::show(std::string_view picture) {
  std::string indented;
  for (const char c : picture) {
    if (c != '\n' && (indented.empty() || indented.back() == '\n')) indented += "   ";
    indented += c;
  }
  lesson_.show(indented);
}

bool Grading::claim(bool holds, std::string_view what, std::string_view otherwise) {
  lesson_.claim(holds, what);
  if (!holds) lesson_.say("       " + std::string(otherwise));
  return holds;
}

bool Grading::claim_legal(const Row& row) {
  double sum = 0;
  for (const double weight : row) sum += weight;
  const double least = *std::min_element(row.begin(), row.end());
  const bool all_zero = std::all_of(row.begin(), row.end(), [](double x) { return x == 0; });
  const bool positive = claim(least >= 0, "each weight is 0 or more",
                              formatted("one weight is %.6g: a legal weight is 0 or more", least));
  const bool one =
      claim(std::abs(sum - 1) <= 1e-9, "the weights add up to 1",
            all_zero ? "all weights are 0. Write 9.0 / 23, not 9 / 23: between whole numbers C++ "
                       "drops the fraction."
                     : formatted("your row adds up to %.10g: a legal row adds up to 1", sum));
  return positive && one;
}

void Grading::conclude(std::string_view text) {
  if (state() == State::solved) lesson_.say("\n" + std::string(text));
}

State Grading::state() const {
  if (blank_) return State::open;
  const bool solved = unusable_ == 0 && lesson_.claims() > 0 && lesson_.false_claims() == 0;
  return solved ? State::solved : State::not_yet;
}

}  // namespace exercises
