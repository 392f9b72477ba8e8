// fledge eval on tiny models: its numbers, its sentences, what it refuses.
#include <cmath>

#include "examples/support/text.h"
#include "tests/examples/fledge/models.h"

using namespace testing;

namespace {

struct Judged {
  StrictJson json;
  std::string report;
};

Judged judged(const Words& arguments) {
  CAPTURE(arguments);
  const Result json = fledge_says(Words{"eval"} + arguments + Words{"--json"});
  const Result report = fledge_says(Words{"eval"} + arguments);
  CHECK(json.status == 0);
  CHECK(report.status == 0);
  CHECK(report.err.empty());
  for (const std::string& line : lines_of(report.out)) CHECK(support::display_width(line) <= 80);
  return {read_line(json.out), report.out};
}

/// What the report must say, from the numbers of the JSON object.
std::string eval_report(const std::string& name, const std::string& token, const StrictJson& json) {
  const auto of = [&](const char* key) { return json[key].number(); };
  return support::wrapped(name + support::formatted(" %.4f nats per ", of("loss")) + token +
                              support::formatted(" (%.3f bits per byte): ", of("bits_per_byte")) +
                              support::formatted("like choosing among %.1f ", of("perplexity")) +
                              token + "s. This is a mean over " +
                              support::counted(static_cast<std::int64_t>(of("tokens")), token) +
                              ".\n",
                          80);
}

}  // namespace

TEST_CASE("fledge eval: the sentences have the numbers of --json, with their units") {
  const Desk desk;
  write_text(desk / "other.txt", small_text(4));
  const Judged chars = judged({models().chars()}), words = judged({models().words()});
  CHECK(chars.report == eval_report("Held-out loss", "character", chars.json));
  CHECK(words.report == eval_report("Held-out loss", "word", words.json));
  const Judged other = judged({models().chars(), desk / "other.txt"});
  CHECK(other.report == eval_report("Loss", "character", other.json));
  // Each of these characters is a byte.
  const double guessed = other.json["tokens"].number();
  CHECK(other.json["bits_per_byte"].number() ==
        Approx(other.json["loss"].number() / std::log(2.0)));
  CHECK(guessed == static_cast<double>(small_text(4).size() - 1));
  // A word has several bytes, so that its bits are shared among them.
  CHECK(words.json["bits_per_byte"].number() < words.json["loss"].number() / std::log(2.0) / 2);
}

TEST_CASE("fledge eval: a loss above that of guessing is called so") {
  const Desk desk;
  // The letters of the text, in an order that it never has.
  std::string other;
  for (int i = 0; i < 40; ++i) other += "wwyykkffvv";
  write_text(desk / "odd.txt", other);
  trained({desk.poems(), "-o", desk / "long", "--lr", "0.05"});
  const Judged odd = judged({desk / "long", desk / "odd.txt"});
  REQUIRE(odd.json["loss"].number() > std::log(22.0));
  CHECK_THAT(odd.report, ContainsSubstring("byte): worse than guessing"));
}

TEST_CASE("fledge eval: the held-out loss of the run, and other texts") {
  const Desk desk;
  for (const Words& more :
       {Words{}, Words{"--tokens", "word", "--lines"}, Words{"--valid", "100"}}) {
    const std::string run = desk / ("run" + std::to_string(more.size()));
    const StrictJson end =
        json_lines(trained(Words{desk.poems(), "-o", run, "--json"} + more).out).back();
    REQUIRE(end["best_held_out_loss"].number() ==
            end["held_out_loss"].number());  // the last is the best
    const Result own = fledge_says({"eval", run, "--json", "--batch", "2"});
    CHECK(own.status == 0);
    CHECK(read_line(own.out)["loss"].number() == end["held_out_loss"].number());
    CHECK(read_line(own.out)["perplexity"].number() ==
          Approx(std::exp(end["held_out_loss"].number())));
  }
  const std::string run = desk / "run0";
  write_text(desk / "other.txt", small_text(4));
  const StrictJson other = read_line(fledge_says({"eval", run, desk / "other.txt", "--json"}).out);
  CHECK(other["tokens"].number() == static_cast<double>(small_text(4).size() - 1));
  write_text(desk / "digits.txt", "the birds 7\n");
  CHECK_THAT(refused_with_3({"eval", run, desk / "digits.txt"}),
             ContainsSubstring("the character '7' at byte 10 of "));
  CHECK_THAT(refused_with_3({"eval", run, desk / "othr.txt"}), EndsWith("/other.txt'?"));
  // How many, which, which share; and the loss of the rest.
  write_text(desk / "unknown.txt", "ÜÜ" + small_text(4) + "7é7 7 the birds\nß");
  write_text(desk / "known.txt", small_text(4) + "  the birds\n");
  const double all = static_cast<double>(small_text(4).size()) + 19;
  CHECK(refused_with_3({"eval", run, desk / "unknown.txt"}) ==
        "4 different characters of '" + (desk / "unknown.txt") +
            "' were not in the training text, " + support::percent(7 / all) +
            " of it: '7', 'Ü', 'ß', 'é'; the first is 'Ü' at byte 0 | --skip-unknown leaves them "
            "out; the model knows 22 characters");
  const Words skip{"eval", run, desk / "unknown.txt", "--skip-unknown"};
  CHECK(fledge_says(skip).out == fledge_says({"eval", run, desk / "known.txt"}).out);
  CHECK_THAT(fledge_says(skip).err, StartsWith("Left out of '"));
  write_text(desk / "many.txt", "the birds XXYZ 123456789\n");
  CHECK_THAT(
      refused_with_3({"eval", run, desk / "many.txt"}),
      ContainsSubstring(": 'X', '1', '2', '3', '4', '5', '6', '7' and 4 more; the first is "));
  write_text(desk / "sevens.txt", "the birds 7 777\n");
  CHECK_THAT(refused_with_3({"eval", run, desk / "sevens.txt"}),
             ContainsSubstring("training text; it occurs there 4 times, 25.0 % of the text | "));
  CHECK(fledge_says({"eval", run, "--skip-unknown"}).status == 2);
  write_text(desk / "strange.txt", "the cat quacks\n");
  const Words on{"train", desk / "strange.txt", "--from", run, "--no-save"};
  CHECK(refusal_of(fledge_says(on), desk.path()) ==
        "3: 2 different characters of '~/strange.txt' were not in the training text, 20.0 % of it: "
        "'c', 'q'; the first is 'c' at byte 4 | the model knows 22 characters; one trained with "
        "--tokens byte reads any text");
  write_text(desk / "latin.txt", "the bl\xfc\n");
  CHECK(refused_with_3({"eval", run, desk / "latin.txt"}) ==
        "'" + (desk / "latin.txt") +
            "' is not UTF-8 at byte 6 | the model reads characters: convert it, such as with iconv "
            "-f latin1 -t utf-8");
  CHECK_THAT(refused_with_3({"eval", run, "-"}, "the bl\xfc\n"),
             StartsWith("standard input is not UTF-8 at byte 6 | "));
  write_text(desk / "blank.txt", " \n\n");
  CHECK(refused_with_3({"eval", models() / "lines", desk / "blank.txt"}) ==
        "'" + (desk / "blank.txt") + "': all lines of the text are blank | name another text");
  write_text(desk / "one.txt", "t");
  CHECK(refused_with_3({"eval", run, desk / "one.txt"}) ==
        "there is nothing to guess in one token | name a longer text");
  write_text(desk / "empty.txt", "");
  CHECK_THAT(refused_with_3({"eval", run, desk / "empty.txt"}),
             EndsWith("' is empty | name another text"));
  trained({desk.poems(), "-o", desk / "all", "--valid", "0"});
  CHECK_THAT(refused_with_3({"eval", desk / "all"}),
             EndsWith(" was held out | name another text: fledge eval DIR FILE"));
}
