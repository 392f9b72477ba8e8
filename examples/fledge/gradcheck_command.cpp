#include "examples/fledge/commands.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "examples/fledge/check_row.h"
#include "examples/fledge/explain_command.h"
#include "examples/support/options.h"
#include "examples/support/table.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

// The table of gradients (gradients/table.h), compiled for Dual.
namespace fledge_dual {
std::vector<report::CheckRow> check_gradients(const report::CheckRequest& request);
}

namespace fledge {

namespace {

using report::CheckRow;
using CheckRows = std::vector<CheckRow>;

// One array of objects.
std::string as_json(const std::vector<CheckRow>& rows) {
  std::vector<Json> objects;
  for (const CheckRow& row : rows) {
    Json::Members members{{"name", row.name},           {"shapes", row.shapes},
                          {"oracle", row.oracle},       {"elements", row.elements},
                          {"max_error", row.max_error}, {"ok", row.ok}};
    if (!row.ok) members.emplace_back("problem", row.problem);
    objects.push_back(Json::object(members));
  }
  return Json(objects).indented();
}

/// "(2, 3) (4)" as "2x3 4"; numbers are "()".
std::string short_shapes(const std::string& shapes) {
  std::string text;
  bool inside = false;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i] == '(') inside = true;
    if (shapes[i] == ')') inside = false;
    if (shapes.compare(i, 2, "()") == 0)
      text += "()", ++i;
    else if (inside && shapes[i] == ',')
      text += 'x', ++i;
    else if (shapes[i] != '(' && shapes[i] != ')')
      text += shapes[i];
  }
  return text;
}

// "-" of an oracle that has decided no element.
std::string short_error(double error) {
  return std::isinf(error) ? "-" : support::formatted("%.1e", error);
}

// The two rows of a name, one for each oracle, become one line.
std::string as_table(const CheckRows& rows, support::Paint paint) {
  using Align = support::Table::Align;
  support::Table table({{"what", Align::left},
                        {"shapes", Align::left},
                        {"dual", Align::right},
                        {"differences", Align::right},
                        {"", Align::left}});
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    const CheckRow &dual = rows[i], &differences = rows[i + 1];
    table.row({dual.name, short_shapes(dual.shapes), short_error(dual.max_error),
               short_error(differences.max_error),
               paint.bold(dual.ok && differences.ok ? paint.good("ok") : paint.bad("FAIL"))});
  }
  return table.text(support::unicode_wanted(), paint, support::terminal_width(stdout));
}

// The largest error by one oracle, of the rows that it has decided. NaN is worse than anything.
double worst_of(const CheckRows& rows, const char* oracle) {
  double worst = 0;
  for (const CheckRow& row : rows)
    if (row.oracle == oracle && !std::isinf(row.max_error) && !(row.max_error <= worst))
      worst = row.max_error;
  return worst;
}

std::string summary(const CheckRows& rows, double seconds, support::Paint paint) {
  std::int64_t elements = 0, passed = 0;
  for (std::size_t i = 0; i < rows.size(); i += 2) {  // two rows a name
    elements += rows[i].elements;
    passed += rows[i].ok && rows[i + 1].ok ? 1 : 0;
  }
  const std::int64_t failed = static_cast<std::int64_t>(rows.size() / 2) - passed;
  const std::string counts =
      support::thousands(passed) + " passed, " + support::thousands(failed) + " failed";
  return paint.bold(failed == 0 ? paint.good(counts) : paint.bad(counts)) + "; " +
         support::counted(elements, "element") +
         support::formatted(", each compared twice, in %.1f s\n", seconds) +
         support::formatted("largest error %.1e (dual numbers), %.1e (differences)\n",
                            worst_of(rows, "dual"), worst_of(rows, "differences"));
}

/// The names that these words mean, in which a name may be several words: softmax causal.
std::vector<std::string> names_of(const std::vector<std::string>& words) {
  const std::vector<std::string> known = fledge_dual::gradient_names();
  const auto selects = [&](const std::string& name) {
    return std::any_of(known.begin(), known.end(),
                       [&](const std::string& row) { return report::is_named(row, name); });
  };
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < words.size();) {
    std::size_t end = words.size();
    std::string name;
    for (; end > begin; --end) {
      name = words[begin];
      for (std::size_t i = begin + 1; i < end; ++i) name += " " + words[i];
      if (selects(name)) break;
    }
    if (end == begin) {
      const std::string meant = support::closest(words[begin], known);
      support::refuse_usage("nothing is named " + support::quoted(words[begin]),
                            (meant.empty() ? "" : "did you mean '" + meant + "'? ") +
                                "the first column of 'fledge gradcheck' has the names");
    }
    names.push_back(name);
    begin = end;
  }
  return names;
}

void print_problems(const CheckRows& rows) {
  std::fflush(stdout);  // if both streams go to one terminal, the table comes first
  for (std::size_t i = 0; i < rows.size(); i += 2) {  // the two rows of a name have one report
    const CheckRow& row = rows[i].ok ? rows[i + 1] : rows[i];
    const std::string text = "fledge gradcheck: " + row.name + ": " + row.problem;
    if (!row.ok) support::say(stderr, text, 4);
  }
}

}  // namespace

int gradcheck_command(int argc, char** argv) {
  report::CheckRequest request;
  std::string explain;
  bool json = false;
  support::Options options("fledge gradcheck",
                           "Proves the gradient of every op, module and a whole model, twice.");
  options.arguments("NAME", 0, 1000);
  options.add("--explain", "NAME[i,j]", explain,
              "how this number of the gradient comes about, path by path; NAME:1[i,j] is about "
              "argument 1");
  options.add("--seed", "N", request.seed, "seed of the random inputs and cotangents");
  options.add("--json", "", json, "the same as JSON on stdout");
  options.example("fledge gradcheck", "everything");
  options.example("fledge gradcheck softmax layer_norm", "the rows of two ops");
  options.example("fledge gradcheck --explain \"softmax[0,1]\"", "one number of a gradient");
  options.parse(argc, argv);
  if (!explain.empty()) {
    if (!options.arguments().empty())
      support::refuse_usage("--explain is about one number, and other names were given",
                            "leave out the other names");
    return explain_element(explain, request.seed, json);
  }
  request.names = names_of(options.arguments());

  const auto start = std::chrono::steady_clock::now();
  const CheckRows rows = fledge_dual::check_gradients(request);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (json) {
    std::printf("%s\n", as_json(rows).c_str());
  } else {
    const support::Paint paint{support::colour_wanted(stdout)};
    std::fputs(as_table(rows, paint).c_str(), stdout);
    std::fputs(summary(rows, taken.count(), paint).c_str(), stdout);
  }
  print_problems(rows);
  return std::all_of(rows.begin(), rows.end(), [](const CheckRow& row) { return row.ok; }) ? 0 : 1;
}

}  // namespace fledge
