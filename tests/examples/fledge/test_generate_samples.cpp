// fledge generate -n: several texts, and how they are told apart.
#include <algorithm>
#include <set>

#include "tests/examples/fledge/models.h"

using namespace testing;

namespace {

/// The texts of -0: what stands in front of each NUL; nothing may stand behind the last one.
Words pieces(const std::string& out) {
  REQUIRE(out.ends_with('\0'));
  Words found;
  for (std::size_t begin = 0; begin < out.size(); begin = out.find('\0', begin) + 1)
    found.push_back(out.substr(begin, out.find('\0', begin) - begin));
  return found;
}

}  // namespace

TEST_CASE("fledge generate -n -0: each text ends with a NUL, the first is that of one") {
  const Words line{models().chars(), "the ", "--tokens-out", "30"};
  const std::string one = text(line);
  CHECK(text(line + Words{"-n", "1"}) == one);
  const Result three = generated(line + Words{"-n", "3", "-0"});
  CHECK(three.status == 0);
  CHECK(three.err.empty());
  const Words found = pieces(three.out);
  REQUIRE(found.size() == 3);
  CHECK(found[0] == one);
  CHECK(generated(line + Words{"--null"}).out == one + std::string(1, '\0'));
  CHECK(std::set<std::string>(found.begin(), found.end()).size() == 3);
  for (const std::string& piece : found) {
    CHECK_THAT(piece, StartsWith("the "));
    CHECK_THAT(piece, EndsWith("\n"));
  }
  // Each has a stream of its own: how many there are changes none, another seed changes all.
  const Words more = pieces(generated(line + Words{"--samples", "5", "-0", "--threads", "3"}).out);
  REQUIRE(more.size() == 5);
  CHECK(std::equal(found.begin(), found.end(), more.begin()));
  const Words other = pieces(generated(line + Words{"-n", "3", "-0", "--seed", "2"}).out);
  for (std::size_t i = 0; i < 3; ++i) CHECK(other[i] != found[i]);
}

TEST_CASE("fledge generate -n: a text of its own for each, with all that was asked about it") {
  const Words line{models() / "lines", "the small", "--probs", "--attention", "-n", "2", "-0"};
  const Words found = pieces(generated(line).out);
  REQUIRE(found.size() == 2);
  for (const std::string& piece : found) {
    CHECK_THAT(piece, StartsWith("The likeliest tokens of each step "));
    CHECK_THAT(piece, ContainsSubstring("\nthe small"));
    CHECK_THAT(piece, ContainsSubstring("\n\nAttention over "));
  }
}

TEST_CASE("fledge generate -n: a line above each text, also in a pipe; a line a text with --json") {
  const Words line{models().chars(), "the ", "--tokens-out", "30", "-n", "3"};
  const Words found = pieces(generated(line + Words{"-0"}).out);
  const Result json = generated(line + Words{"--json"});
  CHECK(json.status == 0);
  CHECK(json.out.find('\0') == json.out.npos);
  const std::vector<StrictJson> rows = json_lines(json.out);
  REQUIRE(rows.size() == 3);
  std::string titled;
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(rows[i]["sample"].number() == static_cast<double>(i + 1));
    CHECK(rows[i]["seed"].number() == 1);
    std::string whole = "the " + rows[i]["text"].string();
    if (!whole.ends_with('\n')) whole += '\n';
    CHECK(whole == found[i]);
    titled += "--- " + std::to_string(i + 1) + " of 3\n" + found[i];
  }
  CHECK(text(line) == titled);
  CHECK(run_on_terminal(with_program(with_seed(line))).out == titled);
  CHECK_FALSE(read_line(text({models().chars(), "--json"})).contains("sample"));
}

TEST_CASE("fledge generate: without --seed a random one, named so that the text can be had again") {
  std::set<std::string> texts;
  for (int round = 0; round < 4; ++round) {
    const Result any = fledge_says({"generate", models().chars(), "the "});
    CHECK(any.status == 0);
    CHECK_THAT(any.err, StartsWith("Seed ") && EndsWith(" gives this text again\n"));
    const std::size_t at = any.err.find("--seed ") + 7;
    const std::string seed = any.err.substr(at, any.err.find(' ', at) - at);
    CHECK(any.err == "Seed " + seed + ": --seed " + seed + " gives this text again\n");
    CHECK(text({models().chars(), "the ", "--seed", seed}) == any.out);
    texts.insert(any.out);
  }
  CHECK(texts.size() > 1);
  CHECK_THAT(fledge_says({"generate", models().chars(), "-n", "2"}).err,
             EndsWith(" gives these texts again\n"));
  CHECK(fledge_says({"generate", models().chars(), "--temperature", "0"}).err.empty());
}

TEST_CASE("fledge generate: a zero of the text is one of the output") {
  const Desk desk;
  write_text(desk / "zeros.txt", std::string(200, '\0') + "a");
  trained({desk / "zeros.txt", "-o", desk / "run", "--valid", "0"});
  const std::string out = text({desk / "run", "--temperature", "0", "--tokens-out", "20"});
  CHECK(out == std::string(20, '\0') + "\n");
}

TEST_CASE("fledge generate: numbers of samples that are refused") {
  const auto says = [](const Words& words) {
    const Result result = generated(Words{models().chars()} + words);
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    return result.err;
  };
  const std::string program = "fledge generate: ", indent(program.size(), ' ');
  for (const char* n : {"0", "-1", "1000000001"})
    CHECK(says({"-n", n}) ==
          program + "--samples must be a whole number from 1 to 1000000000: got '" + n + "'\n" +
              indent + "write --samples N; all options: fledge generate --help\n");
  CHECK(says({"-n"}) == program + "--samples needs a value\n" + indent + "write --samples N\n");
}
