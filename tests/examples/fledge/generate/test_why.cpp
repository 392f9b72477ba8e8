// fledge generate --why: the attention in the step that drew a word, and the effect of each token.
#include <algorithm>
#include <cmath>

#include "examples/support/painted_text.h"
#include "examples/support/text.h"
#include "examples/support/token_label.h"
#include "nn/io/json.h"
#include "tests/examples/fledge/models.h"

using namespace testing;

namespace {

/// The object under "why" of the first text, and what was drawn with it.
struct Explained {
  StrictJson why;
  std::string text;
};
Explained explained(const Words& asked) {
  const StrictJson whole = read_line(text(asked + Words{"--json"}));
  return {whole["why"], whole["text"].string()};
}

Words strings_of(const StrictJson& list) {
  Words words;
  for (const StrictJson& item : list.array()) words.push_back(item.string());
  return words;
}

/// A word that the seed 1 draws behind "the small", and the line that asks about it.
Words line() { return {models().words(), "the small", "--tokens-out", "12"}; }
std::string drawn_word() {
  const std::string out = text(line());
  const std::size_t begin = out.find_first_not_of(" \n", 9);
  return out.substr(begin, out.find_first_of(" \n", begin) - begin);
}

}  // namespace

TEST_CASE("fledge generate --why: a word, the tokens that were read, and what each is good for") {
  const std::string word = drawn_word();
  CAPTURE(word);
  const auto [why, drawn] = explained(line() + Words{"--why", word});
  CHECK(why["word"].string() == word);
  CHECK(why["token"].string() == word);
  const Words read = strings_of(why["read"]);
  REQUIRE(read.size() >= 2);
  CHECK(Words(read.begin(), read.begin() + 2) == Words{"the", "small"});
  CHECK(why["probability"].number() == Approx(std::exp(why["ln_p"].number())));
  // The same number as --probs gives for this step.
  const StrictJson step = read_line(
      text(line() + Words{"--probs", "--temperature", "1", "--json"}))["probs"][read.size() - 2];
  if (step["token"].string() == word)
    CHECK(why["probability"].number() == Approx(step["probability"].number()).epsilon(1e-5));
  REQUIRE(why["heads"].array().size() == 1);
  const StrictJson& head = why["heads"][0];
  CHECK(head["layer"].number() == 0);
  CHECK(head["head"].number() == 0);
  double before = 1, sum = 0;
  CHECK(why["begin"].number() == 0);  // the whole text is read, and its first token has position 0
  CHECK(head["most"].array().size() == std::min<std::size_t>(3, read.size()));
  for (const StrictJson& look : head["most"].array()) {
    CHECK(look["weight"].number() <= before);
    before = look["weight"].number();
    sum += before;
    CHECK(look["token"].string() == read.at(static_cast<std::size_t>(look["position"].number())));
  }
  CHECK(sum <= 1 + 1e-6);
  CHECK(sum >=
        0.9 * static_cast<double>(head["most"].array().size()) / static_cast<double>(read.size()));
  const auto& left_out = why["left_out"].array();
  REQUIRE(left_out.size() + 1 == read.size());  // the last is where the guess is made
  for (std::size_t place = 0; place < left_out.size(); ++place) {
    const StrictJson& effect = left_out[place];
    CHECK(effect["position"].number() == static_cast<double>(place));
    CHECK(effect["token"].string() == read[place]);
    CHECK(effect["change"].number() != 0);
    CHECK(effect["change"].number() ==
          Approx(effect["ln_p"].number() - why["ln_p"].number()).margin(1e-9));
  }
}

TEST_CASE("fledge generate --why: a word of characters, by the step that drew its first") {
  const Words chars{models().chars(), "the birds ", "--tokens-out", "60"};
  const std::string drawn = text(chars).substr(10);
  const std::string word = drawn.substr(30, 3);
  const std::size_t at = drawn.find(word);
  CAPTURE(drawn, word);
  const auto [why, again] = explained(chars + Words{"--why", word});
  CHECK(why["token"].string() == word.substr(0, 1));
  std::string read;
  for (const std::string& token : strings_of(why["read"])) read += token;
  CHECK(read.size() <= 16);  // the model's context
  CHECK(read.size() >= 8);
  CHECK_THAT("the birds " + drawn.substr(0, at), EndsWith(read));
}

TEST_CASE("fledge generate --why: for people, after the text: bars, shades, heads") {
  const std::string word = drawn_word(), plain = text(line());
  const auto [why, drawn] = explained(line() + Words{"--why", word});
  const std::string out = text(line() + Words{"--why", word});
  const std::string now = support::percent(why["probability"].number());
  CHECK_THAT(out, StartsWith(plain + "\nProbability of '" + word + "': " + now +
                             ". With one earlier token hidden it becomes:\n"));
  const Words rows = lines_of(out.substr(plain.size() + 1));
  // The three tokens whose loss costs most, the costliest first.
  std::vector<std::pair<double, std::size_t>> places;
  for (std::size_t place = 0; place < why["left_out"].array().size(); ++place)
    places.emplace_back(why["left_out"][place]["probability"].number(), place);
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  places.resize(std::min<std::size_t>(3, places.size()));
  for (std::size_t n = 0; n < places.size(); ++n) {
    CHECK_THAT(rows.at(n + 1), StartsWith("  " + why["read"][places[n].second].string() + "(" +
                                          std::to_string(places[n].second) + ")"));
    CHECK_THAT(rows.at(n + 1), EndsWith(" " + now + " -> " + support::percent(places[n].first)));
  }
  CHECK(rows.at(places.size() + 1).empty());
  CHECK_THAT(rows.at(places.size() + 2), StartsWith("The text before it."));
  CHECK_THAT(rows.back(), StartsWith("0.0  "));
  std::string looks = "0.0";
  for (const StrictJson& look : why["heads"][0]["most"].array())
    looks += "  " + support::cut(support::token_label(look["token"].string(), false), 8, ".") +
             support::formatted("(%.0f) %.0f %%", look["position"].number(),
                                100 * look["weight"].number());
  CHECK(rows.back() == looks);
  for (const std::string& row : rows) CHECK(support::display_width(row) <= 80);
  const Result hostile = run_on_terminal(
      with_program(with_seed({models().chars(), "--why", " ", "--tokens-out", "40"})),
      {{"NO_COLOR", "1"}});
  CHECK(hostile.status == 0);
  CHECK(hostile.out.find_first_of("\x1b\x07") == hostile.out.npos);
}

TEST_CASE("fledge generate --why: the text is shaded by what hiding a token costs") {
  const std::string word = drawn_word(), plain = text(line());
  const auto [why, drawn] = explained(line() + Words{"--why", word});
  std::vector<support::ShadedPart> parts;
  for (std::size_t place = 0; place < why["read"].array().size(); ++place) {
    const bool last = place == why["left_out"].array().size();
    const double without = last ? 1 : why["left_out"][place]["probability"].number();
    const double cost = std::max(0.0, 1 - without / why["probability"].number());
    const std::string token = why["read"][place].string();
    const bool joins = place > 0 && token != "\n" && why["read"][place - 1].string() != "\n";
    parts.push_back({(joins ? " " : "") + token, last ? 0 : cost});
  }
  const std::string shaded = support::painted_text(parts, 80, {false}, false);
  CHECK_THAT(text(line() + Words{"--why", word}),
             ContainsSubstring("prediction is made.\n" + shaded + "\n"));
}

TEST_CASE("fledge generate --why --csv: a row for each token that can be hidden") {
  const std::string word = drawn_word();
  const auto [why, drawn] = explained(line() + Words{"--why", word});
  std::string expected =
      "word,id,token,position,hidden_id,hidden_token,probability,probability_without\n";
  for (const StrictJson& effect : why["left_out"].array()) {
    const auto quoted = [](const std::string& field) { return field == "\n" ? "\"\n\"" : field; };
    const auto whole = [](const StrictJson& number) {
      return support::formatted("%.0f", number.number());
    };
    const auto index =
        static_cast<std::size_t>(effect["position"].number() - why["begin"].number());
    CHECK(why["read_ids"][index].number() == effect["id"].number());
    expected += word + "," + whole(why["id"]) + "," + word + "," + whole(effect["position"]) + "," +
                whole(effect["id"]) + "," + quoted(effect["token"].string()) + "," +
                fledge::json_number(why["probability"].number()) + "," +
                fledge::json_number(effect["probability"].number()) + "\n";
  }
  CHECK(text(line() + Words{"--why", word, "--csv"}) == expected);
}

TEST_CASE("fledge generate --why: the first text that has the word, of many") {
  const Result many = generated(line() + Words{"--why", drawn_word(), "-n", "4"});
  CHECK(many.status == 0);
  CHECK_THAT(many.out, ContainsSubstring("\nProbability of '"));
}

TEST_CASE(
    "fledge generate --why: a word that was not drawn is explained as the one after the prompt") {
  const Words none{models().words(), "the small", "--tokens-out", "0"};
  CHECK_THAT(text(none + Words{"--why", "birds"}),
             StartsWith("the small\n\n'birds' was not drawn. As the word after the prompt it would "
                        "be:\nProbability of 'birds': "));
  const auto [why, drawn] = explained(none + Words{"--why", "birds"});
  CHECK_FALSE(why["was_drawn"].boolean());
  CHECK(drawn.empty());
  const Words read = strings_of(why["read"]);
  CHECK(Words(read.end() - 2, read.end()) == Words{"the", "small"});
  // The word that this step does draw has the probability that it was drawn with.
  const Words one{models().words(), "the small", "--tokens-out", "1", "--temperature", "1"};
  const StrictJson step = read_line(text(one + Words{"--probs", "--json"}))["probs"][0];
  const std::string word = step["token"].string();
  if (word.find('\n') == word.npos) {
    const StrictJson after = explained(none + Words{"--why", word}).why;
    CHECK(after["probability"].number() == Approx(step["probability"].number()).epsilon(1e-5));
  }
}

TEST_CASE("fledge generate --why: what was not drawn, is unknown, or is no word") {
  const auto says = [](const Words& words) {
    const Result result = generated(words);
    return std::to_string(result.status) + ": " + result.err;
  };
  const std::string program = "fledge generate: ", indent(program.size(), ' ');
  const Words none{models().chars(), "the", "--tokens-out", "0", "--why", "birds"};
  CHECK(says(none) == "1: " + program + "'birds' was not drawn\n" + indent +
                          "try more: -n 20, more --tokens-out, or another prompt\n");
  const Words words{models().words(), "the", "--tokens-out", "0", "--why", "birds", "-n", "3"};
  CHECK(says(words) == "1: " + program + "'birds' was drawn in none of 3 samples\n" + indent +
                           "try more: -n 30, more --tokens-out, or another prompt\n");
  const Result json = generated(none + Words{"--json"});
  CHECK(json.status == 1);
  CHECK(read_line(json.out)["why"].is_null());
  CHECK(refused_with_3({"generate", models().words(), "--why", "burds"}) ==
        "the word 'burds' at byte 0 of --why was not in the training text | nearest by spelling: "
        "'birds'");
  CHECK(says({models().words(), "--why", " "}) ==
        "2: " + program + "--why ' ' has no token\n" + indent + "name a word: --why walk\n");
}
