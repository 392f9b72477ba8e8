#include "examples/fledge/bench/against.h"

#include <sys/wait.h>

#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "examples/support/errors.h"
#include "examples/support/text.h"

namespace fledge::bench {

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The factor of the unit at the start of a text, 0 if there is none.
double unit_at(std::string_view text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  // µ has two codes: the micro sign and the Greek letter.
  for (const Unit& unit : {Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"\xc2\xb5s", 1e-6},
                           Unit{"\xce\xbcs", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1}})
    if (text.starts_with(unit.name) &&
        (text.size() == unit.name.size() || !is_letter(text[unit.name.size()])))
      return unit.seconds;
  return 0;
}

// The first time above 0 in `text` from `begin` on, in seconds; 0: none.
double first_time(const std::string& text, std::size_t begin) {
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (!is_digit(text[i])) continue;
    const bool negative = i > 0 && text[i - 1] == '-';
    char* end = nullptr;
    const double number = std::strtod(&text[i], &end);
    i = static_cast<std::size_t>(end - text.data());
    if (text[i] == ',' && is_digit(text[i + 1])) {  // 1,234 or 1,5: which of both is not known
      while (text[i] == ',' || text[i] == '.' || is_digit(text[i])) ++i;
      continue;
    }
    const double unit = unit_at(std::string_view(text).substr(i + (text[i] == ' ' ? 1 : 0)));
    if (!negative && number * unit > 0 && std::isfinite(number)) return number * unit;
  }
  return 0;
}

// The first time after a word, on the same line; 0: none. `text` is in lower case.
double time_behind(const std::string& text, std::string_view word) {
  for (std::size_t i = 0; (i = text.find(word, i)) != std::string::npos; i += word.size()) {
    const std::size_t end = i + word.size();
    const bool begins = i == 0 || !is_letter(text[i - 1]);
    if (!begins || (end < text.size() && is_letter(text[end]))) continue;
    const double time = first_time(text.substr(0, text.find('\n', end)), end);
    if (time > 0) return time;
  }
  return 0;
}

[[noreturn]] void refuse(const std::string& command, const std::string& problem,
                         const std::string& advice) {
  throw support::CommandError(support::Exit::failed,
                              "--against: " + support::quoted(command) + " " + problem, advice);
}

// What the command writes to stdout.
std::string output_of(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) refuse(command, "cannot be started", "is there a /bin/sh?");
  std::string output;
  char part[4096];
  for (std::size_t size = 0; (size = std::fread(part, 1, sizeof part, pipe)) > 0;)
    output.append(part, size);
  const int status = pclose(pipe);
  if (WIFSIGNALED(status))
    refuse(command, "was ended by signal " + std::to_string(WTERMSIG(status)),
           "try the command alone");
  if (WEXITSTATUS(status) != 0)
    refuse(command, "failed with exit status " + std::to_string(WEXITSTATUS(status)),
           "try the command alone");
  return output;
}

}  // namespace

Times times_in(const std::string& output) {
  std::string text = output;
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const double best = time_behind(text, "best"), median = time_behind(text, "median");
  const double other = best > 0 ? best : median > 0 ? median : first_time(text, 0);
  return {best > 0 ? best : other, median > 0 ? median : other};
}

Row against(const std::function<Row()>& work, const std::string& command, std::int64_t rounds) {
  struct Rounds {
    std::vector<double> best, median;
    void add(Times times) {
      best.push_back(times.best);
      median.push_back(times.median);
    }
    Times all() const {
      return {*std::min_element(best.begin(), best.end()), bench::median(median)};
    }
  } row_times, limit_times, other_times;
  Row row;
  for (std::int64_t round = 0; round < rounds; ++round) {
    row = work();
    row_times.add(row.time);
    limit_times.add(row.least);
    const Times other = times_in(output_of(command));
    if (!(other.best > 0))
      refuse(command, "printed no time", "it must print a time like 'best 1.5 ms, median 1.6 ms'");
    other_times.add(other);
  }
  row.time = row_times.all();
  row.least = limit_times.all();
  row.other = other_times.all();
  return row;
}

}  // namespace fledge::bench
