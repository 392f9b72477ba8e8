#include "examples/fledge/commands.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "examples/fledge/against.h"
#include "examples/fledge/gradients/gradients.h"
#include "examples/support/options.h"
#include "examples/support/table.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

namespace fledge {

namespace {

using report::CheckRow, report::Explanation;
using CheckRows = std::vector<CheckRow>;

// One array of objects: one for each name and oracle.
std::string as_json(const CheckRows& rows) {
  std::vector<Json> objects;
  for (const CheckRow& row : rows)
    for (const auto& [oracle, max_error, ok] : {row.dual, row.differences}) {
      Json::Members members{{"name", row.name},       {"shapes", row.shapes},
                            {"oracle", oracle},       {"elements", row.elements},
                            {"max_error", max_error}, {"ok", ok}};
      if (!ok) members.emplace_back("problem", row.problem);
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

std::string as_table(const CheckRows& rows, support::Paint paint) {
  using Align = support::Table::Align;
  support::Table table({{"what", Align::left},
                        {"shapes", Align::left},
                        {"dual", Align::right},
                        {"differences", Align::right},
                        {"", Align::left}});
  for (const CheckRow& row : rows)
    table.row({row.name, short_shapes(row.shapes), short_error(row.dual.max_error),
               short_error(row.differences.max_error),
               paint.bold(row.ok() ? paint.good("ok") : paint.bad("FAIL"))});
  return table.text(support::unicode_wanted(), paint, support::terminal_width(stdout));
}

// The larger of two errors. NaN is worse than anything; infinite: nothing was decided.
double worse_of(double worst, double error) {
  return !std::isinf(error) && !(error <= worst) ? error : worst;
}

std::string summary(const CheckRows& rows, double seconds, support::Paint paint) {
  std::int64_t elements = 0, passed = 0;
  double worst_dual = 0, worst_differences = 0;
  for (const CheckRow& row : rows) {
    elements += row.elements;
    passed += row.ok();
    worst_dual = worse_of(worst_dual, row.dual.max_error);
    worst_differences = worse_of(worst_differences, row.differences.max_error);
  }
  const std::int64_t failed = std::ssize(rows) - passed;
  const std::string counts =
      support::thousands(passed) + " passed, " + support::thousands(failed) + " failed";
  return paint.bold(failed == 0 ? paint.good(counts) : paint.bad(counts)) + "; " +
         support::counted(elements, "element") +
         support::formatted(", each compared twice, in %.1f s\n", seconds) +
         support::formatted("largest error %.1e (dual numbers), %.1e (differences)\n", worst_dual,
                            worst_differences);
}

[[noreturn]] void refuse_name(const std::string& name, const std::string& meant) {
  support::refuse_usage(
      "nothing is named " + support::quoted(name),
      (meant.empty() ? "" : "did you mean '" + meant + "'? ") +
          "the first column of 'fledge gradcheck' has the names; a name of several "
          "words needs quotes");
}

void require_row(const std::string& row) {
  const std::vector<std::string> names = fledge_dual::gradient_names();
  if (support::is_one_of(row, names)) return;
  const auto longer = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
    return name.starts_with(row + " ");
  });
  refuse_name(row, longer != names.end() ? *longer : support::closest(row, names));
}

constexpr std::size_t most_paths = 12;  // of those printed

/// "linear:1[0,2]" as row, tensor and index.
report::ExplainRequest request_of(const std::string& element, std::uint64_t seed) {
  const auto refuse = [&] {
    support::refuse_usage("--explain needs one element: got " + support::quoted(element),
                          "write --explain \"softmax[0,1]\", or \"linear:1[0,2]\" for argument 1");
  };
  const std::size_t open = element.rfind('[');
  if (open == std::string::npos || !element.ends_with(']')) refuse();
  const std::string name = element.substr(0, open);
  const std::size_t colon = std::min(name.rfind(':'), name.size());
  report::ExplainRequest request{name.substr(0, colon), "", {}, seed};
  if (colon < name.size()) request.tensor = name.substr(colon + 1);
  std::string indices = element.substr(open + 1, element.size() - open - 2);
  std::erase(indices, ' ');
  for (const std::string& part : support::split(indices, ','))
    if (!support::number_variable(request.index.emplace_back(), {}).set(part).empty()) refuse();
  return request;
}

std::string digits(double x) { return support::formatted("%.6g", x); }

/// The paths in the order of the outputs. Of many, the largest; the others as one sum.
std::string path_table(const Explanation& found, support::Paint paint) {
  std::vector<double> sizes;
  for (const report::Path& path : found.paths) sizes.push_back(std::abs(path.part()));
  std::sort(sizes.rbegin(), sizes.rend());
  const double least = sizes.size() > most_paths ? sizes[most_paths - 1] : 0;
  auto table = support::Table::of_numbers({"through", "derivative", "v", "product"});
  std::size_t shown = 0;
  double rest = 0;
  for (const report::Path& path : found.paths) {
    if (shown < most_paths && std::abs(path.part()) >= least) {
      ++shown;
      table.row(
          {path.output, digits(path.derivative), digits(path.cotangent), digits(path.part())});
    } else {
      rest += path.part();
    }
  }
  if (shown < found.paths.size())
    table.row({std::to_string(found.paths.size() - shown) + " smaller ones", "", "", digits(rest)});
  table.row({"sum", "", "", digits(found.by_paths)});
  return table.text(support::unicode_wanted(), paint, support::terminal_width(stdout));
}

std::string uses_text(const Explanation& found) {
  if (found.uses.empty()) return found.tensor + " enters no op that gives it a gradient.\n";
  if (found.uses.size() == 1)
    return found.tensor + " enters one op, " + found.uses[0].op + ": its rule gives " +
           digits(found.uses[0].part) + ".\n";
  std::string text = found.tensor + " enters " + std::to_string(found.uses.size()) +
                     " ops. backward() adds what their rules give:\n";
  for (const report::Use& use : found.uses)
    text += "  " + support::pad_right(use.op, 24) + support::pad_left(digits(use.part), 22) + "\n";
  return text;
}

std::string verdict(const Explanation& found, support::Paint paint) {
  if (!found.paths_agree)
    return paint.bad("The paths do not add up to what backward() gives: a rule is wrong.");
  const std::string text = "The paths add up to what backward() gives";
  if (!found.differences_decide) return text + ". Differences cannot decide here.";
  return found.differences_agree ? paint.good(text + ".")
                                 : paint.bad(text + ", but differences give another number.");
}

std::string explanation_text(const Explanation& found, std::uint64_t seed, support::Paint paint) {
  const std::string gradient = "dL/d" + found.element;
  const auto line = [&](const char* name, double value, bool is_reference) {
    return "  " + support::pad_right(name, 24) +
           support::pad_left(support::formatted("%.15f", value), 22) +
           (is_reference ? "" : support::formatted("   off by %.1e", value - found.by_backward)) +
           "\n";
  };
  std::string lines = paint.bold(found.row + ": how " + gradient + " comes about") + "\n\n";
  lines += support::paragraph(
               found.tensor + " has shape " + found.tensor_shape + ", the output y has shape " +
               found.output_shape +
               ". The loss L is the sum of v times y, with a random number v for each output "
               "(seed " +
               std::to_string(seed) + "). So " + gradient +
               " is the sum, over all outputs, of the derivative of y by " + found.element +
               " times v. " +
               (found.paths.empty() ? "But no output depends on it."
                                    : "Each output that depends on it is one path:")) +
           "\n";
  if (!found.paths.empty()) lines += path_table(found, paint) + "\n";
  if (found.other_outputs > 0 && !found.paths.empty())
    lines += support::paragraph("The other " + support::counted(found.other_outputs, "output") +
                                " " + (found.other_outputs == 1 ? "does" : "do") +
                                " not depend on " + found.element + ".");
  lines += support::paragraph(uses_text(found));
  lines += line("backward()", found.by_backward, true) +
           line("paths (dual numbers)", found.by_paths, false) +
           line("differences", found.by_differences, false);
  return lines + "\n" + support::paragraph(paint.bold(verdict(found, paint)));
}

Json explanation_json(const Explanation& found, std::uint64_t seed) {
  support::Rows paths({"output", "derivative", "cotangent", "product"}), uses({"op", "gives"});
  for (const report::Path& path : found.paths)
    paths.add({path.output, path.derivative, path.cotangent, path.part()});
  for (const report::Use& use : found.uses) uses.add({use.op, use.part});
  return Json::object({{"name", found.row},
                       {"element", found.element},
                       {"seed", seed},
                       {"paths", paths.json()},
                       {"other_outputs", found.other_outputs},
                       {"ops", uses.json()},
                       {"sum_of_paths", found.by_paths},
                       {"backward", found.by_backward},
                       {"differences", found.by_differences},
                       {"paths_agree", found.paths_agree},
                       {"differences_agree", found.differences_agree},
                       {"differences_decide", found.differences_decide}});
}

/// Prints how the element, such as "softmax[0,1]" or "linear:1[0,2]", gets its gradient. Exit
/// status: 0 if the paths add up to what backward() gives and differences agree, else 1. Throws
/// UsageError for a text that names no element.
int explain_element(const std::string& element, std::uint64_t seed, bool json) {
  const report::ExplainRequest request = request_of(element, seed);
  require_row(request.row);
  const Explanation found = fledge_dual::explain_gradient(request);
  const support::Paint paint{!json && support::colour_wanted(stdout)};
  const std::string text =
      json ? explanation_json(found, seed).indented() + "\n" : explanation_text(found, seed, paint);
  std::fputs(text.c_str(), stdout);
  return found.paths_agree && (found.differences_agree || !found.differences_decide) ? 0 : 1;
}

/// Checks a program that computes the op of this row. Exit status: 0 if its y and dx are right.
int check_program(const std::string& command, const std::string& row, std::uint64_t seed,
                  bool json) {
  require_row(row);
  const report::AgainstResult found = fledge_dual::check_against(
      row, seed,
      [&](const auto& inputs, auto& answer) { call_program(command, row, inputs, answer); });
  const bool is_right = found.problem.empty();
  if (json) {
    Json::Members members{{"name", row},
                          {"program", command},
                          {"elements", found.elements},
                          {"max_error", found.max_error},
                          {"ok", is_right}};
    if (!is_right) members.emplace_back("problem", found.problem);
    std::printf("%s\n", Json::object(members).indented().c_str());
  } else if (is_right) {
    std::printf("%s: ok: %s of y and dx in %zu calls, largest error %.1e\n", row.c_str(),
                support::counted(found.elements, "element").c_str(), found.calls, found.max_error);
  }
  if (!is_right)
    support::say(stderr, "fledge gradcheck: " + support::printable(command) + ": " + found.problem,
                 4);
  return is_right ? 0 : 1;
}

}  // namespace

int gradcheck_command(int argc, char** argv) {
  std::uint64_t seed = 1;
  std::string explain, against;
  bool json = false;
  support::Options options("fledge gradcheck",
                           "Proves the gradient of every op, module and a whole model, twice.");
  options.arguments("NAME", 0, 1000);
  options.add("--explain", "NAME[i,j]", explain,
              "how this number of the gradient comes about, path by path; NAME:1[i,j] is about "
              "argument 1");
  options.add(
      "--against", "COMMAND", against,
      "checks your program (a shell runs exec COMMAND) for the op NAME: it reads safetensors (F32) "
      "from stdin, the inputs x, or x0, x1 of several, and dy, and writes y and dx, or dx0, dx1, to "
      "stdout; axes, heads, masks and targets are those of the op's row, and are not sent");
  options.add("--seed", "N", seed, "seed of the random inputs and cotangents");
  options.add("--json", "", json, "the same as JSON on stdout");
  options.example("fledge gradcheck", "everything");
  options.example("fledge gradcheck softmax layer_norm", "the rows of two ops");
  options.example("fledge gradcheck --explain \"softmax[0,1]\"", "one number of a gradient");
  options.example("fledge gradcheck softmax --against ./mine", "a program of yours");
  options.exit_statuses("0 done, 1 failed, 2 wrong usage, 3 unusable input");
  options.parse(argc, argv);
  if (!explain.empty()) {
    if (!options.arguments().empty())
      support::refuse_usage("--explain is about one number, and other names were given",
                            "leave out the other names");
    return explain_element(explain, seed, json);
  }
  const std::vector<std::string>& names = options.arguments();
  const std::vector<std::string> known = fledge_dual::gradient_names();
  for (const std::string& name : names)
    if (std::none_of(known.begin(), known.end(),
                     [&](const std::string& row) { return report::is_named(row, name); }))
      refuse_name(name, support::closest(name, known));
  if (!against.empty()) {
    if (names.size() != 1)
      support::refuse_usage("--against needs the one op that the program computes",
                            "write fledge gradcheck softmax --against " + support::quoted(against));
    return check_program(against, names[0], seed, json);
  }

  const auto start = std::chrono::steady_clock::now();
  const CheckRows rows = fledge_dual::check_gradients(names, seed);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (json) {
    std::printf("%s\n", as_json(rows).c_str());
  } else {
    const support::Paint paint{support::colour_wanted(stdout)};
    std::fputs(as_table(rows, paint).c_str(), stdout);
    std::fputs(summary(rows, taken.count(), paint).c_str(), stdout);
  }
  std::fflush(stdout);  // if both streams go to one terminal, the table comes first
  for (const CheckRow& row : rows)
    if (!row.ok()) support::say(stderr, "fledge gradcheck: " + row.name + ": " + row.problem, 4);
  return std::all_of(rows.begin(), rows.end(), [](const CheckRow& row) { return row.ok(); }) ? 0
                                                                                             : 1;
}

}  // namespace fledge
