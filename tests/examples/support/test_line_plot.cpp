#include "examples/support/line_plot.h"

#include <cmath>

#include "examples/support/text.h"
#include "tests/support/catch.h"

using namespace support;

namespace {

LinePlot falling() {
  LinePlot plot{.x_name = "steps", .curves = {{"loss", "●", "o", {}}}};
  for (int step = 1; step <= 10; ++step) plot.curves[0].points.emplace_back(step, 10 - step);
  return plot;
}

std::vector<std::string> rows_of_plot(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

TEST_CASE("plot_text: no line is wider than asked, whatever is drawn") {
  LinePlot plot = falling();
  plot.curves.push_back({"held-out loss", "○", "+", {{1, 8}, {5, 4}, {9, 6}}});
  plot.levels = {{"guessing", 8.5}, {"counting table, 3 words of history", 3}, {"b", 3.01}};
  plot.best = 5;
  plot.is_worse_after = true;
  for (int columns = 40; columns <= 120; ++columns)
    for (const bool unicode : {false, true})
      for (const std::string& line : rows_of_plot(plot_text(plot, columns, 12, unicode)))
        CHECK(display_width(line) <= columns);
}

TEST_CASE(
    "plot_text: values above the top stand at the upper edge, numbers that are none nowhere") {
  LinePlot plot = falling();
  plot.curves[0].points[0].second = 1e9;
  plot.curves[0].points[5].second = NAN;
  plot.curves[0].points.emplace_back(1e300, 3);
  plot.top = 9;
  const std::vector<std::string> lines = rows_of_plot(plot_text(plot, 17, 5, false));
  CHECK(lines.at(0) == "9.00 |oo");
  CHECK(lines.at(2) == "     |    o");
  plot.curves[0].points = {{1, NAN}};
  CHECK(plot_text(plot, 17, 5, false).empty());
  CHECK(plot_text({}, 16, 5, false).empty());
  plot.curves[0].points = {{3, 2}};
  CHECK(rows_of_plot(plot_text(plot, 30, 5, false)).size() == 8);
}

TEST_CASE("plot_text: a logarithmic axis gives each power the same room") {
  LinePlot plot = falling();
  plot.curves[0].points = {{1, 1}, {10, 1}, {100, 1}};
  plot.has_log_axis = true;
  const std::vector<std::string> lines = rows_of_plot(plot_text(plot, 18, 3, false));
  CHECK(lines.at(1) == "     |o    o    o");
}

TEST_CASE("plot_picture draws every curve and level") {
  LinePlot plot = falling();
  plot.levels = {{"guessing <b>", 9}};
  plot.best = 5;
  const std::string file = plot_picture(plot).file();
  CHECK(file.find("guessing &lt;b&gt; 9.00") != std::string::npos);
  CHECK(file.find("<path d=\"M60 20 L") != std::string::npos);
  CHECK(file.find("520 340\"") != std::string::npos);
  CHECK(file.find("best 5") != std::string::npos);
}
