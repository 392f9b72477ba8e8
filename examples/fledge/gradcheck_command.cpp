#include "examples/fledge/gradcheck_command.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "examples/fledge/check_rows_json.h"
#include "examples/support/options.h"
#include "examples/support/table.h"

// The same table of gradients (gradients/table.h), compiled for each number type.
namespace fledge64 {
std::vector<report::CheckRow> check_gradients(const report::CheckRequest& request);
std::vector<std::string> gradient_names();
}  // namespace fledge64
namespace fledge_dual {
std::vector<report::CheckRow> check_gradients(const report::CheckRequest& request);
}

namespace fledge {

namespace {

using report::CheckRow;
using Rows = std::vector<CheckRow>;

// Both oracles' rows of a name behind one another, names in the order of the table.
Rows side_by_side(const Rows& dual, const Rows& differences) {
  Rows rows;
  for (std::size_t i = 0; i < dual.size(); ++i) {
    rows.push_back(dual[i]);
    rows.push_back(differences[i]);
  }
  return rows;
}

std::string as_table(const Rows& rows, support::Paint paint) {
  using Align = support::Table::Align;
  support::Table table({{"what", Align::left},
                        {"shape", Align::left},
                        {"oracle", Align::left},
                        {"elements", Align::right},
                        {"largest error", Align::right},
                        {"verdict", Align::left}});
  for (const CheckRow& row : rows) {
    char error[32];
    std::snprintf(error, sizeof error, "%.1e", row.max_error);
    table.row({row.name, row.shapes, row.oracle, std::to_string(row.elements), error,
               row.ok ? paint.good("ok") : paint.bad("FAIL")});
  }
  return table.text(support::unicode_wanted(), paint);
}

// NaN is worse than anything.
double worst_of(const Rows& rows) {
  double worst = 0;
  for (const CheckRow& row : rows)
    if (!(row.max_error <= worst)) worst = row.max_error;
  return worst;
}

std::string summary(const Rows& dual, const Rows& differences, double seconds) {
  std::int64_t elements = 0;
  std::set<std::string> proved;
  for (std::size_t i = 0; i < dual.size(); ++i) {
    elements += dual[i].elements + differences[i].elements;
    if (dual[i].ok && differences[i].ok) proved.insert(dual[i].name);
  }
  char line[200];
  std::snprintf(line, sizeof line,
                "%zu of %zu gradients proved twice, %lld elements in %.1f s; "
                "largest error %.1e (dual), %.1e (differences)\n",
                proved.size(), dual.size(), static_cast<long long>(elements), seconds,
                worst_of(dual), worst_of(differences));
  return line;
}

support::Options declared_options() {
  support::Options options("fledge gradcheck",
                           "Proves the gradient of every op, module and a whole model, twice.");
  options.text("--only", "NAME", "", "check only this op or module, such as softmax or Attention");
  options.seed(1, "of the inputs and cotangents");
  options.flag("--json", "one array of objects on stdout instead of the table");
  options.example("fledge gradcheck", "everything");
  options.example("fledge gradcheck --only softmax", "the rows of one op");
  return options;
}

}  // namespace

int gradcheck_command(int argc, char** argv) {
  support::Options options = declared_options();
  options.parse(argc, argv);
  const report::CheckRequest request{options.text("--only"), options.seed()};

  const auto start = std::chrono::steady_clock::now();
  const Rows dual = fledge_dual::check_gradients(request);
  const Rows differences = fledge64::check_gradients(request);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (dual.empty()) {
    const std::string meant = support::closest(request.only, fledge64::gradient_names());
    options.refuse("nothing is named " + support::quoted(request.only),
                   (meant.empty() ? "" : "did you mean '" + meant + "'? ") +
                       "the names stand in the first column of: fledge gradcheck");
  }

  const Rows rows = side_by_side(dual, differences);
  const bool all_ok =
      std::all_of(rows.begin(), rows.end(), [](const CheckRow& row) { return row.ok; });
  if (options.has("--json")) {
    std::printf("%s\n", as_json(rows).c_str());
  } else {
    std::fputs(as_table(rows, {support::colour_wanted(stdout)}).c_str(), stdout);
    std::fputs(summary(dual, differences, taken.count()).c_str(), stdout);
  }
  std::fflush(stdout);  // where both streams end in one place, the table comes first
  for (const CheckRow& row : rows)
    if (!row.ok)
      std::fprintf(stderr, "fledge gradcheck: %s (%s): %s\n", row.name.c_str(), row.oracle.c_str(),
                   row.problem.c_str());
  return all_ok ? 0 : 1;
}

}  // namespace fledge
