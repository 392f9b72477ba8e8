#include "examples/exercises/graders/grading.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace exercises {

using fledge::Dim, fledge::Tensor;

namespace {

using Texts = std::map<std::string, std::string>;

template <class T>
const T& found(const std::string& key, const std::map<std::string, T>& texts) {
  const auto text = texts.find(key);
  if (text == texts.end()) throw std::logic_error("sentences.txt: '" + key + "' is missing");
  return text->second;
}

/// Whether the number is FILL; its sign does not matter.
bool is_blank(double number) {
  return std::bit_cast<std::uint64_t>(std::abs(number)) == std::bit_cast<std::uint64_t>(FILL);
}

std::string text_of(double number) {
  if (is_blank(number)) return "FILL";
  return std::isnan(number) ? "not a number" : rounded(number);
}

}  // namespace

Tensor tensor(const Matrix& matrix) {
  Row numbers;
  for (const Row& row : matrix) numbers.insert(numbers.end(), row.begin(), row.end());
  return fledge::Array({static_cast<Dim>(matrix.size()), static_cast<Dim>(matrix[0].size())},
                       numbers);
}

double at(const Tensor& x, Dim i, Dim j) { return fledge::value_of(x.value().at({i, j})); }

bool is_near(const Tensor& a, const Tensor& b, double tolerance) {
  return farthest(a, b) <= tolerance;
}

std::string rounded(double number, const char* format) {
  const bool is_wide = std::abs(number) >= 1e6 && std::string_view(format).back() == 'f';
  std::string text = support::formatted(is_wide ? "%.6g" : format, number);
  const bool is_zero = text.find_first_not_of("-0.") == std::string::npos;
  if (is_zero && text[0] == '-') text.erase(0, 1);
  return text;
}

std::vector<std::string> rounded(const Tensor& x, const char* format) {
  std::vector<std::string> texts;
  for (const double number : to_vector(x.value())) texts.push_back(rounded(number, format));
  return texts;
}

std::string text_of(const Row& row) {
  std::string text;
  for (const double number : row) text += (text.empty() ? "" : ", ") + text_of(number);
  return "(" + text + ")";
}

std::vector<Exercise> all_exercises(const std::string& folder) {
  const std::vector<Grader*> graders = all_graders();
  std::vector<Exercise> all;
  Texts shared;
  std::string* text = nullptr;
  std::ifstream file(folder + "/graders/sentences.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      if (all.size() == graders.size()) throw std::logic_error(line + " has no grader");
      all.push_back({line.substr(1, line.size() - 2), {}, shared, {}, graders[all.size()]});
      std::ifstream question(folder + "/" + all.back().file + ".txt");
      while (std::getline(question, line)) all.back().question.push_back(line);
    } else if (line[0] == ' ') {
      *text += line.substr(1);
    } else {
      const std::size_t colon = line.find(':');
      const std::string key = line.substr(0, colon);
      Texts& texts = all.empty() ? shared : all.back().sentences;
      const bool continues = key != "hint" && texts.contains(key);
      text = key == "hint" ? &all.back().hints.emplace_back() : &texts[key];
      *text += (continues ? "\n" : "") + line.substr(std::min(colon + 2, line.size()));
    }
  }
  const auto is_whole = [](const Exercise& exercise) { return !exercise.question.empty(); };
  if (all.size() != graders.size() || !std::all_of(all.begin(), all.end(), is_whole))
    throw std::runtime_error("cannot read the texts of all exercises in " + folder);
  return all;
}

State Grading::grade() {
  exercise_.grade(*this);
  if (is_open_) return State::open;
  if (is_refused_ || lesson_.claims() == 0 || lesson_.false_claims() > 0) return State::not_yet;
  lesson_.say("\n" + sentence("solved"));
  return State::solved;
}

std::string Grading::sentence(const std::string& key) const {
  return support::with_names(found(key, exercise_.sentences),
                             [&](const std::string& name, const std::string& format) {
                               return found(name, names_).as_text(format, rounded);
                             });
}

bool Grading::is_usable(const std::string& key, const std::string& shown, const Row& numbers) {
  const auto has = [&](auto property) {
    return std::any_of(numbers.begin(), numbers.end(), property);
  };
  const bool is_open = has(is_blank);
  is_open_ = is_open_ || is_open;
  lesson_.say((is_open ? "open   " : "") + sentence(key) + ": " + shown);
  if (is_open) return false;
  const char* const problem = has([](double x) { return std::isnan(x); })         ? "no number"
                              : has([](double x) { return std::isinf(x); })       ? "infinite"
                              : has([](double x) { return std::abs(x) > 1e100; }) ? "too large"
                                                                                  : nullptr;
  if (problem != nullptr) refuse(problem);
  return problem == nullptr;
}

void Grading::refuse(const std::string& key) {
  is_refused_ = true;
  say(key);
}

bool Grading::ask(const std::string& key, double number) {
  return is_usable(key, text_of(number), {number});
}

Tensor Grading::ask(const std::string& key, const Matrix& matrix, std::size_t rows,
                    std::size_t columns) {
  std::string shown;
  Row numbers;
  bool fits = matrix.size() == rows;
  for (const Row& row : matrix) {
    shown += (shown.empty() ? "" : ", ") + text_of(row);
    numbers.insert(numbers.end(), row.begin(), row.end());
    fits = fits && row.size() == columns;
  }
  if (is_usable(key, shown, numbers)) {
    if (fits) return tensor(matrix);
    let("count", numbers.size(), "needed", columns, "rows", rows, "numbers",
        support::counted(static_cast<int>(columns), "number"));
    refuse(rows == 1 ? "length" : "shape");
  }
  return tensor(Matrix(rows, Row(columns)));
}

void Grading::table(const std::vector<Column>& columns) {
  std::vector<std::string> titles;
  for (const Column& column : columns) titles.push_back(column.title);
  support::Table table = support::Table::of_numbers(titles);
  for (std::size_t i = 0; i < columns[0].cells.size(); ++i) {
    std::vector<std::string> cells;
    for (const Column& column : columns) cells.push_back(column.cells[i]);
    table.row(cells);
  }
  std::istringstream lines(table.text());
  for (std::string line; std::getline(lines, line);) lesson_.print("   " + line);
  lesson_.print("");
}

bool Grading::claim(const std::string& key, bool holds, std::initializer_list<Mistake> mistakes) {
  std::string otherwise;
  for (const Mistake& mistake : mistakes) {
    const std::string text = sentence(key + "." + mistake.key);  // throws if it is missing
    if (otherwise.empty() && mistake.is_made) otherwise = text;
  }
  if (otherwise.empty()) otherwise = sentence(key + ".else");
  lesson_.claim(holds, sentence(key));
  if (!holds) lesson_.say("       " + otherwise);
  return holds;
}

void Grading::claim_legal(const Tensor& row) {
  const double least = -max(-row).item(), total = sum(row).item();
  let("least weight", least, "sum of weights", total);
  claim("legal", least >= 0);
  claim("whole", std::abs(total - 1) <= 1e-9, {{"zero", least == 0 && max(row).item() == 0}});
}

}  // namespace exercises
