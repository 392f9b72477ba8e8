// fledge generate --why: the attention in the step that drew a word, and the effect of each token.
#include <cmath>
#include <cstdlib>

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
  // The same number as --probs gives for this step; that has three digits of it.
  const Words rows = lines_of(text(line() + Words{"--probs"}));
  const std::string &row = rows.at(read.size() - 2), name = "'" + word + "' ";
  CHECK_THAT(row, StartsWith("'" + word + "'"));
  if (const std::size_t at = row.find(name, name.size()); at != row.npos)
    CHECK(std::strtod(row.c_str() + at + name.size(), nullptr) ==
          Approx(why["probability"].number()).margin(6e-4));
  REQUIRE(why["heads"].array().size() == 1);
  const StrictJson& head = why["heads"][0];
  CHECK(head["layer"].number() == 0);
  CHECK(head["head"].number() == 0);
  double before = 1, sum = 0;
  CHECK(head["most"].array().size() == std::min<std::size_t>(3, read.size()));
  for (const StrictJson& look : head["most"].array()) {
    CHECK(look["weight"].number() <= before);
    before = look["weight"].number();
    sum += before;
    CHECK(look["token"].string() == read.at(static_cast<std::size_t>(look["place"].number())));
  }
  CHECK(sum <= 1 + 1e-6);
  CHECK(sum >=
        0.9 * static_cast<double>(head["most"].array().size()) / static_cast<double>(read.size()));
  const auto& left_out = why["left_out"].array();
  REQUIRE(left_out.size() + 1 == read.size());  // the last is where the guess is made
  for (std::size_t place = 0; place < left_out.size(); ++place) {
    const StrictJson& effect = left_out[place];
    CHECK(effect["place"].number() == static_cast<double>(place));
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

TEST_CASE("fledge generate --why: a picture for people, after the text") {
  const std::string word = drawn_word(), plain = text(line());
  const std::string out = text(line() + Words{"--why", word});
  CHECK_THAT(out, StartsWith(plain + "\nwhy '" + word + "': it had probability 0."));
  const Words rows = lines_of(out.substr(plain.size() + 1));
  CHECK_THAT(rows.at(0), ContainsSubstring(" behind "));
  CHECK(rows.at(1).empty());
  CHECK(rows.at(2) == "layer  head  looked most at");
  CHECK_THAT(rows.at(4), StartsWith("    0     0  0."));
  CHECK_THAT(out, ContainsSubstring("; with one token hidden from all later places:\n"
                                    "place  token"));
  CHECK_THAT(out, ContainsSubstring("\n    0  'the' "));
  CHECK_THAT(rows.back(), EndsWith("    -"));
  const Result hostile = run_on_terminal(
      with_program(Words{"generate", models().chars(), "--why", " ", "--tokens-out", "40"}));
  CHECK(hostile.status == 0);
  CHECK(hostile.out.find_first_of("\x1b\x07") == hostile.out.npos);
}

TEST_CASE("fledge generate --why: the first text that has the word, of many") {
  const Result many = generated(line() + Words{"--why", drawn_word(), "-n", "4"});
  CHECK(many.status == 0);
  CHECK_THAT(many.out, ContainsSubstring("\nwhy '"));
}

TEST_CASE("fledge generate --why: what was not drawn, is unknown, or is no word") {
  const auto says = [](const Words& words) {
    const Result result = generated(words);
    return std::to_string(result.status) + ": " + result.err;
  };
  const std::string program = "fledge generate: ", indent(program.size(), ' ');
  const Words none{models().words(), "the", "--tokens-out", "0", "--why", "birds"};
  CHECK(says(none) == "1: " + program + "'birds' was not drawn\n" + indent +
                          "try more: -n 20, more --tokens-out, or another prompt\n");
  CHECK(says(none + Words{"-n", "3"}) ==
        "1: " + program + "'birds' was drawn in none of 3 samples\n" + indent +
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
