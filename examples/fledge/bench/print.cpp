#include "examples/fledge/bench/print.h"

#include <cmath>
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

constexpr int page = 80, name_width = 35, time_width = 8, rate_width = 7, share_width = 5;

/// A limit that could not be measured is NaN.
std::string number(const char* format, double value) {
  return std::isnan(value) ? "-" : formatted(format, value);
}

/// Three digits and the unit: "1.23 us".
std::string time_text(double seconds) {
  const char* const units[] = {"ns", "us", "ms", "s"};
  double value = seconds * 1e9;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit < 3; ++unit) value /= 1000;
  const int places = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return formatted("%.*f", places, value) + " " + units[unit];
}

/// Columns of fixed width: a line is printed before the next row is known.
std::string line(const std::string& name, const std::string& time, const std::string& rate,
                 const std::string& share, const std::string& limit) {
  const bool is_wide = support::display_width(name) > name_width;
  std::string text = is_wide ? name + "\n" : "";
  text += pad_right(is_wide ? "" : name, name_width) + "  " + pad_left(time, time_width) + "  " +
          pad_left(rate, rate_width) + "  " + pad_left(share, share_width) + "  " + limit;
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

void put(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

/// Measures the row's limit once more, right behind the row.
void measure_limit(const Row& row, Limits& limits) {
  if (row.flops > 0) limits.measure_gflops();
  if (row.bytes > 0 && row.reading.median == 0) limits.measure_gigabytes();
}

Limits first_limits() {
  Limits limits;
  limits.measure_gflops();
  limits.measure_call();
  return limits;
}

std::string row_line(const Row& row, const Bound& bound) {
  const std::string share = bound.limit.empty() || bound.limit == "caches" ? ""
                            : bound.is_the_limit                           ? "limit"
                                                 : number("%.0f %%", 100 * bound.share);
  return line(row.name + " " + (row.short_sizes.empty() ? row.sizes : row.short_sizes),
              time_text(row.seconds), row.flops > 0 ? number("%.1f", gflops_of(row)) : "", share,
              bound.limit);
}

/// What a row with tokens says beside its time; "" for other rows.
std::string tokens_text(const Row& row, const Bound& bound) {
  if (row.tokens == 0) return "";
  std::string text = row.name + ": " + number("%.1f", row.tokens / row.seconds) +
                     " tokens/s, at best " + number("%.1f", row.tokens / row.best_seconds) + ".";
  if (row.bytes > 0) {
    text += " A token reads " + number("%.1f", row.bytes * 1e-6) +
            " MB of weights: " + number("%.1f", gigabytes_of(row)) + " GB/s, at best " +
            number("%.1f", best_gigabytes_of(row)) +
            ". In turn with it, all threads read an array at " +
            number("%.1f", row.reading.median) + " GB/s, at best " +
            number("%.1f", row.reading.best) + ".";
    if (bound.limit == "reading")
      text += " The share is " + number("%.0f %%", 100 * bound.share) + ", best by best " +
              number("%.0f %%", 100 * best_share(row)) + ".";
  }
  return support::wrapped(text, page) + "\n";
}

Json row_json(const Row& row, const Bound& bound, const Limits& limits) {
  Json::Members members{{"name", row.name},         {"sizes", row.sizes},
                        {"ms", row.seconds * 1e3},  {"us", row.seconds * 1e6},
                        {"gflops", gflops_of(row)}, {"share_of_peak", share_of_peak(row, limits)},
                        {"peak_of", peak_of(row)},  {"limited_by", bound.limit},
                        {"threads", threads()},     {"peak_mb", row.peak_mb}};
  const auto add = [&](std::string_view name, double value) { members.emplace_back(name, value); };
  if (row.tokens > 0) {
    add("tokens_per_second", row.tokens / row.seconds);
    add("best_tokens_per_second", row.tokens / row.best_seconds);
  }
  if (row.reading.median != 0) {
    add("bytes", row.bytes);
    add("read_gigabytes", row.reading.median);
    add("best_read_gigabytes", row.reading.best);
    add("best_share", best_share(row));
  }
  return Json::object(members);
}

std::string summary(const Limits& limits, double peak_mb) {
  return support::wrapped(formatted("%d thread%s; at most ", threads(), threads() == 1 ? "" : "s") +
                              number("%.0f", limits.gflops) + " GFLOP/s of multiply-adds and " +
                              number("%.1f", limits.gigabytes) + " GB/s of memory, " +
                              time_text(limits.call) + " for a call; peak " +
                              number("%.0f", peak_mb) + " MB",
                          page) +
         "\n";
}

}  // namespace

void print_table(const std::vector<Work>& list) {
  const support::Paint paint{support::colour_wanted(stdout)};
  put(paint.bold(line("what", "time", "GFLOP/s", "share", "of what limits it")));
  Limits limits = first_limits();
  double peak_mb = 0;
  bool has_step = false, has_limit = false;
  std::string of_tokens;
  for (const Work& work : list)
    for (const Row& row : work()) {
      measure_limit(row, limits);
      const Bound bound = bound_of(row, limits);
      put(row_line(row, bound));
      of_tokens += tokens_text(row, bound);
      peak_mb = row.peak_mb;
      has_step = has_step || row.name == "step";
      has_limit = has_limit || bound.is_the_limit;
      if (std::ferror(stdout)) return;  // the output is closed: the rest is not measured
    }
  limits.measure_gflops();
  limits.measure_gigabytes();
  put("\n" + of_tokens + summary(limits, peak_mb));
  if (has_step) put("step: layers x heads x width, batch x context, vocabulary\n");
  if (has_limit)
    put(support::wrapped("limit: at the limit. The row is faster than what was measured alone, so "
                         "it is the limit of the rows behind it.",
                         page) +
        "\n");
}

void print_json(const std::vector<Work>& list) {
  Limits limits = first_limits();
  std::vector<Row> rows;
  for (const Work& work : list)
    for (Row& row : work()) rows.push_back(std::move(row));
  limits.measure_gflops();
  limits.measure_gigabytes();
  std::vector<Bound> bounds;
  for (const Row& row : rows) bounds.push_back(bound_of(row, limits));  // raises the limits
  std::vector<Json> objects{Json::object({{"name", "machine"},
                                          {"gflops", limits.gflops},
                                          {"gigabytes", limits.gigabytes},
                                          {"call_ns", limits.call * 1e9},
                                          {"threads", threads()}})};
  for (std::size_t i = 0; i < rows.size(); ++i)
    objects.push_back(row_json(rows[i], bounds[i], limits));
  std::printf("%s\n", Json(objects).indented().c_str());
}

}  // namespace fledge::bench
