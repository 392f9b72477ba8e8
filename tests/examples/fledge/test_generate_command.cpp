// fledge generate on tiny models.
#include <algorithm>

#include "tests/examples/fledge/models.h"

using namespace testing;

TEST_CASE("fledge generate: the seed decides, or nothing does at temperature 0") {
  const std::string& run = models().chars();
  const std::string once = text({run, "the "});
  CHECK_THAT(once, StartsWith("the "));
  CHECK(once.size() >= 204);
  CHECK(text({run, "the "}) == once);
  CHECK(text({run, "the ", "--threads", "3"}) == once);
  CHECK(text({run, "the ", "--seed", "1"}) == once);
  CHECK(text({run, "the ", "--seed", "2"}) != once);
  const std::string likeliest = text({run, "the ", "--temperature", "0"});
  CHECK(likeliest != once);
  for (const Words& same : {Words{"--temperature", "0", "--seed", "7"}, Words{"--top-k", "1"},
                            Words{"--top-p", "1e-9"}})
    CHECK(text(Words{run, "the "} + same) == likeliest);
}

TEST_CASE("fledge generate: how many tokens, and where it stops") {
  const std::string& run = models().chars();
  CHECK(text({run, "the birds", "--tokens-out", "0"}) == "the birds\n");
  CHECK(text({run, "--tokens-out", "0"}) == "\n");
  const std::string five = text({run, "the", "--tokens-out", "5"});
  CHECK(text({run, "the", "--tokens-out", "50"}).substr(0, 8) == five.substr(0, 8));
  const std::string whole = text({run, "the", "--temperature", "0"});
  const std::string stop = whole.substr(20, 2);
  const std::size_t at = whole.find(stop, 3);
  std::string until = whole.substr(0, at);
  if (until.back() != '\n') until += '\n';
  CHECK(text({run, "the", "--temperature", "0", "--stop", stop}) == until);
  CHECK(lines_of(text({models() / "lines"})).size() == 1);  // a line ends with its line
}

TEST_CASE("fledge generate: prompts from everywhere and of every length") {
  const std::string& run = models().chars();
  CHECK(text({run, "-"}, "the birds") == text({run, "the birds"}));
  const std::string all = small_text();
  CHECK_THAT(text({run, "-", "--tokens-out", "3"}, all), StartsWith(all));
  CHECK_THAT(text({models().words(), "-", "--tokens-out", "3"}, all), StartsWith(all));
  CHECK_THAT(text({models().words(), "the small", "--tokens-out", "3"}), StartsWith("the small "));
}

TEST_CASE("fledge generate: prompts with what the model never saw") {
  CHECK(refused_with_3({"generate", models().words(), "the burds"}) ==
        "the word 'burds' at byte 4 of the prompt was not in the training text | nearest by "
        "spelling: 'birds'");
  CHECK(refused_with_3({"generate", models().words(), "-"}, "penguin") ==
        "the word 'penguin' at byte 0 of the prompt was not in the training text | --skip-unknown "
        "leaves it out; the model knows 14 words");
  CHECK(refused_with_3({"generate", models().chars(), "birds at \xc3\xa9"}) ==
        "the character '\xc3\xa9' at byte 9 of the prompt was not in the training text | "
        "--skip-unknown leaves it out; the model knows 22 characters");
  CHECK_THAT(
      refused_with_3({"generate", models().chars(), "\x1b[2J"}),
      StartsWith("4 different characters of the prompt were not in the training text, 100.0 % "
                 "of it: '\\x1b', '2', 'J', '['; the first is '\\x1b' at byte 0 | "));
  CHECK(refused_with_3({"generate", models().chars(), "a\xff"}) ==
        "the prompt is not UTF-8 at byte 1 | the model reads characters: convert it, such as with "
        "iconv -f latin1 -t utf-8");
  CHECK(refused_with_3({"generate", models().words(), "birds \xff"}) ==
        "the word '\\xff' at byte 6 of the prompt was not in the training text | --skip-unknown "
        "leaves it out; the model knows 14 words");
}

TEST_CASE("fledge generate --skip-unknown: the prompt without what the model never saw") {
  const Words line{models().chars(), "-", "--tokens-out", "5", "--skip-unknown"};
  const Result skipped = generated(line, "the é blue Ü lake é");
  CHECK(skipped.status == 0);
  CHECK(skipped.out == text({models().chars(), "the  blue  lake ", "--tokens-out", "5"}));
  CHECK(skipped.err ==
        "Left out of the prompt: 2 different characters ('é', 'Ü') that were not in the\n"
        "training text, 15.8 % of it.\n");
  CHECK(generated(line, "the lake").err.empty());
  CHECK(refused_with_3({"generate", models().chars(), "é", "--skip-unknown"}) ==
        "the model knows no character of the prompt | use another text");
}

TEST_CASE("fledge generate: --attention and --json") {
  const Words line{models().words(), "the small", "--tokens-out", "3"};
  const std::string plain = text(line);
  const std::string map = text(line + Words{"--attention"});
  CHECK_THAT(map, StartsWith(plain + "\nAttention over 4 tokens, positions 0 to 3 of the text, "
                                     "counted from 0. The last\ntoken of the text was drawn, but "
                                     "not read.\n"
                                     "Layer 0, head 0."));
  CHECK_THAT(map, ContainsSubstring("the looks at the 1.00 (even split 1.00)"));
  const StrictJson json = read_line(text(line + Words{"--json"}));
  CHECK(json["prompt"].string() == "the small");
  CHECK(json["prompt"].string() + json["text"].string() + "\n" == plain);
  CHECK(json["tokens"].number() == 3);  // that were drawn
  CHECK(json["seed"].number() == 1);
}

TEST_CASE("fledge: control characters reach no terminal, and go through a pipe") {
  const Desk desk;
  std::string hostile;
  for (int i = 0; i < 300; ++i) hostile += "\x1b[2J\x07";
  write_text(desk / "hostile.txt", hostile);
  const Words train = Words{"train", desk / "hostile.txt", "-o", desk / "run"} + tiny;
  const Result shown =
      run_on_terminal(with_program(train + Words{"--no-progress"}), {{"NO_COLOR", "1"}});
  CHECK(shown.status == 0);
  CHECK(shown.out.find('\x1b') == shown.out.npos);
  CHECK(shown.out.find("\\x1b") != shown.out.npos);
  const Words line = with_program(with_seed({desk / "run", "\x1b[2J", "--tokens-out", "60"}));
  const Result terminal = run_on_terminal(line, {{"NO_COLOR", "1"}});
  CHECK_THAT(terminal.out, StartsWith("\\x1b[2J"));
  for (const Words& more : {Words{}, Words{"--probs"}, Words{"--attention"}})
    CHECK(run_on_terminal(line + more, {{"NO_COLOR", "1"}}).out.find_first_of("\x1b\x07") ==
          std::string::npos);
  CHECK_THAT(run(line).out, StartsWith("\x1b[2J"));
  CHECK(run_on_terminal(line + Words{"--raw"}).out == run(line).out);
  CHECK(read_line(run(line + Words{"--json"}).out)["prompt"].string() == "\x1b[2J");
}

TEST_CASE("fledge generate: folders that hold no whole model") {
  const Desk desk;
  const std::string run = desk / "run",
                    made = "a model's folder is made by: fledge train FILE -o DIR";
  const auto refused_now = [&] {
    std::string said = refused_with_3({"generate", run});
    CHECK(refused_with_3({"eval", run}) == said);
    return said.replace(said.find(desk.path()), desk.path().size(), "~");
  };
  CHECK(refused_now() == "cannot read '~/run': no such file or directory | " + made);
  trained({desk.poems(), "-o", run});
  const auto good = files_in(run);
  std::filesystem::remove(run + "/model.safetensors");
  const std::string missing = "cannot read '~/run/model.safetensors': no such file or directory | ";
  CHECK(refused_now() ==
        missing + "make it again from the checkpoint: fledge train --resume " + run);
  trained({"--resume", run});
  CHECK(fledge_says({"generate", run}).status == 0);
  std::filesystem::remove(run + "/model.safetensors");
  std::filesystem::remove(run + "/state.safetensors");
  CHECK(refused_now() == missing + made);
  write_text(run + "/state.safetensors", good.at("state.safetensors"));
  const std::string again = " | restore it, or move it away and run: fledge train --resume " + run;
  for (const std::size_t bytes : {0U, 100U, 5000U}) {
    write_text(run + "/model.safetensors", good.at("model.safetensors").substr(0, bytes));
    const std::string said = refused_now();
    CHECK_THAT(said, StartsWith("cannot read '~/run/model.safetensors': "));
    CHECK_THAT(said, EndsWith(again));
  }
  write_text(run + "/model.safetensors", good.at("model.safetensors"));
  std::string layers = good.at("config.json");
  layers.replace(layers.find("\"n_layer\": 1"), 12, "\"n_layer\": 2");
  write_text(run + "/config.json", layers);
  CHECK_THAT(refused_now(), ContainsSubstring("config.json': line "));
  CHECK_THAT(refused_now(), ContainsSubstring("does not fit the contents"));
  write_text(run + "/config.json", good.at("config.json"));
  write_text(run + "/model.safetensors", text_of(models().words() + "/model.safetensors"));
  CHECK(refused_now() ==
        "cannot read '~/run/model.safetensors': it was written for another config.json than the "
        "one beside it" +
            again);
  // As other programs write it.
  write_text(run + "/config.json",
             R"({"model_type":"gpt2","vocab_size":14,"n_positions":16,"n_embd":16,"n_layer":1,)"
             R"("n_head":1})");
  CHECK_THAT(refused_now(),
             StartsWith("'~/run/tokenizer.json': line 8, column 13: pre_tokenizer.type must be "
                        "ByteLevel: got \"Split\" | "));
}

TEST_CASE("fledge generate: a model of words reads and writes punctuation marks") {
  const Desk desk;
  std::string text;
  for (int i = 0; i < 20; ++i) text += "(birds walk, then \"fly\"). cats -- no, dogs!\n";
  write_text(desk / "marks.txt", text);
  trained({desk / "marks.txt", "-o", desk / "run", "--tokens", "word"});
  const std::string prompt = "(birds walk, then \"fly\").";
  const Result result = fledge_says({"generate", desk / "run", prompt, "--tokens-out", "5"});
  CHECK(result.status == 0);
  CHECK_THAT(result.out, StartsWith(prompt));
  // A mark that the text has only behind a word is read with a blank in front of it, too.
  CHECK(fledge_says({"generate", desk / "run", "birds walk , then"}).status == 0);
  const Result unknown = fledge_says({"generate", desk / "run", "birds walk;"});
  CHECK(unknown.status == 3);
  CHECK_THAT(unknown.err, ContainsSubstring("the word ';' at byte 10 of the prompt was not"));
}
