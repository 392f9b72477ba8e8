// fledge train on small texts: what it says, where, and what it leaves.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "examples/fledge/train/train_run.h"
#include "examples/fledge/trained_model.h"
#include "examples/support/text.h"
#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
/// Whether a terminal would be commanded: by ESC, CR or BS.
bool commands_terminal(const std::string& text) {
  return text.find_first_of("\x1b\r\b") != std::string::npos;
}

/// Whether a line of the screen begins with this text. ESC[J erases what the line showed before.
bool begins_a_line(const std::string& out, const std::string& text) {
  return has(out, "\n" + text) || has(out, "\x1b[J" + text);
}

Words keys_of(const StrictJson& json) {
  Words keys;
  for (const auto& member : json.object()) keys.push_back(member.first);
  return keys;
}

/// What is told of the last line of --json.
StrictJson end_of(const Words& arguments) {
  return json_lines(trained(arguments + Words{"--json", "-q"}).out).back();
}

}  // namespace

TEST_CASE("fledge train: without a word it learns the built-in text and keeps nothing") {
  const testing::Folder empty;
  const Result result =
      run({"sh", "-c", "cd \"$1\" && exec \"$0\" train --steps 100", fledge_program, empty.path()});
  CHECK(result.status == 0);
  CHECK(result.out.empty());
  CHECK(std::filesystem::is_empty(empty.path()));
  for (const char* part :
       {"Reading the built-in text.\nNothing is saved: add -o DIR.\n", "walk -> birds ",
        "Causality check passed: ", "Forecast: ", "\nSamples:\n", "\nHeld-out loss ",
        "Next: fledge train YOUR_TEXT.txt\n"}) {
    CAPTURE(part);
    CHECK(has(result.err, part));
  }
  CHECK_FALSE(commands_terminal(result.err));
}

TEST_CASE("fledge train -o: the files of a run, and the same bytes for the same seed") {
  const Desk desk;
  const Result result = trained({desk.poems(), "-o", desk / "run"});
  CHECK(result.out.empty());
  CHECK(has(result.err, "Next: fledge generate "));
  const auto files = files_in(desk / "run");
  Words names;
  for (const auto& [name, bytes] : files) names.push_back(name);
  CHECK(names == Words{"config.json", "generation_config.json", "metrics.csv", "metrics.jsonl",
                       "model.safetensors", "state.safetensors", "tokenizer.json",
                       "tokenizer_config.json"});
  const Words rows = lines_of(files.at("metrics.csv"));
  REQUIRE(rows.size() == 21);
  CHECK(rows[0] == "step,loss,held_out_loss,lr,grad_norm");
  for (std::size_t step = 1; step < rows.size(); ++step)
    CHECK_THAT(rows[step], StartsWith(std::to_string(step) + ","));
  trained({desk.poems(), "-o", desk / "again", "--threads", "3"});
  CHECK(files_in(desk / "again") == files);
  trained({desk.poems(), "-o", desk / "other", "--seed", "2"});
  CHECK(files_in(desk / "other").at("model.safetensors") != files.at("model.safetensors"));
}

TEST_CASE("fledge train --json: a start, steps, and an end with its keys") {
  const Desk desk;
  const Result result = trained({desk.poems(), "--json", "--eval-every", "10"});
  const std::vector<StrictJson> lines = json_lines(result.out);
  CHECK(lines.front()["type"].string() == "start");
  CHECK(lines.front()["vocabulary"].number() == 22);
  CHECK(lines.front()["step"].number() == 0);
  std::size_t steps = 0, judged = 0;
  for (const StrictJson& line : lines)
    if (line["type"].string() == "step") {
      CHECK(line["step"].number() == static_cast<double>(++steps));
      judged += line.contains("held_out_loss");
    }
  CHECK(steps == 20);
  CHECK(judged == 2);
  const StrictJson& end = lines.back();
  CHECK(keys_of(end) == Words{"type", "status", "step", "train_loss", "held_out_loss",
                              "best_held_out_loss", "bits_per_byte", "model_step", "baselines",
                              "seconds"});
  CHECK(end["type"].string() == "end");
  CHECK(end["status"].string() == "ok");
  CHECK(end["step"].number() == 20);
  CHECK(end["best_held_out_loss"].number() == end["held_out_loss"].number());
  CHECK(keys_of(end["baselines"]) == Words{"uniform", "unigram", "bigram", "trigram", "fourgram"});
  CHECK(end["baselines"]["uniform"].number() == Approx(std::log(22.0)));
  CHECK(end["train_loss"].number() < std::log(22.0) + 0.1);

  const StrictJson alone = end_of({desk.poems(), "--valid", "0"});
  CHECK(keys_of(alone) == keys_of(end));
  CHECK(alone["held_out_loss"].is_null());
  CHECK(alone["best_held_out_loss"].is_null());
}

TEST_CASE("fledge train: the training losses that are shown do not lag behind the model") {
  const Desk desk;
  const Result result = trained({desk.poems(), "-o", desk / "run", "--json", "--eval-every", "5"});
  std::map<double, double> steps, evaluations;  // their losses
  const std::vector<StrictJson> events = json_lines(result.out);
  for (const StrictJson& event : events) {
    if (event["type"].string() == "step") steps[event["step"].number()] = event["loss"].number();
    if (event["type"].string() == "eval")
      evaluations[event["step"].number()] = event["train_loss"].number();
  }
  // On the screen the loss of the step itself.
  for (const double step : {1, 20})
    CHECK_THAT(result.err, ContainsSubstring(support::formatted("\nstep=%.0f of=20 loss=%.4f ",
                                                                step, steps.at(step))));
  // Beside the held-out loss that of the same model on the training text.
  const fledge::TrainedModel trained = fledge::load_trained(desk / "run");
  const fledge::Corpus corpus = fledge::read_corpus(small_text(), trained.run.settings.corpus);
  const double loss = fledge::mean_loss(trained.model, corpus.train, 2, 120);
  CHECK(evaluations.size() == 4);
  CHECK(evaluations.at(static_cast<double>(trained.step)) == Approx(loss).epsilon(1e-6));
  REQUIRE(trained.step == 20);
  CHECK(events.back()["train_loss"].number() == Approx(loss).epsilon(1e-12));
}

TEST_CASE("fledge train: without a held-out text the last report has the loss of the last model") {
  const Desk desk;
  const Result result = trained({desk.poems(), "-o", desk / "run", "--valid", "0"});
  const fledge::TrainedModel trained = fledge::load_trained(desk / "run");
  const fledge::Corpus corpus = fledge::read_corpus(small_text(), trained.run.settings.corpus);
  CHECK_THAT(result.err, ContainsSubstring(support::formatted(
                             "\nTraining loss %.4f nats per character",
                             fledge::mean_loss(trained.model, corpus.train, 2, 120))));
}

TEST_CASE("fledge train: a text that cannot be read has no run that is saved somewhere") {
  const Desk desk;
  for (const Words& text :
       {Words{"none.txt"}, Words{"empty.txt"}, Words{"poems.txt", "-o", "full"}}) {
    CAPTURE(text);
    write_text(desk / "empty.txt", "");
    std::filesystem::create_directory(desk / "full");
    write_text(desk / "full/thesis", "mine");
    std::string line = "cd '" + desk.path() + "' && exec \"$0\" train";
    for (const std::string& word : text) line += " " + word;
    const Result result = in_shell(line);
    CHECK(result.status != 0);
    CHECK_THAT(result.err, StartsWith("Reading '" + text[0] + "'.\nfledge train: "));
    CHECK_THAT(result.err, !ContainsSubstring("saved"));
  }
}

TEST_CASE("fledge train: a sample begins where a text begins, and hides none of its characters") {
  const Desk desk;
  std::string lines, letters;
  for (int i = 0; i < 400; ++i) lines += "Zebra\n", letters += "abcdefgh";
  write_text(desk / "zebra.txt", lines);
  write_text(desk / "letters.txt", letters);  // no line end: a sample begins with token 0
  const auto samples = [&](const std::string& text) {
    const Words line{"train", desk / text, "--no-save", "--json",    "-q", "--steps",
                     "60",    "--lr",      "0.02",      "--layers",  "1",  "--width",
                     "16",    "--heads",   "1",         "--context", "16", "--batch",
                     "8",     "--dropout", "0"};
    Words texts;
    for (const StrictJson& event : json_lines(fledge_says(line).out))
      if (event["type"].string() == "sample" && event["step"].number() == 60)
        texts.push_back(event["text"].string());
    REQUIRE(texts.size() == 3);
    return texts;
  };
  for (const std::string& text : samples("zebra.txt")) CHECK_THAT(text, StartsWith("Zebra\nZebra"));
  for (const std::string& text : samples("letters.txt")) CHECK_THAT(text, StartsWith("abcdefghab"));
}

TEST_CASE("fledge train: the time of a step is taken when it is warm") {
  using Seconds = std::chrono::duration<double>;
  struct Clock {
    static std::chrono::time_point<Clock, Seconds>& time() {
      static std::chrono::time_point<Clock, Seconds> now;
      return now;
    }
    static std::chrono::time_point<Clock, Seconds> now() { return time(); }
  };
  int calls = 0;
  const auto seconds_after = [&](double first) {
    calls = 0;
    return fledge::train::seconds_when_warm<Clock>(
        [&] { Clock::time() += Seconds(++calls == 1 ? first : 0.5); });
  };
  CHECK(seconds_after(1) == 0.5);
  CHECK(calls == 2);
  CHECK(seconds_after(16) == 16);  // a long step is not made twice
  CHECK(calls == 1);
}

TEST_CASE("fledge train: a bar on a terminal, plain lines elsewhere") {
  const Desk desk;
  const Words line = with_program(Words{"train", desk.poems(), "--no-save"} + tiny);
  const Result bar = run_on_terminal(line);
  CHECK(bar.status == 0);
  CHECK(begins_a_line(bar.out, "100%|"));
  CHECK(has(bar.out, "Counting tables 100%|"));
  CHECK_FALSE(has(bar.out, "step=20 of=20"));
  for (const auto& [words, extra] :
       {std::pair<Words, Environment>{{}, {{"TERM", "dumb"}}}, {{"--no-progress"}, {}}}) {
    const Result plain = run_on_terminal(line + words, extra);
    CHECK(plain.status == 0);
    CHECK_FALSE(has(plain.out, "\r"));
    CHECK(has(plain.out, "step=20 of=20 loss="));
  }
  const Result piped = run(line);
  CHECK_FALSE(commands_terminal(piped.err));
  CHECK(has(piped.err, "\nstep=1 of=20 loss="));
  CHECK(has(piped.err, "\nstep=20 of=20 loss="));
  CHECK(run(line + Words{"-q"}).err.empty());
  CHECK(run_on_terminal(line + Words{"--quiet"}).out.empty());
  for (int columns : {20, 40}) {
    const Result narrow = run_on_terminal(line, {}, columns);
    CHECK(narrow.status == 0);
    CHECK(begins_a_line(narrow.out, "100%"));
  }
  for (const std::string& shown :
       lines_of(run_on_terminal(line + Words{"--no-progress"}, {}, 40).out))
    if (!shown.starts_with("step="))  // for other programs
      CHECK(support::display_width(without_colours(shown)) <= 40);
}

TEST_CASE("fledge train: tokens of every kind, of a stream or of lines") {
  const Desk desk;
  for (const char* tokens : {"char", "word", "byte", "bpe"})
    for (const bool lines : {false, true}) {
      CAPTURE(tokens, lines);
      const Words words = Words{desk.poems(), "--tokens", tokens} +
                          (lines ? Words{"--lines"} : Words{}) +
                          (std::string(tokens) == "bpe" ? Words{"--symbols", "270"} : Words{});
      const StrictJson end = end_of(words);
      const double symbols = std::exp(end["baselines"]["uniform"].number());
      const std::string kind = tokens;
      CHECK(symbols == Approx(kind == "char"   ? 22
                              : kind == "word" ? 14
                              : kind == "byte" ? 256
                                               : 270));
      CHECK(end["held_out_loss"].number() > 0);
      CHECK(end["held_out_loss"].number() < std::log(symbols) + 0.5);
    }
}

TEST_CASE("fledge train -: the text from standard input, once and again") {
  const Desk desk;
  trained({"-", "-o", desk / "piped"}, small_text());
  trained({desk.poems(), "-o", desk / "named"});
  CHECK(files_in(desk / "piped").at("state.safetensors") ==
        files_in(desk / "named").at("state.safetensors"));
  trained({"--resume", desk / "piped", "--steps", "25"}, small_text());
  CHECK(lines_of(text_of(desk / "piped/metrics.csv")).size() == 26);
  const Result changed =
      run(with_program({"train", "--resume", desk / "piped", "--steps", "30"}), {}, "another");
  CHECK(changed.status == 3);
}

TEST_CASE("fledge train --watch: the pair, its control, and what chance gives") {
  const Desk desk;
  const Words line{desk.poems(), "--tokens", "word", "--watch", "birds:small,walk:birds"};
  const Result result = trained(line + Words{"--json"});
  CHECK(has(result.err, "  step 1: birds gives small "));
  CHECK(has(result.err, "  step 20: birds -> small "));
  CHECK(has(result.err, "  step 20: walk -> birds "));
  std::size_t watched = 0;
  for (const StrictJson& row : json_lines(result.out)) {
    if (row["type"].string() != "watch") continue;
    ++watched;
    CHECK(row["attention"].number() > 0);
    CHECK(row["attention"].number() < 1);
    CHECK(row["control"].string() != row["looks_at"].string());
  }
  CHECK(watched == 4);  // two pairs, at the first step and at the last
}

TEST_CASE("fledge train --accumulate: two passes of one window are near one pass of two") {
  const Desk desk;
  const StrictJson one = end_of({desk.poems()});
  const Words halves =
      Words{"train", desk.poems(), "--accumulate", "2", "--json", "-q", "--no-save"} + tiny;
  Words line = halves;
  *(std::find(line.begin(), line.end(), "--batch") + 1) = "1";
  const Result split = fledge_says(line);
  CHECK(split.status == 0);
  const StrictJson two = json_lines(split.out).back();
  CHECK(two["held_out_loss"].number() == Approx(one["held_out_loss"].number()).margin(0.1));
  CHECK(two["held_out_loss"].number() != one["held_out_loss"].number());
}

TEST_CASE("fledge train --patience: stops when the held-out text gets no better") {
  const Desk desk;
  const Words line{"train",        desk.poems(), "-o",      desk / "run", "--patience", "2",
                   "--eval-every", "1",          "--lr",    "3",          "--warmup",   "0",
                   "--layers",     "1",          "--width", "16",         "--heads",    "1",
                   "--context",    "16",         "--steps", "200"};
  const Result result = fledge_says(line + Words{"--json"});
  CHECK(result.status == 0);
  const StrictJson end = json_lines(result.out).back();
  CHECK(end["status"].string() == "ok");
  const double step = end["step"].number();
  CHECK(step >= 3);
  CHECK(step < 200);
  CHECK(has(result.err,
            "The held-out loss was not lower in the last 2 evaluations: the run ends at "));
  CHECK(end["best_held_out_loss"].number() < end["held_out_loss"].number());
  const auto before = files_in(desk / "run");
  const Result over = fledge_says({"train", "--resume", desk / "run"});
  CHECK(over.status == 0);
  CHECK(has(over.err, "fledge train: the run in '" + (desk / "run") + "' is over after "));
  CHECK(files_in(desk / "run") == before);
}

TEST_CASE("fledge train: the loss stands beside guessing and counting") {
  const Desk desk;
  const Result result = trained({desk.poems(), "--tokens", "word"});
  const Words lines = lines_of(result.err);
  const auto found = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("Held-out loss ");
  });
  REQUIRE(lines.end() - found > 6);
  CHECK(has(*found, " nats per word ("));
  CHECK(has(*found, " bits per byte): like choosing"));
  CHECK_THAT(found[2], StartsWith("  guessing blindly               "));
  const Words histories{"no history", "1 word of history", "2 words of history",
                        "3 words of history"};
  for (std::size_t n = 0; n < histories.size(); ++n) {
    const std::string& line = found[3 + static_cast<std::ptrdiff_t>(n)];
    CHECK_THAT(line, StartsWith("  counting table, " + histories[n] + " "));
    CHECK_THAT(line, EndsWith("beaten"));
  }
}
