// fledge generate --why: the attention in the step that drew a word, and the effect of each token.
#include <algorithm>
#include <cmath>

#include "examples/support/text.h"
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
