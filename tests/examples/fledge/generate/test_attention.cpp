// fledge generate --attention for people: what is shown and drawn is what was computed.
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "examples/fledge/attention/attention_report.h"
#include "examples/fledge/attention/head_map.h"
#include "examples/fledge/attention/thumbnails.h"
#include "tests/examples/fledge/generate/recorded.h"

using namespace testing;

TEST_CASE("fledge generate --attention: a cell of a thumbnail is the largest weight of its place") {
  for (const int count : {1, 24, 60}) {
    const fledge::AttentionWeights attention = last_pass(deep_model(), count).attention;
    const Dim T = attention.size();
    for (const Dim columns : {18, 24, 7})
      for (const fledge::HeadNumber& head : chosen_heads(attention, {})) {
        const fledge::Thumbnail small = thumbnail_of(attention, head, columns);
        Dim seen = 0;
        for (std::size_t r = 0; r < small.rows.size(); ++r) {
          CHECK(static_cast<Dim>(small.rows[r].size()) <= columns);
          for (std::size_t c = 0; c < small.rows[r].size(); ++c) {
            double largest = 0;
            for (Dim i = 0; i < T; ++i)
              for (Dim j = 0; j <= i; ++j) {
                if (i / small.queries_of_cell != static_cast<Dim>(r)) continue;
                if (j / small.keys_of_cell != static_cast<Dim>(c)) continue;
                ++seen;
                largest = std::max(largest, attention.weight(head, i, j));
              }
            CHECK(small.rows[r][c] == largest);
          }
        }
        CHECK(seen == T * (T + 1) / 2);  // each weight is in one cell
      }
  }
}

TEST_CASE("fledge generate --attention --svg: a box for each weight, arcs for one head") {
  const Desk desk;
  const LastPass pass = last_pass(deep_model(), 20);
  const auto drawn = [&](const Words& more) {
    const std::string printed = text(pass.line + Words{"--attention"} + more);
    CHECK(text(pass.line + Words{"--attention", "--svg", desk / "a.svg"} + more) == printed);
    return text_of(desk / "a.svg");
  };
  const auto opacities = [](const std::string& svg, const std::string& name) {
    std::vector<double> found;
    for (std::size_t at = 0; (at = svg.find(name + "=\"", at)) != svg.npos; ++at)
      found.push_back(std::strtod(svg.c_str() + at + name.size() + 2, nullptr));
    return found;
  };
  const auto expected = [&](const fledge::HeadNumber& head, bool with_itself, double least) {
    std::vector<double> found;
    for (Dim query = 0; query < pass.attention.size(); ++query)
      for (Dim key = 0; key < query + (with_itself ? 1 : 0); ++key)
        if (const double weight = pass.attention.weight(head, query, key);
            weight >= least && weight < 1)
          found.push_back(std::round(weight * 100) / 100);
    return found;
  };
  const std::string one = drawn({"--layer", "1", "--head", "1"});
  CHECK_THAT(one, StartsWith("<svg "));
  CHECK(opacities(one, "fill-opacity") == expected({1, 1}, true, 0.005));
  CHECK(opacities(one, "stroke-opacity") == expected({1, 1}, false, 0.005));
  CHECK_THAT(one, ContainsSubstring(">Layer 1, head 1<"));
  const std::string all = drawn({});
  std::vector<double> boxes;
  for (const fledge::HeadNumber& head : chosen_heads(pass.attention, {}))
    for (const double weight : expected(head, true, 0.02)) boxes.push_back(weight);
  CHECK(opacities(all, "fill-opacity") == boxes);
  CHECK_THAT(all, ContainsSubstring(">1.0<"));
}

TEST_CASE("fledge generate --attention: with what is left out, each row of a map adds up") {
  const std::vector<Dim> ids = characters().encode("the birds sometimes walk over the lake");
  const fledge::AttentionWeights attention = weights_before(deep_model(), ids, ids.size(), 0);
  const Dim T = attention.size();
  REQUIRE(T == 38);
  support::MapStyle style;
  style.unicode = false;
  style.numbers = true;
  style.columns = 36;  // names of two columns, and eleven columns: ten tokens and the earlier ones
  REQUIRE(tokens_of_map(attention, style) == 10);
  style.columns = 200;
  for (const fledge::HeadNumber& head : chosen_heads(attention, {})) {
    const Words lines = lines_of(head_map(attention, head, style));
    const Dim rows = tokens_of_map(attention, style);
    for (Dim row = 0; row < rows; ++row) {
      std::istringstream cells(lines.at(static_cast<std::size_t>(row) + 1).substr(4));
      const Dim query = T - rows + row;
      double sum = 0, printed = 0, expected = 0;
      for (Dim key = 0; key < T - rows; ++key) expected += attention.weight(head, query, key);
      for (Dim column = 0; column <= row + 1; ++column) {
        if (column > 0) expected = attention.weight(head, query, T - rows - 1 + column);
        REQUIRE(cells >> printed);
        CHECK(printed == Approx(expected).margin(0.0051));
        sum += printed;
      }
      CHECK(sum == Approx(1).margin(0.0051 * 26));
    }
  }
}
