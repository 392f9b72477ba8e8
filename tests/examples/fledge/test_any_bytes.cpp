// Numbers, names and vocabularies at the edge: what trains can be read again, what cannot is refused.
#include <cstring>
#include <map>
#include <set>

#include "nn/io/utf8.h"
#include "tests/examples/fledge/models.h"
#include "tests/support/sanitized.h"
#include "tests/support/skipped.h"

using namespace testing;

namespace {

// Every F32 of one tensor of a safetensors file, which then has no checksum.
void set_tensor(const std::string& path, const std::string& name, float value) {
  std::string bytes = text_of(path);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const StrictJson header = strict_json(bytes.substr(8, length));
  const auto& range = header[name]["data_offsets"];
  for (auto at = static_cast<std::size_t>(range[0].number());
       at < static_cast<std::size_t>(range[1].number()); at += sizeof value)
    std::memcpy(bytes.data() + 8 + length + at, &value, sizeof value);
  if (const std::size_t at = bytes.find("\"checksum\""); at != bytes.npos) bytes[at + 1] = 'C';
  write_text(path, bytes);
}

}  // namespace

TEST_CASE("fledge generate and eval: weights too large to compute with name file and tensor") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run"});
  set_tensor(desk / "run/model.safetensors", "h.0.attn.c_attn.weight", 3e38F);
  for (const Words& line :
       {Words{"generate", desk / "run"}, Words{"generate", desk / "run", "--json"},
        Words{"eval", desk / "run"}, Words{"eval", desk / "run", "--json"}}) {
    const Result result = fledge_says(line);
    INFO(result.err);
    CHECK(result.status == 3);
    CHECK(result.out.empty());
    CHECK_THAT(
        result.err,
        ContainsSubstring("run/model.safetensors': its scores must be numbers, and its "
                          "weights are too large for that: 3e+38 in "
                          "h.0.attn.c_attn.weight; they overflow first in the value of 'linear' "
                          "with h.0.attn.c_attn.weight and h.0.attn.c_attn.bias, shape "));
  }
}

TEST_CASE("fledge: numbers in config.json have the limits of the options") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run"});
  const std::string good = text_of(desk / "run/config.json");
  for (const auto& [from, to, said] :
       {std::array<std::string, 3>{"\"accumulate\": \"1\"", "\"accumulate\": \"1000000000000\"",
                                   "fledge.run.accumulate must be a whole number from 1 to 100000"},
        {"\"batch\": \"2\"", "\"batch\": \"1000001\"",
         "fledge.run.batch must be a whole number from 1 to 1000000"},
        {"\"steps\": \"20\"", "\"steps\": \"1000000001\"",
         "fledge.run.steps must be a whole number from 1 to 1000000000"},
        {"\"clip\": \"1\"", "\"clip\": \"1e7\"",
         "fledge.run.clip must be a number from 0 to 1000000"}}) {
    std::string text = good;
    write_text(desk / "run/config.json", text.replace(text.find(from), from.size(), to));
    for (const Words& line : {Words{"train", "--resume", desk / "run"},
                              Words{"generate", desk / "run"}, Words{"eval", desk / "run"}}) {
      const Result result = fledge_says(line);
      CHECK(result.status == 3);
      CHECK_THAT(result.err, ContainsSubstring(said));
    }
  }
}

TEST_CASE("fledge: a text and a folder whose names are not UTF-8 are found again") {
  const Desk desk;
  const std::string text = desk /
                           "po\xff"
                           "ems\x1b.txt",
                    folder = desk / "r\xfen";
  write_text(text, small_text());
  trained({text, "-o", folder});
  const Result eval = fledge_says({"eval", folder});
  CHECK(eval.status == 0);
  trained({"--resume", folder, "--steps", "30"});
  CHECK_THAT(text_of(folder + "/config.json"), ContainsSubstring("po%ffems"));
  std::filesystem::remove(text);
  const Result gone = fledge_says({"eval", folder});
  CHECK(gone.status == 3);
  CHECK_THAT(gone.err, ContainsSubstring("po\\xffems\\x1b.txt"));
  // A name in UTF-8 stands in config.json as before.
  trained({desk.poems(), "-o", desk / "run"});
  CHECK_THAT(text_of(desk / "run/config.json"), ContainsSubstring("\"text\": \"poems.txt\""));
}

TEST_CASE("fledge train: a vocabulary that no command could read again is refused at the start") {
  if (sanitized) {
    testing::report_skipped("it would take a minute and a half, in code that other tests run too");
    return;
  }
  const Desk desk;
  const Words line{"train", desk / "many.txt", "-o", desk / "run", "--tokens", "word",    "--width",
                   "2",     "--context",       "2",  "--heads",    "1",        "--steps", "1"};
  const std::string advice =
      "no command could read this model again: use a text with fewer symbols, or --tokens bpe\n";
  std::string text;
  for (int i = 0; i <= 1'000'000; ++i) text += std::to_string(i) + " ";
  write_text(desk / "many.txt", text);
  const Result result = fledge_says(line);
  CHECK(result.status == 3);
  CHECK_THAT(result.err, ContainsSubstring("run/config.json': ") && EndsWith(advice));
  CHECK_FALSE(std::filesystem::exists(desk / "run"));
  write_text(desk / "many.txt", "a b a b a b a b a b " + std::string(70'000'000, 'x') + " a b a b");
  const Result bytes = fledge_says(line);
  CHECK(bytes.status == 3);
  CHECK_THAT(bytes.err, ContainsSubstring("run/config.json': ") && EndsWith(advice));
  CHECK_FALSE(std::filesystem::exists(desk / "run"));
}

TEST_CASE("fledge: no word of a user reaches a terminal raw or endless") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run"});
  const std::string hostile = "\x1b[31m\xc2\x9b\xe2\x80\xae";
  for (const Words& line :
       {Words{"train", hostile}, Words{"generate", hostile}, Words{"eval", desk / "run", hostile},
        Words{hostile}, Words{"train", desk.poems(), "-o", desk.poems() + "/" + hostile},
        Words{"train", "--resume", hostile}, Words{"eval", hostile}}) {
    const Result result = run_on_terminal(
        with_program(line), {{"LC_ALL", hostile}, {"LANG", hostile}, {"NO_COLOR", "1"}}, 0);
    CHECK(result.status != 0);
    CHECK(result.out.find_first_of("\x1b\xc2\xe2") == std::string::npos);
  }
  const Result threads =
      fledge_says({"eval", desk / "run"}, {{"FLEDGE_THREADS", std::string(10'000, '7')}});
  CHECK(threads.status == 2);
  CHECK(threads.err.size() < 600);
  // JSON stays JSON, and is harmless.
  write_text(desk / "odd.txt", small_text() + "\xc2\x9b \xe2\x80\xae \xd8\x9c\x7f\n");
  const Result json = trained({desk / "odd.txt", "-o", desk / "odd", "--json", "-q"});
  CHECK(json.out.find_first_of("\xc2\xe2\xd8\x7f") == std::string::npos);
  CHECK(json_lines(json.out).size() > 20);
}

TEST_CASE("fledge: tables of tokens that are bytes are UTF-8, and tell the tokens apart") {
  const Desk desk;
  write_text(desk / "birds.txt", small_text() + "鳥は歩く 🐦\n" + small_text());
  trained({desk / "birds.txt", "-o", desk / "bytes", "--tokens", "byte"});
  trained({desk / "birds.txt", "-o", desk / "pairs", "--tokens", "bpe", "--symbols", "270"});
  for (const char* folder : {"bytes", "pairs"}) {
    const std::string run = desk / folder;
    const Words prompt{run, "鳥は", "--tokens-out", "3", "--temperature", "9"};
    for (const Words& table :
         {Words{"inspect", run, "--json"}, with_seed(prompt + Words{"--probs", "--json"}),
          with_seed(prompt + Words{"--probs", "--csv"}),
          with_seed(prompt + Words{"--attention", "--json"}),
          with_seed(prompt + Words{"--attention", "--csv"})}) {
      CAPTURE(table);
      const Result result = fledge_says(table);
      CHECK(result.status == 0);
      CHECK(fledge::first_not_utf8(result.out) == std::string::npos);
    }
    const StrictJson similar = strict_json(fledge_says({"inspect", run, "--json"}).out)["similar"];
    std::map<double, std::string> names;
    for (const StrictJson& pair : similar.array()) {
      names[pair["a_id"].number()] = pair["a"].string();
      names[pair["b_id"].number()] = pair["b"].string();
    }
    std::set<std::string> different;
    for (const auto& [id, name] : names) different.insert(name);
    CHECK(different.size() == names.size());
  }
}
