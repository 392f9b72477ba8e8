// fledge train --probe: the attention of sentences, shown when the run is done.
#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

const Words tokens_are_words{"--tokens", "word"};

/// "STATUS: what came | what to do" of a run that must not begin.
std::string refused_probe(const Desk& desk, const Words& more) {
  const Result result =
      fledge_says(Words{"train", desk.poems(), "-o", desk / "no", "-q"} + tiny + more);
  CHECK(result.out.empty());
  CHECK_FALSE(std::filesystem::exists(desk / "no"));
  return refusal_of(result, desk.path());
}

}  // namespace

TEST_CASE("fledge train --probe: a map a sentence at the end, and its numbers with --json") {
  const Desk desk;
  const Result result =
      trained(Words{desk.poems(), "--json", "--probe", "birds often walk| the blue lake "} +
              tokens_are_words);
  for (const char* part : {"\nAttention in 'birds often walk'\nLayer 0, head 0.",
                           "\nAttention in 'the blue lake'\nLayer 0, head 0.",
                           "\nbirds looks at birds 1.00 (even split 1.00)\n"}) {
    std::string all = result.err;
    for (std::size_t at = 0; (at = all.find("   birds looks")) != all.npos;)
      all.replace(at, 3, "\n");
    CAPTURE(part);
    CHECK_THAT(all, ContainsSubstring(part));
  }
  std::vector<StrictJson> probes;
  for (const StrictJson& row : json_lines(result.out))
    if (row["type"].string() == "probe") probes.push_back(row);
  REQUIRE(probes.size() == 2);
  const StrictJson& probe = probes[1];
  CHECK(probe["sentence"].string() == "the blue lake");
  CHECK(probe["attention"]["tokens"][2].string() == "lake");
  CHECK(probe["step"].number() == 20);
  REQUIRE(probe["attention"]["heads"].array().size() == 1);
  for (std::size_t row = 0; row < 3; ++row) {
    double sum = 0;
    for (std::size_t column = 0; column < 3; ++column) {
      const double weight = probe["attention"]["heads"][0]["weights"][row][column].number();
      CHECK((weight > 0) == (column <= row));
      sum += weight;
    }
    CHECK(sum == Approx(1).margin(1e-5));
  }
}

TEST_CASE("fledge train --probe: changes nothing but the events, is asked anew when it goes on") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "plain"});
  const Result probed = trained({desk.poems(), "-o", desk / "probed", "--probe", "the lake"});
  CHECK_THAT(probed.err, ContainsSubstring("\nAttention in 'the lake'\n"));
  Files with = files_in(desk / "probed"), without = files_in(desk / "plain");
  CHECK_THAT(with.at("metrics.jsonl"), ContainsSubstring("\n{\"type\":\"probe\",\"step\":20,"));
  with.erase("metrics.jsonl"), without.erase("metrics.jsonl");
  CHECK((with == without));
  const auto more = [&](const Words& probe) {
    return trained(Words{"--resume", desk / "probed", "--steps"} + probe).err;
  };
  CHECK(more({"22"}).find("Attention in") == std::string::npos);
  CHECK_THAT(more({"24", "--probe", "a lake"}), ContainsSubstring("\nAttention in 'a lake'\n"));
}

TEST_CASE("fledge train --probe: what the text has not, or is too long, before any work") {
  const Desk desk;
  CHECK(refused_probe(desk, tokens_are_words + Words{"--probe", "the birds | the burds walk"}) ==
        "3: the word 'burds' at byte 16 of --probe was not in the training text | nearest by "
        "spelling: 'birds'");
  CHECK(refused_probe(desk, {"--probe", "the birds 7"}) ==
        "3: the character '7' at byte 10 of --probe was not in the training text | the model knows "
        "22 characters; one trained with --tokens byte reads any text");
  write_text(desk / "few.txt", "abra cadabra abra cadabra abra cadabra");
  CHECK(
      refusal_of(fledge_says(Words{"train", desk / "few.txt", "--no-save", "-q"} + tiny +
                             Words{"--probe", "abs"}),
                 desk.path()) ==
      "3: the character 's' at byte 2 of --probe was not in the training text | the model knows 6 "
      "characters: abcdr; one trained with --tokens byte reads any text");
  CHECK(refused_probe(desk, {"--probe", "bl\xfc"}) ==
        "3: --probe is not UTF-8 at byte 2 | the model reads characters: convert it, such as with "
        "iconv -f latin1 -t utf-8");
  CHECK(
      refused_probe(desk, {"--probe", "the birds sometimes"}) ==
      "3: --probe 'the birds sometimes' has 19 characters; the model looks back over 16 | shorten "
      "it, or use --context 19");
  for (const char* empty : {"a||b", "|", " ", "a| "})
    CHECK(
        refused_probe(desk, {"--probe", empty}) ==
        "2: --probe '" + std::string(empty) +
            "' has an empty sentence | write --probe \"birds walk\", or \"birds walk | they fly\" "
            "for two");
}

TEST_CASE("fledge train: the advice beside --resume and --from is not refused there") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run"});
  write_text(desk / "latin.txt", "bl\xfc" + small_text());
  const auto refused = [&](const Words& line) {
    return refusal_of(fledge_says(Words{"train", "-q"} + line), desk.path());
  };
  for (const Words& way : {Words{"--resume", desk / "run"},
                           Words{desk.poems(), "--from", desk / "run", "-o", desk / "no"}})
    CHECK_THAT(refused(way + Words{"--probe", "the birds sometimes"}), EndsWith(" | shorten it"));
  CHECK(refused({desk / "latin.txt", "--from", desk / "run", "-o", desk / "no"}) ==
        "3: '~/latin.txt' is not UTF-8 at byte 2 | the model reads characters: convert it, such as "
        "with iconv -f latin1 -t utf-8");
}
