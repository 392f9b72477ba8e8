// Folders that Hugging Face's libraries saved: generate, eval, inspect and train read them.
#include "tests/examples/fledge/other_folder.h"

using namespace testing;

TEST_CASE("other folders: --tokens-in works without a tokenizer, by both names of the folder") {
  const OtherFolder desk;
  const Words prompt{"15 7 3", "--tokens-in", "--temperature", "0", "--tokens-out", "5"};
  const std::string by_argument = text(Words{desk.folder()} + prompt);
  CHECK_THAT(by_argument, StartsWith("15 7 3 "));
  CHECK(text(prompt + Words{"--from", desk.folder()}) == by_argument);
  const auto numbers = lines_of(by_argument).at(0);
  CHECK(std::count(numbers.begin(), numbers.end(), ' ') == 7);
  CHECK(
      refusal_of(fledge_says({"generate", desk.folder()}), desk.path()) ==
      "3: '~/gpt2' has no tokenizer: neither tokenizer.json nor vocab.json and merges.txt | bring "
      "them; without them a text is token numbers: fledge generate DIR --tokens-in \"15 7\"");
  const auto refused = [&](const Words& more) {
    return refusal_of(fledge_says(Words{"generate", desk.folder(), "--tokens-in"} + more),
                      desk.path());
  };
  for (const std::string wrong : {"265", "x", "-1", "07"})
    CHECK(refused({"15 " + wrong}) == "3: the prompt must have token numbers from 0 to 264: got '" +
                                          wrong +
                                          "' | write them with blanks between, such as \"15 7\"");
  CHECK(refused({}) ==
        "3: --tokens-in needs a prompt: got none | write token numbers, such as \"15 7\"");
  write_text(desk / "numbers", "1 2 3 4 5 6 7\r\n8 9 10 11 12 13 14 15\n");
  const Result loss = fledge_says({"eval", desk.folder(), desk / "numbers", "--tokens-in"});
  CHECK(loss.status == 0);
  CHECK_THAT(loss.out, ContainsSubstring("14 words"));
}

TEST_CASE("other folders: the tokenizer of vocab.json and merges.txt is used, and its end") {
  const OtherFolder desk;
  desk.add_tokenizer();
  const Result result = generated({desk.folder(), "birds walk", "--tokens-out", "3", "--json"});
  REQUIRE(result.status == 0);
  CHECK_THAT(text({"--from", desk.folder(), "birds walk", "--temperature", "0"}),
             StartsWith("birds walk"));
  const Result judged = fledge_says({"eval", desk.folder(), desk.poems()});
  CHECK(judged.status == 0);
  CHECK_THAT(judged.out, StartsWith("Loss "));
  CHECK(refusal_of(fledge_says({"eval", desk.folder()}), desk.path()) ==
        "3: this model has no run of fledge train, so no text was held out | name a text: fledge "
        "eval DIR FILE");
  CHECK_THAT(fledge_says({"inspect", "--from", desk.folder()}).out,
             ContainsSubstring("265 tokens (bpe)"));
}

TEST_CASE("other folders: fledge train goes on from such a model") {
  const OtherFolder desk;
  desk.add_tokenizer();
  const std::string run = desk / "run";
  const Words call{"train",   desk.poems(), "--from",  desk.folder(), "-o", run,
                   "--steps", "20",         "--batch", "2",           "-q"};
  CHECK(fledge_says(call).status == 0);
  const double
      before = read_line(fledge_says({"eval", desk.folder(), desk.poems(), "--json"}).out)["loss"]
                   .number(),
      after = read_line(fledge_says({"eval", run, desk.poems(), "--json"}).out)["loss"].number();
  CHECK(after < before);
  // The run has all that it needs: the folder may go.
  std::filesystem::rename(desk.folder(), desk / "gone");
  CHECK(fledge_says({"train", "--resume", run, "--steps", "25", "-q"}).status == 0);
  CHECK(refusal_of(fledge_says({"train", "--resume", run, "--from", desk / "gone"}), desk.path()) ==
        "2: --from belongs to the run since it began | leave it out, or begin a new run in another "
        "folder with -o");
}

TEST_CASE(
    "other folders: with --from the first loss is that of the model, also in a shorter context") {
  const OtherFolder desk;
  desk.add_tokenizer();
  for (const char* context : {"12", "7"}) {
    const std::string run = desk / ("run" + std::string(context));
    const Result result = fledge_says({"train", desk.poems(), "--from", desk.folder(), "-o", run,
                                       "--context", context, "--steps", "1", "--lr", "0", "-q"});
    REQUIRE(result.status == 0);
    const Words eval{"eval", run, desk.poems(), "--json"};
    if (std::string(context) == "12")
      CHECK(fledge_says(eval).out ==
            fledge_says({"eval", desk.folder(), desk.poems(), "--json"}).out);
    CHECK_THAT(text_of(run + "/config.json"),
               ContainsSubstring("\"n_positions\": " + std::string(context)));
  }
  const auto refused = [&](const Words& more) {
    return refusal_of(fledge_says(Words{"train", desk.poems(), "--from", desk.folder()} + more),
                      desk.path());
  };
  CHECK(
      refused({"--context", "13"}) ==
      "3: --context 13 is longer than that of the model of --from, 12 | use --context 12 or less");
  CHECK(refused({"--layers", "3"}) ==
        "2: --layers is decided by the model of --from | leave it out");
  CHECK(refusal_of(fledge_says({"train", "--from", desk.folder()}), desk.path()) ==
        "2: --from needs a text to train on | write fledge train FILE --from DIR");
}

TEST_CASE(
    "other folders: what transformers made of a folder of fledge train is still such a folder") {
  const Desk desk;
  const std::string folder = desk / "saved";
  std::filesystem::copy(models().words(), folder);
  std::filesystem::remove(folder + "/state.safetensors");
  // save_pretrained() keeps unknown keys, adds its version, and writes numbers and line ends anew.
  std::string config = text_of(folder + "/config.json");
  config.replace(config.find('{'), 1, "{\n\n  \"transformers_version\": \"4.40.0\",");
  write_text(folder + "/config.json", config);
  CHECK(fledge_says({"eval", folder, "--json"}).out ==
        fledge_says({"eval", models().words(), "--json"}).out);
  config.replace(config.find("transformers_version"), 20, "_name_or_path\": \"\", \"prefix");
  write_text(folder + "/config.json", config);
  CHECK_THAT(fledge_says({"eval", folder}).err, ContainsSubstring("does not fit the contents"));
}
