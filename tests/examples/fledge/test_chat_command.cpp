// fledge chat: every line goes on with the text so far.
#include "tests/examples/fledge/models.h"

using namespace testing;

namespace {

Result chatted(const Words& arguments, std::string_view input) {
  return run(with_program(Words{"chat"} + arguments), {}, input);
}

}  // namespace

TEST_CASE("fledge chat: an answer is what generate gives, and goes on in the next line") {
  const Words likeliest{"--temperature", "0", "--tokens-out", "6", "--seed", "1"};
  const Result two = chatted(Words{models().words()} + likeliest, "birds\n\n");
  CHECK(two.status == 0);
  const Words lines = lines_of(two.out);
  REQUIRE(lines.size() >= 1);
  const std::string all = text(
      Words{models().words(), "birds", "--temperature", "0", "--tokens-out", "12", "--seed", "1"});
  const std::string first = text(
      Words{models().words(), "birds", "--temperature", "0", "--tokens-out", "6", "--seed", "1"});
  CHECK(two.out.starts_with(first));
  // The second answer goes on where the first ended; white space between them may differ.
  const auto letters = [](std::string of) {
    std::erase_if(of, [](char c) { return c == ' ' || c == '\n'; });
    return of;
  };
  CHECK(letters(two.out) == letters(all));
}

TEST_CASE("fledge chat: a line that cannot be read is refused, and the next is answered") {
  const Result result =
      chatted({models().words(), "--seed", "1", "--json", "--tokens-out", "4"}, "dragons\nbirds\n");
  CHECK(result.status == 0);
  CHECK_THAT(result.err, ContainsSubstring("'dragons'"));
  const auto answers = json_lines(result.out);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0]["prompt"].string() == "birds");
  CHECK_FALSE(answers[0]["text"].string().empty());
}

TEST_CASE("fledge chat: the stop text, lines, a seed, and refusals") {
  const Result stopped = chatted(
      {models().chars(), "--seed", "3", "--stop", "e", "--json", "--tokens-out", "50"}, "walk\n");
  CHECK(json_lines(stopped.out).at(0)["text"].string().find('e') == std::string::npos);
  const std::string lines = models() / "lines";
  const Result of_lines = chatted({lines, "--seed", "2", "--tokens-out", "500"}, "birds\nbirds\n");
  CHECK(lines_of(of_lines.out).size() == 2);
  CHECK(of_lines.err.empty());
  const auto seeded = [&](const char* seed) {
    return chatted({models().chars(), "--seed", seed}, "walk\n").out;
  };
  CHECK(seeded("5") == seeded("5"));
  CHECK(seeded("5") != seeded("6"));
  CHECK_THAT(chatted({models().chars()}, "").err, StartsWith("Seed "));
  const Result none = chatted({models() / "none"}, "");
  CHECK(none.status == 3);
  CHECK_THAT(none.err, StartsWith("fledge chat: "));  // no seed before the error
  for (const std::string& line :
       lines_of(chatted({models().chars(), "--seed", "1"}, "walk 7\n").err))
    CHECK(line.size() <= 80);
  CHECK(chatted({}, "").status == 2);
}
