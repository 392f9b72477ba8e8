// What fledge train refuses: its exit status and both lines; and nothing that was there is touched.
#include <sys/stat.h>

#include <fstream>

#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

/// "STATUS: what came | what to do" of a refused call, with the desk's own path as "~".
std::string refused_training(const Desk& desk, const Words& arguments,
                             std::string_view input = "") {
  const Result result = run(with_program(Words{"train"} + arguments), {}, input);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, ContainsSubstring("fledge train: "));
  return refusal_of(result, desk.path());
}

struct Refused {
  Words arguments;
  std::string said;
};

}  // namespace

TEST_CASE("fledge train: options that are wrong in themselves or together") {
  const Desk desk;
  const std::string run = desk / "run", poems = desk.poems();
  const std::string all = "all options: fledge train --help";
  const std::vector<Refused> rows{
      {{"--stesp", "5"},
       "2: unknown option '--stesp' | did you mean '--steps'? all options: fledge train --help"},
      {{"--steps"}, "2: --steps needs a value | write --steps N"},
      {{"--steps", "5", "--steps", "5"}, "2: --steps was given twice | give it once"},
      {{"--steps", "0"},
       "2: --steps must be a whole number from 1 to 1000000000: got '0' | write --steps N; " + all},
      {{"--steps", "5x"},
       "2: --steps must be a whole number from 1 to 1000000000: got '5x' | write --steps N; " +
           all},
      {{"--lr", "nan"},
       "2: --lr must be a number from 0 to 1000000: got 'nan' | write --lr X; " + all},
      {{"--lr", "-0.1"},
       "2: --lr must be a number from 0 to 1000000: got '-0.1' | write --lr X; " + all},
      {{"--dropout", "1"},
       "2: --dropout must be a number from 0 to 0.99: got '1' | write --dropout X; " + all},
      {{"--threads", "0"},
       "2: --threads must be a whole number from 1 to 256: got '0' | write --threads N; " + all},
      {{"--threads", "100000"},
       "2: --threads must be a whole number from 1 to 256: got '100000' | write --threads N; " +
           all},
      {{"--width", "1000000000"},
       "2: --width must be a whole number from 2 to 1000000: got '1000000000' | write --width N; " +
           all},
      {{"--width", "1", "--heads", "1"},
       "2: --width must be a whole number from 2 to 1000000: got '1' | write --width N; " + all},
      {{"--tokens", "words"},
       "2: --tokens must be one of char|word|byte|bpe: got 'words' | did you mean 'word'? " + all},
      {{""}, "2: FILE has an empty name | leave it out for the built-in text"},
      {{poems, "-"}, "2: standard input (-) is a text of its own | name only files, or only -"},
      {{poems, "--width", "128", "--heads", "3"},
       "2: --width 128 does not divide into 3 heads (128 / 3 = 42.6667) | use --width 126 or 129, "
       "or another number of --heads"},
      {{poems, "--width", "2", "--heads", "3"},
       "2: --width 2 does not divide into 3 heads (2 / 3 = 0.666667) | use --width 3, or another "
       "number of --heads"},
      {{poems, "--symbols", "300"},
       "2: --symbols is for --tokens bpe | leave it out: other tokens follow from the text"},
      {{desk / "none.txt", "--valid", "1.5"},
       "2: --valid must be a share below 1 or a whole number: got 1.5 | write --valid 0.1 for a "
       "tenth, --valid 100 for a hundred"},
      {{poems, "--valid", "0", "--patience", "3"},
       "2: --patience needs a held-out text | use --valid 0.1, or leave out --patience"},
      {{poems, "--warmup", "30", "--steps", "20"},
       "2: --warmup 30 is longer than the run | use --warmup 20 or less"},
      {{poems, "--watch", "walk"},
       "2: --watch 'walk' is no pair of words | write --watch walk:birds, or walk:birds,at:good "
       "for two"},
      {{poems, "--without", "attention", "--probe", "birds walk"},
       "2: --watch and --probe show where words look, but this model is without attention | leave "
       "them out"},
      {{"--resume", run, "-o", desk / "other"},
       "2: --resume and --out name two folders | a run stays in its folder: leave out --out"},
      {{"--resume", run, "--force"}, "2: --force begins anew, --resume goes on | use one of them"},
      {{"--resume", run, "--no-save"},
       "2: --resume saves in the folder of the run, --no-save writes no files | use one of them"},
      {{poems, "-o", run, "--no-save"},
       "2: --no-save writes no files, --out is for a run that does | use one of them"},
      {{poems, "--force", "--no-save"},
       "2: --no-save writes no files, --force is for a run that does | use one of them"},
      {{"--resume", run, "--batch", "1"},
       "2: --batch belongs to the run since it began | leave it out, or begin a new run in another "
       "folder with -o"},
      {{poems, "-o", poems},
       "2: --out '~/poems.txt' would write over the text itself | name another folder: -o run"}};
  for (const Refused& row : rows) CHECK(refused_training(desk, row.arguments) == row.said);
  CHECK(files_in(desk.path()).size() == 1);
  CHECK(text_of(poems) == small_text());
}

TEST_CASE("fledge train: the folder of a run is no text") {
  const Desk desk;
  const std::string run = desk / "run", other = desk / "other";
  trained({desk.poems(), "-o", run});
  const Files before = files_in(run);
  for (const Words& texts : {Words{run}, Words{run + "/"}, Words{desk.poems(), run}}) {
    const std::string& named = texts.back();
    const std::string name = "~" + named.substr(desk.path().size());
    CHECK(refused_training(desk, texts + Words{"-o", other}) ==
          "2: '" + name + "' is the folder of a model, not of texts | --resume " + name +
              " goes on with its run, FILE --from " + name + " trains it on another text");
    CHECK_FALSE(std::filesystem::exists(other));
  }
  CHECK(files_in(run) == before);
}

TEST_CASE("fledge train: texts that teach nothing") {
  const Desk desk;
  write_text(desk / "empty.txt", "");
  write_text(desk / "short.txt", "abcab");
  write_text(desk / "one.txt", std::string(300, 'a'));
  write_text(desk / "letter.txt", "a");
  write_text(desk / "line.txt", "a line\n");
  write_text(desk / "blank.txt", " \n\n");
  write_text(desk / "latin.txt",
             "abc d\xe9"
             "f" +
                 small_text());
  std::filesystem::create_directory(desk / "folder");
  REQUIRE(mkfifo((desk / "pipe").c_str(), 0600) == 0);
  const std::string name = "name a text file, or - for standard input";
  const std::string convert =
      "convert it, or use --tokens byte or --tokens bpe: they take any bytes";
  const std::vector<Refused> rows{
      {{desk / "peoms.txt"},
       "3: cannot read '~/peoms.txt': no such file or directory | did you mean '~/poems.txt'?"},
      {{desk / "novel"}, "3: cannot read '~/novel': no such file or directory | " + name},
      {{desk / "no/poems.txt"},
       "3: cannot read '~/no/poems.txt': no such file or directory | " + name},
      {{desk / "folder"}, "3: there is no text file in the folder '~/folder' | name a text file"},
      {{desk.poems(), desk / "latin.txt"},
       "3: '~/latin.txt' is not UTF-8 at byte 5 | leave it out, convert it, or use --tokens byte: it "
       "takes any bytes"},
      {{desk.poems(), desk / "novel"},
       "3: cannot read '~/novel': no such file or directory | " + name},
      {{desk / "pipe"}, "3: cannot read '~/pipe': it is not a regular file | " + name},
      {{desk / "empty.txt"}, "3: '~/empty.txt' is empty | name a text with some thousand words"},
      {{"-"}, "3: standard input is empty | name a text with some thousand words"},
      {{desk / "short.txt", "--context", "64"},
       "3: '~/short.txt' has 4 characters to train on; a context of 64 needs at least 65 | use "
       "--context 3, or more text"},
      {{desk / "letter.txt"},
       "3: '~/letter.txt' has 1 character: too few to train on and to hold a part out | name a text "
       "with at least 1,000 characters"},
      {{desk / "line.txt", "--lines"},
       "3: '~/line.txt' has 1 line: too few to train on and to hold a part out | name a text with at "
       "least 100 lines"},
      {{desk / "one.txt"},
       "3: '~/one.txt' consists of one repeated character, so there is nothing to learn | name a text "
       "with at least two different characters"},
      {{desk / "latin.txt"}, "3: '~/latin.txt' is not UTF-8 at byte 5 | " + convert},
      {{desk / "latin.txt", "--tokens", "word"},
       "3: '~/latin.txt' is not UTF-8 at byte 5 | " + convert},
      {{desk / "blank.txt", "--lines"},
       "3: '~/blank.txt' has no line with letters: all its lines are blank | name a text with some "
       "thousand words"},
      {{desk.poems(), "--valid", "1000000"},
       "3: '~/poems.txt': valid = 1e+06 of " + std::to_string(small_text().size()) +
           " tokens leaves nothing to train on | use another --valid, or more text"},
      {{desk.poems(), "--tokens", "word", "--watch", "walk:bords"},
       "3: --watch: 'bords' is no word of the text | nearest by spelling: 'birds'"},
      {{desk.poems(), "--watch", "walk:birds"},
       "3: --watch: 'walk' is no character of the text | to watch words, begin a new run with --tokens "
       "word"}};
  for (const Refused& row : rows)
    CHECK(refused_training(desk, row.arguments + Words{"-o", desk / "run"}) == row.said);
  CHECK_FALSE(std::filesystem::exists(desk / "run"));
  // The shortest text that is one window, and any bytes as bytes.
  write_text(desk / "window.txt", "abcdefgabcabcabcabc");  // 17 of 19 characters to train on
  trained({desk / "window.txt"});
  trained({desk / "latin.txt", "--tokens", "byte"});
  trained({desk / "latin.txt", "--tokens", "bpe", "--symbols", "260"});
}

TEST_CASE("fledge train: sizes that no machine holds") {
  const Desk desk;
  for (const Words& sizes : {Words{"--width", "1000000", "--layers", "1000", "--heads", "1000"},
                             Words{"--batch", "1000000", "--width", "1000000", "--heads", "1"}}) {
    const std::string said =
        refused_training(desk, Words{desk.poems(), "-o", desk / "run"} + sizes);
    CHECK_THAT(said, StartsWith("1: a step needs about "));
    CHECK_THAT(said, EndsWith(" | use smaller --width, --layers, --context or --batch"));
  }
  CHECK_FALSE(std::filesystem::exists(desk / "run"));
}

TEST_CASE("fledge train -o: folders that cannot be its own") {
  const Desk desk;
  write_text(desk / "file", "x");
  trained({desk.poems(), "-o", desk / "run"});
  const auto run = files_in(desk / "run");
  const std::string make = "name a folder in one that you may write to: -o DIR";
  const std::vector<Refused> rows{
      {{desk / "run"},
       "1: the folder '~/run' is not empty | --resume goes on with the run in it, --force begins "
       "anew"},
      {{desk / "file"}, "1: '~/file' is a file, not a folder | name another: -o DIR"},
      {{desk / "file/run"}, "1: cannot make the folder '~/file/run': not a directory | " + make}};
  for (const Refused& row : rows)
    CHECK(refused_training(desk, Words{desk.poems(), "-o"} + row.arguments) == row.said);
  CHECK_THAT(refused_training(desk, {desk.poems(), "-o", desk / std::string(5000, 'x')}),
             ContainsSubstring("': file name too long | " + make));
  CHECK(refused_training(desk, {desk / "run/config.json", "-o", desk / "run", "--force"}) ==
        "2: --out '~/run' would write over the text itself | name another folder: -o run");
  CHECK((files_in(desk / "run") == run));
  CHECK(text_of(desk / "file") == "x");
  trained({desk.poems(), "-o", desk / "run", "--force", "--seed", "2"});
  CHECK((files_in(desk / "run") != run));
}

TEST_CASE("fledge train: two trainers in one folder") {
  const Desk desk;
  Running first(Words{"train", desk.poems(), "-o", desk / "run", "--json", "--pace", "1"} + tiny);
  REQUIRE(first.says("\"step\":1,"));
  const auto before = files_in(desk / "run");
  for (const Words& words :
       {Words{desk.poems(), "-o", desk / "run", "--force"}, Words{"--resume", desk / "run"}}) {
    CHECK(
        refused_training(desk, words) ==
        "1: cannot use '~/run': another process is using it | wait until the other run has ended, "
        "or name another folder: -o DIR");
  }
  CHECK((files_in(desk / "run") == before));
}

TEST_CASE("fledge train --resume: folders without a run, and texts that changed") {
  const Desk desk;
  std::filesystem::create_directory(desk / "folder");
  const std::string begin = ": it has no config.json | begin one: fledge train FILE -o DIR";
  CHECK(refused_training(desk, {"--resume", desk / "folder"}) ==
        "3: there is no run in '~/folder'" + begin);
  CHECK(refused_training(desk, {"--resume", desk / "no"}) ==
        "3: there is no run in '~/no'" + begin);
  CHECK(refused_training(desk, {"--resume", desk.poems()}) ==
        "3: there is no run in '~/poems.txt'" + begin);
  trained({desk.poems(), "-o", desk / "run"});
  const auto run = files_in(desk / "run");
  const Words resume{"--resume", desk / "run", "--steps", "30"};
  CHECK(refused_training(desk, {"--resume", desk / "run", "--steps", "1"}) ==
        "2: --steps 1 is less than the warm-up of 2 steps that this run has | use at least --steps "
        "2");
  const std::string keep = " | a run keeps to its text: bring it back, or begin a new run with -o";
  const std::string text = small_text(), size = std::to_string(text.size());
  write_text(desk.poems(), text + "\n");
  const auto refused_text = [&](std::size_t bytes) {
    const std::string said = refused_training(desk, resume);
    CHECK_THAT(said, StartsWith("3: '~/poems.txt' is not the text of this run: it has " +
                                std::to_string(bytes) + " bytes (hash "));
    CHECK_THAT(said, ContainsSubstring("), the run's had " + size + " bytes (hash "));
    CHECK_THAT(said, EndsWith(")" + keep));
  };
  refused_text(text.size() + 1);
  write_text(desk.poems(), replaced(text, "birds", "bards"));
  refused_text(text.size());
  std::filesystem::remove(desk.poems());
  write_text(desk / "poem.txt", text);  // a name that is like it is no better advice
  const std::string missing =
      "3: the text of the run must be here or beside the run: there is no readable file 'poems.txt' "
      "| bring it, or a link to it, here or into the folder '~'";
  CHECK(refused_training(desk, resume) ==
        missing + ", or say where it is: fledge train --resume ~/run FILE");
  for (const Words& line : {Words{"eval", desk / "run"},
                            Words{"export", desk / "run", "--training", "-o", desk / "torch"}})
    CHECK(refusal_of(fledge_says(line), desk.path()) == missing);
  CHECK((files_in(desk / "run") == run));
  write_text(desk / "moved.txt", text);
  trained(Words{"--resume", desk / "run", desk / "moved.txt", "--steps", "22"});
  trained({"--resume", desk / "run", "--steps", "24"});  // it knows the new name
}
