// fledge generate --attention and --why as JSON and CSV: what is exported is what was computed.
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "tests/examples/fledge/generate/recorded.h"

using namespace testing;

namespace {

/// The lines of a CSV text, divided at commas. No field may have a comma or a line break.
std::vector<Words> csv_rows(const std::string& csv) {
  std::vector<Words> rows;
  for (const std::string& line : lines_of(csv)) {
    rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
  }
  return rows;
}

}  // namespace

TEST_CASE("fledge generate --attention: JSON has the weights that the text was drawn with") {
  for (const auto& [run, context] : {std::pair{models().chars(), 16}, {deep_model(), 40}})
    for (const int count : {1, 12, 13, 36, 37, 60, 130}) {
      CAPTURE(run, count);
      const LastPass pass = last_pass(run, count);
      const fledge::AttentionWeights& attention = pass.attention;
      CHECK((pass.begin > 0) == (3 + count > context));
      const StrictJson found =
          read_line(text(pass.line + Words{"--attention", "--json"}))["attention"];
      const auto T = attention.ids.size();
      CHECK(found["begin"].number() == static_cast<double>(pass.begin));
      REQUIRE(found["tokens"].array().size() == T);
      for (std::size_t t = 0; t < T; ++t) {
        CHECK(found["tokens"][t].string() == characters().decode({attention.ids[t]}));
        CHECK(found["ids"][t].number() == static_cast<double>(attention.ids[t]));
      }
      // The other way to compute them: the whole model on the window, step by step.
      const auto forward = fledge::load_trained(run).model.forward_with_weights(
          fledge::Indices({1, attention.size()}, attention.ids));
      std::size_t n = 0;
      bool same = true, near = true;
      for (const fledge::HeadNumber& number : chosen_heads(attention, {})) {
        const StrictJson& head = found["heads"][n++];
        CHECK(head["layer"].number() == static_cast<double>(number.layer));
        CHECK(head["head"].number() == static_cast<double>(number.head));
        const fledge::Array table = forward.weights[static_cast<std::size_t>(number.layer)].value();
        for (std::size_t i = 0; i < T; ++i)
          for (std::size_t j = 0; j < T; ++j) {
            const auto query = static_cast<Dim>(i), key = static_cast<Dim>(j);
            const double weight = head["weights"][i][j].number();
            same = same && static_cast<float>(weight) ==
                               static_cast<float>(attention.weight(number, query, key));
            near =
                near &&
                std::abs(weight - fledge::value_of(table.at({0, number.head, query, key}))) < 1e-5;
          }
      }
      CHECK(found["heads"].array().size() == n);
      CHECK(same);
      CHECK(near);
    }
}

TEST_CASE("fledge generate --attention: CSV has the same weights, a row each") {
  const LastPass pass = last_pass(models().chars(), 60);
  const std::vector<Words> rows = csv_rows(text(pass.line + Words{"--attention", "--csv"}));
  CHECK(rows.at(0) == Words{"layer", "head", "query", "query_id", "query_token", "key", "key_id",
                            "key_token", "weight"});
  std::size_t n = 1;
  for (Dim query = 0; query < pass.attention.size(); ++query)
    for (Dim key = 0; key <= query; ++key) {
      const Words& row = rows.at(n++);
      CHECK(row.at(0) + row.at(1) == "00");
      CHECK(row.at(2) == std::to_string(pass.begin + query));
      CHECK(row.at(3) == std::to_string(pass.attention.ids[static_cast<std::size_t>(query)]));
      CHECK(row.at(4) == pass.attention.tokens[static_cast<std::size_t>(query)]);
      CHECK(row.at(5) == std::to_string(pass.begin + key));
      CHECK(row.at(6) == std::to_string(pass.attention.ids[static_cast<std::size_t>(key)]));
      CHECK(row.at(7) == pass.attention.tokens[static_cast<std::size_t>(key)]);
      CHECK(std::strtof(row.at(8).c_str(), nullptr) ==
            static_cast<float>(pass.attention.weight({0, 0}, query, key)));
    }
  CHECK(rows.size() == n);
  const std::vector<Words> numbered =
      csv_rows(text(pass.line + Words{"--attention", "--csv", "-n", "2"}));
  CHECK(numbered.at(0).at(0) == "sample");
  CHECK(numbered.at(1).at(0) == "1");
  CHECK(numbered.back().at(0) == "2");
  CHECK(Words(numbered.at(1).begin() + 1, numbered.at(1).end()) == rows.at(1));
}

TEST_CASE("fledge generate --why: the window and the weights of the step that drew the word") {
  for (const std::string& run : {models().chars(), deep_model()}) {
    const Words line{run, "the ", "--tokens-out", "90"};
    const std::string written = "the " + read_line(text(line + Words{"--json"}))["text"].string();
    const std::vector<Dim> ids = characters().encode(written);
    const std::string word = written.substr(60, 6);
    const std::size_t at = written.find(word, 4);
    const StrictJson why = read_line(text(line + Words{"--json", "--why", word}))["why"];
    const fledge::AttentionWeights attention = weights_before(run, ids, 4, at);
    REQUIRE(why["read"].array().size() == attention.ids.size());
    const Dim begin = static_cast<Dim>(at) - attention.size();
    CHECK(begin > 0);  // the window has moved
    CHECK(why["begin"].number() == static_cast<double>(begin));
    CHECK(why["left_out"][1]["position"].number() == static_cast<double>(begin + 1));
    for (std::size_t t = 0; t < attention.ids.size(); ++t) {
      CHECK(attention.ids[t] == ids[t + static_cast<std::size_t>(begin)]);
      CHECK(why["read"][t].string() == characters().decode({attention.ids[t]}));
    }
    for (const StrictJson& head : why["heads"].array())
      for (const StrictJson& look : head["most"].array())
        CHECK(
            look["weight"].number() ==
            attention.weight(
                {static_cast<Dim>(head["layer"].number()), static_cast<Dim>(head["head"].number())},
                attention.size() - 1, static_cast<Dim>(look["position"].number()) - begin));
  }
}
