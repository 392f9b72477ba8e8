// A run's folder that was damaged, changed or made by something else: which file, what it lacks.
#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

struct Damage {
  std::string file, from, to, said;
};

/// What --resume says to it, without the program's name, after it left the folder as it was.
std::string refused_damage(const Desk& desk, const std::string& folder) {
  const auto before = files_in(folder);
  const Result result = fledge_says({"train", "--resume", folder, "--steps", "30", "-q"});
  CHECK(result.status == 3);
  CHECK(result.out.empty());
  CHECK((files_in(folder) == before));
  return refusal_of(result, desk.path()).substr(3);
}

}  // namespace

TEST_CASE("fledge train --resume: config.json with a wrong, missing or unknown key") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run"});
  const std::string good = text_of(desk / "run/config.json");
  const std::string end =
      " | config.json must be as fledge train wrote it: restore it, or train again";
  const std::vector<std::array<std::string, 3>> rows{
      {"\"version\": 3", "\"version\": 2",
       "fledge.version must be 3: got 2; use the fledge that wrote it, or train again"},
      {"\"version\": 3,", "", "fledge must have a key 'version'"},
      {"\"version\": 3,", "\"version\": 3, \"colour\": 1,", "the key 'fledge.colour' is not known"},
      {"\"lr\"", "\"rate\"", "fledge.run.rate is not known"},
      {"\"steps\": \"20\"", "\"steps\": \"-1\"",
       "fledge.run.steps must be a whole number from 1 to "},
      {"\"steps\": \"20\"", "\"steps\": \"2e1\"",
       "fledge.run.steps must be a whole number from 1 to "},
      {"\"steps\": \"20\"", "\"steps\": 20", "fledge.run.steps must be a string"},
      {"\"seed\": \"1\"", "\"seed\": \" 1\"", "fledge.run.seed must be a whole number from 0 to "},
      {"\"n_head\": 1", "\"n_head\": 3", "n_head must divide n_embd, 16: got 3"},
      {"\"n_embd\": 16", "\"n_embd\": 2147483647", "describes too large a model"},
      {"\"vocab_size\": 22", "\"vocab_size\": 21", "has 22 symbols, the model 21"},
      {"\"n_layer\": 1", "\"n_layer\": 1, \"n_layer\": 1", "the key 'n_layer' occurs twice"},
      {"{", "", ""},
      {"{", "\xef\xbb\xbf{", "the text begins with a byte order mark"}};
  for (const auto& [from, to, said] : rows) {
    CAPTURE(from, to);
    std::string text = good;
    const std::size_t at = text.find(from);
    REQUIRE(at != text.npos);
    write_text(desk / "run/config.json", text.replace(at, from.size(), to));
    const std::string message = refused_damage(desk, desk / "run");
    CHECK_THAT(message, StartsWith("'~/run/config.json': line "));
    CHECK_THAT(message, ContainsSubstring(said));
    CHECK_THAT(message, EndsWith(end));
  }
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, good.size() / 2, good.size() - 3}) {
    write_text(desk / "run/config.json", good.substr(0, bytes));
    CHECK_THAT(refused_damage(desk, desk / "run"), StartsWith("'~/run/config.json': line "));
  }
  write_text(desk / "run/config.json", good);
  trained({"--resume", desk / "run", "--steps", "30"});
}

TEST_CASE("fledge train --resume: a state that is cut, changed or of another model") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run"});
  trained({desk.poems(), "-o", desk / "words", "--tokens", "word"});
  const std::string path = desk / "run/state.safetensors", good = text_of(path);
  const std::string end = " | begin a new run in another folder with -o, or here with --force";
  const auto said_of = [&](const std::string& bytes) {
    write_text(path, bytes);
    const std::string said = refused_damage(desk, desk / "run");
    CHECK_THAT(said, StartsWith("'~/run/state.safetensors': "));
    CHECK_THAT(said, EndsWith(end));
    return said;
  };
  for (const std::size_t bytes : {0U, 7U, 8U, 9U, 500U, 20000U}) said_of(good.substr(0, bytes));
  said_of(good.substr(0, good.size() - 1));
  said_of(good + "x");
  for (std::size_t at = good.size() - 1; at > 8000; at -= good.size() / 8) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    CHECK_THAT(said_of(changed), ContainsSubstring("it is damaged: its checksum does not match"));
  }
  CHECK_THAT(said_of(text_of(desk / "run/model.safetensors")),
             ContainsSubstring("must have \"run\" in its metadata"));
  CHECK_THAT(said_of(text_of(desk / "words/state.safetensors")),
             ContainsSubstring("'wte.weight' must have shape (22, 16): the file has (14, 16)"));
  write_text(desk / "twice.txt", text_of(desk.poems()) + text_of(desk.poems()));
  trained({desk / "twice.txt", "-o", desk / "twice"});
  CHECK_THAT(said_of(text_of(desk / "twice/state.safetensors")),
             ContainsSubstring("it is of a run with other settings: identity "));
  said_of("hello, I am a text\n");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  CHECK(
      refused_damage(desk, desk / "run") ==
      "cannot read '~/run/state.safetensors': it is a folder | make the file readable, or move it "
      "away");
  std::filesystem::remove(path);
  const std::string kept = text_of(desk / "run/model.safetensors");
  CHECK(refused_damage(desk, desk / "run") ==
        "there is a model in '~/run', and no state.safetensors to go on from" + end);
  CHECK(text_of(desk / "run/model.safetensors") == kept);
  // The other files, cut short.
  write_text(path, good);
  const std::string model = text_of(desk / "run/model.safetensors");
  write_text(desk / "run/model.safetensors", model.substr(0, 100));
  CHECK_THAT(refused_damage(desk, desk / "run"), StartsWith("'~/run/model.safetensors': "));
  write_text(desk / "run/model.safetensors", model);
  trained({"--resume", desk / "run", "--steps", "30"});
}

TEST_CASE("fledge train: what is said on a closed stream does not end up in the run's files") {
  const Desk desk;
  std::string line = "\"$0\" train " + desk.poems() + " -o " + (desk / "run");
  for (const std::string& word : tiny) line += " " + word;
  trained({desk.poems(), "-o", desk / "open"});
  const Result closed = in_shell(line + " --json 2>&- >&-");
  CHECK(closed.status == 1);
  CHECK(text_of(desk / "run/metrics.csv") == text_of(desk / "open/metrics.csv"));
}

TEST_CASE("fledge train: a limit on the size of files is an error in two lines, not a signal") {
  for (const char* blocks : {"1", "2"}) {  // room for no file, for config.json alone
    const Desk desk;
    std::string line = std::string("ulimit -f ") + blocks + "; \"$0\" train -q " + desk.poems() +
                       " -o " + (desk / "run");
    for (const std::string& word : tiny) line += " " + word;
    const Result limited = in_shell(line);
    INFO(limited.err);
    CHECK(limited.status == 1);
    CHECK_THAT(limited.err, ContainsSubstring(": file too large\n"));
    CHECK(lines_of(limited.err).size() == 2);
  }
}
