#include "examples/fledge/explain_command.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <vector>

#include "examples/fledge/explanation.h"
#include "examples/support/errors.h"
#include "examples/support/table.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

// Compiled for Dual: gradients/explain.cpp.
namespace fledge_dual {
report::Explanation explain_gradient(const report::ExplainRequest& request);
}

namespace fledge {

namespace {

using report::Explanation;

int page() { return support::text_width(stdout); }
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
  std::istringstream parts(indices);
  for (std::string part; std::getline(parts, part, ',');) {
    const char* const end = part.data() + part.size();
    const auto read = std::from_chars(part.data(), end, request.index.emplace_back());
    if (part.empty() || read.ptr != end || read.ec != std::errc()) refuse();
  }
  return request;
}

void require_row(const std::string& row) {
  const std::vector<std::string> names = fledge_dual::gradient_names();
  if (std::find(names.begin(), names.end(), row) != names.end()) return;
  const auto longer = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
    return name.starts_with(row + " ");
  });
  const std::string meant = longer != names.end() ? *longer : support::closest(row, names);
  support::refuse_usage("nothing is named " + support::quoted(row),
                        (meant.empty() ? "" : "did you mean '" + meant + "'? ") +
                            "the first column of 'fledge gradcheck' has the names");
}

std::string digits(double x) { return support::formatted("%.6g", x); }

/// The paths in the order of the outputs. Of many, the largest; the others as one sum.
std::string path_table(const Explanation& found, support::Paint paint) {
  using Align = support::Table::Align;
  std::vector<double> sizes;
  for (const report::Path& path : found.paths) sizes.push_back(std::abs(path.part()));
  std::sort(sizes.rbegin(), sizes.rend());
  const double least = sizes.size() > most_paths ? sizes[most_paths - 1] : 0;
  support::Table table({{"through", Align::left},
                        {"derivative", Align::right},
                        {"v", Align::right},
                        {"product", Align::right}});
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
    return paint.bold(
        paint.bad("The paths do not add up to what backward() gives: a rule is "
                  "wrong."));
  if (!found.differences_decide)
    return paint.bold("The paths add up to what backward() gives. Differences cannot decide here.");
  if (!found.differences_agree)
    return paint.bold(
        paint.bad("The paths add up to what backward() gives, but differences give "
                  "another number."));
  return paint.bold(paint.good("The paths add up to what backward() gives."));
}

std::string as_text(const Explanation& found, std::uint64_t seed, support::Paint paint) {
  const std::string gradient = "dL/d" + found.element;
  const auto line = [&](const char* name, double value, bool is_reference) {
    return "  " + support::pad_right(name, 24) +
           support::pad_left(support::formatted("%.15f", value), 22) +
           (is_reference ? "" : support::formatted("   off by %.1e", value - found.by_backward)) +
           "\n";
  };
  const auto paragraph = [](const std::string& text) {
    return support::wrapped(text, page()) + "\n";
  };
  std::string lines = paint.bold(found.row + ": how " + gradient + " comes about") + "\n\n";
  lines += paragraph(found.tensor + " has shape " + found.tensor_shape +
                     ", the output y has shape " + found.output_shape +
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
    lines += paragraph("The other " + support::counted(found.other_outputs, "output") + " " +
                       (found.other_outputs == 1 ? "does" : "do") + " not depend on " +
                       found.element + ".");
  lines += paragraph(uses_text(found));
  lines += line("backward()", found.by_backward, true) +
           line("paths (dual numbers)", found.by_paths, false) +
           line("differences", found.by_differences, false);
  return lines + "\n" + support::wrapped(verdict(found, paint), page()) + "\n";
}

std::string as_json(const Explanation& found, std::uint64_t seed) {
  std::vector<Json> paths, uses;
  for (const report::Path& path : found.paths)
    paths.push_back(Json::object({{"output", path.output},
                                  {"derivative", path.derivative},
                                  {"cotangent", path.cotangent},
                                  {"product", path.part()}}));
  for (const report::Use& use : found.uses)
    uses.push_back(Json::object({{"op", use.op}, {"gives", use.part}}));
  return Json::object({{"name", found.row},
                       {"element", found.element},
                       {"seed", seed},
                       {"paths", Json(paths)},
                       {"other_outputs", found.other_outputs},
                       {"ops", Json(uses)},
                       {"sum_of_paths", found.by_paths},
                       {"backward", found.by_backward},
                       {"differences", found.by_differences},
                       {"paths_agree", found.paths_agree},
                       {"differences_agree", found.differences_agree},
                       {"differences_decide", found.differences_decide}})
      .indented();
}

}  // namespace

int explain_element(const std::string& element, std::uint64_t seed, bool json) {
  const report::ExplainRequest request = request_of(element, seed);
  require_row(request.row);
  const Explanation found = fledge_dual::explain_gradient(request);
  if (!found.problem.empty()) support::refuse_usage(found.problem, found.advice);
  const support::Paint paint{!json && support::colour_wanted(stdout)};
  std::printf("%s", (json ? as_json(found, seed) + "\n" : as_text(found, seed, paint)).c_str());
  return found.paths_agree && (found.differences_agree || !found.differences_decide) ? 0 : 1;
}

}  // namespace fledge
