#include "examples/fledge/commands.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "examples/fledge/check_row.h"
#include "examples/support/options.h"
#include "examples/support/table.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

// The table of gradients (gradients/table.h), compiled for Dual.
namespace fledge_dual {
std::vector<report::CheckRow> check_gradients(const report::CheckRequest& request);
std::vector<std::string> gradient_names();
}  // namespace fledge_dual

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

std::string as_table(const CheckRows& rows, support::Paint paint) {
  using Align = support::Table::Align;
  support::Table table({{"what", Align::left},
                        {"shape", Align::left},
                        {"oracle", Align::left},
                        {"elements", Align::right},
                        {"largest error", Align::right},
                        {"verdict", Align::left}});
  for (const CheckRow& row : rows) {
    table.row({row.name, row.shapes, row.oracle, std::to_string(row.elements),
               support::formatted("%.1e", row.max_error),
               row.ok ? paint.good("ok") : paint.bad("FAIL")});
  }
  return table.text(support::unicode_wanted(), paint);
}

// The largest error by one oracle. NaN is worse than anything.
double worst_of(const CheckRows& rows, const char* oracle) {
  double worst = 0;
  for (const CheckRow& row : rows)
    if (row.oracle == oracle && !(row.max_error <= worst)) worst = row.max_error;
  return worst;
}

std::string summary(const CheckRows& rows, double seconds) {
  std::int64_t elements = 0;
  std::size_t proved = 0;
  for (std::size_t i = 0; i < rows.size(); i += 2) {  // two rows a name
    elements += rows[i].elements + rows[i + 1].elements;
    proved += rows[i].ok && rows[i + 1].ok ? 1 : 0;
  }
  return support::formatted(
      "%zu of %zu gradients proved twice, %lld elements in %.1f s; "
      "largest error %.1e (dual), %.1e (differences)\n",
      proved, rows.size() / 2, static_cast<long long>(elements), seconds, worst_of(rows, "dual"),
      worst_of(rows, "differences"));
}

}  // namespace

int gradcheck_command(int argc, char** argv) {
  report::CheckRequest request;
  bool json = false;
  support::Options options("fledge gradcheck",
                           "Proves the gradient of every op, module and a whole model, twice.");
  options.add("--only", "NAME", request.only,
              "check only this op or module, such as softmax or Attention");
  options.add("--seed", "N", request.seed, "of the inputs and cotangents");
  options.add("--json", "", json, "one array of objects on stdout instead of the table");
  options.example("fledge gradcheck", "everything");
  options.example("fledge gradcheck --only softmax", "the rows of one op");
  options.parse(argc, argv);

  const auto start = std::chrono::steady_clock::now();
  const CheckRows rows = fledge_dual::check_gradients(request);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (rows.empty()) {
    const std::string meant = support::closest(request.only, fledge_dual::gradient_names());
    support::refuse_usage("nothing is named " + support::quoted(request.only),
                          (meant.empty() ? "" : "did you mean '" + meant + "'? ") +
                              "the names stand in the first column of: fledge gradcheck");
  }

  const bool all_ok =
      std::all_of(rows.begin(), rows.end(), [](const CheckRow& row) { return row.ok; });
  if (json) {
    std::printf("%s\n", as_json(rows).c_str());
  } else {
    std::fputs(as_table(rows, {support::colour_wanted(stdout)}).c_str(), stdout);
    std::fputs(summary(rows, taken.count()).c_str(), stdout);
  }
  std::fflush(stdout);  // if both streams go to one terminal, the table comes first
  for (std::size_t i = 0; i < rows.size(); i += 2) {  // the two rows of a name have one report
    const CheckRow& row = rows[i].ok ? rows[i + 1] : rows[i];
    if (!row.ok)
      std::fprintf(stderr, "fledge gradcheck: %s: %s\n", row.name.c_str(), row.problem.c_str());
  }
  return all_ok ? 0 : 1;
}

}  // namespace fledge
