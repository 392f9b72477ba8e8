#include "examples/fledge/bench/print.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "engine/base/thread_pool.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

namespace fledge::bench {

namespace {

using support::formatted;
using support::pad_left;
using support::pad_right;

constexpr int page = 80, name_width = 21;

/// Three digits and the unit: "1.23 us".
std::string time_text(double seconds) {
  const char* const units[] = {"ns", "us", "ms", "s"};
  double value = seconds * 1e9;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit < 3; ++unit) value /= 1000;
  const int places = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return formatted("%.*f", places, value) + " " + units[unit];
}

/// Columns of fixed width: a line is printed before the next row is known. A wide name has a line
/// of its own.
std::string line(const std::string& name, const std::array<std::string, 6>& columns) {
  constexpr int widths[] = {7, 7, 9, 5, 6};
  const bool is_wide = support::display_width(name) > name_width;
  std::string text = is_wide ? name + "\n" : "";
  text += pad_right(is_wide ? "" : name, name_width);
  for (std::size_t i = 0; i < 5; ++i) text += "  " + pad_left(columns[i], widths[i]);
  text += "  " + columns[5];
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

void put(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

/// Of one run, 10⁹ operations or bytes, in so many seconds.
double rate(const Row& row, double seconds) {
  return (row.flops > 0 ? row.flops : row.bytes) / seconds * 1e-9;
}

std::string row_line(const Row& row) {
  const bool has_limit = !row.limit.empty();
  const auto percent = [&](double share) {
    return has_limit ? formatted("%.0f %%", 100 * share) : "";
  };
  const std::string best_rate =
      formatted(row.flops > 0 ? "%.1f" : "%.1f GB/s", rate(row, row.time.best));
  return line(row.name + " " + (row.short_sizes.empty() ? row.sizes : row.short_sizes),
              {time_text(row.time.best), time_text(row.time.median), has_limit ? best_rate : "",
               percent(best_share(row)), percent(median_share(row)), row.limit});
}

/// What a row with tokens says beside its time; "" for other rows.
std::string tokens_text(const Row& row) {
  if (row.tokens == 0) return "";
  std::string text = row.name + ": " +
                     formatted("%.1f tokens/s, at best %.1f.", row.tokens / row.time.median,
                               row.tokens / row.time.best);
  if (row.bytes > 0)
    text += formatted(
        " A token reads %.1f MB of weights. A loop that only reads them takes %s, at "
        "best %s.",
        row.bytes * 1e-6, time_text(row.least.median).c_str(), time_text(row.least.best).c_str());
  return support::wrapped(text, page) + "\n";
}

Json row_json(const Row& row) {
  Json::Members members{{"name", row.name},
                        {"sizes", row.sizes},
                        {"best_us", row.time.best * 1e6},
                        {"median_us", row.time.median * 1e6},
                        {"threads", threads()},
                        {"peak_mb", row.peak_mb}};
  const auto add = [&](const char* name, const Json& value) { members.emplace_back(name, value); };
  if (!row.limit.empty()) {
    add("limit", row.limit);
    add("limit_best_us", row.least.best * 1e6);
    add("limit_median_us", row.least.median * 1e6);
    add("best_share", best_share(row));
    add("median_share", median_share(row));
    const bool computes = row.flops > 0;
    add(computes ? "best_gflops" : "best_gigabytes", rate(row, row.time.best));
    add(computes ? "limit_best_gflops" : "limit_best_gigabytes", rate(row, row.least.best));
  }
  if (row.tokens > 0) {
    add("best_tokens_per_second", row.tokens / row.time.best);
    add("median_tokens_per_second", row.tokens / row.time.median);
  }
  return Json::object(members);
}

}  // namespace

void print_table(const std::vector<Work>& list) {
  const support::Paint paint{support::colour_wanted(stdout)};
  put(paint.bold(line("", {"", "time", "best", "", "share", "of"}) +
                 line("what", {"best", "median", "GFLOP/s", "best", "median", "the limit"})));
  double peak_mb = 0, gflops = 0;
  bool has_step = false;
  std::string below;
  for (const Work& work : list)
    for (const Row& row : work()) {
      put(row_line(row));
      below += tokens_text(row);
      peak_mb = row.peak_mb;
      if (row.flops > 0) gflops = std::max(gflops, rate(row, row.least.best));
      has_step = has_step || row.name == "step";
      if (std::ferror(stdout)) return;  // the output is closed: the rest is not measured
    }
  std::string summary = formatted("%d thread%s; ", threads(), threads() == 1 ? "" : "s");
  if (gflops > 0) summary += formatted("at best %.0f GFLOP/s of multiply-adds; ", gflops);
  put("\n" + below + support::wrapped(summary + formatted("peak %.0f MB", peak_mb), page) + "\n");
  if (has_step)
    put("step: layers x heads x width, batch x context, vocabulary; wall time of a step\n");
}

void print_json(const std::vector<Work>& list) {
  std::vector<Json> objects;
  for (const Work& work : list)
    for (const Row& row : work()) objects.push_back(row_json(row));
  std::printf("%s\n", Json(objects).indented().c_str());
}

}  // namespace fledge::bench
