// A run that is stopped by a signal, or killed, and resumed ends with the same bytes as a run that
// never stopped. FLEDGE_KILLS=200 (make kills) sets the number of kills.
#include <sys/stat.h>

#include <cstdlib>
#include <thread>

#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

void wait_milliseconds(int time) { std::this_thread::sleep_for(std::chrono::milliseconds(time)); }

/// A desk with the folder "whole" of a run that was not disturbed.
struct Stopped : Desk {
  Words line;  // of the run, without a folder

  /// By default the paced run, with evaluations, dropout and what is watched.
  explicit Stopped(const Words& how = {}, const Words& sizes = paced, int lines = 60,
                   const std::string& every = "4")
      : line(
            Words{"train", poems()} +
            words("--dropout 0.1 --watch b:i --eval-every " + every + " --threads 1 --patience 0") +
            sizes + how) {
    write_file(poems(), small_text(lines));
    done(begun("whole"));
  }
  Words begun(const std::string& folder) const { return line + Words{"-o", *this / folder}; }
  Words resumed(const std::string& folder, const std::string& threads = "2") const {
    return {"train", "--resume", *this / folder, "--threads", threads, "--watch", "b:i"};
  }
  /// The run goes on to its end, in which it has the same files as the folder "whole".
  void check_goes_on(const std::string& folder) const {
    done(resumed(folder, "3"));
    // In brackets: a failure does not print the bytes.
    CHECK((files_in(*this / folder) == files_in(*this / "whole")));
  }
};

}  // namespace

TEST_CASE("interrupts: any signal, after any step and in every variant, saves and says so") {
  struct Stop {
    int signal;
    std::string after;
    Words how;
  };
  for (const Stop& stop : std::vector<Stop>{
           {SIGINT, "\"start\"", {}},
           {SIGTERM, "\"step\":1,", {}},
           {SIGHUP, "\"step\":60,", {}},
           {SIGINT, "\"step\":75,", {}},
           {SIGINT, "\"step\":7,", {"--with", "tied-qk", "--freeze", "v", "--valid", "0"}},
           {SIGINT, "\"step\":7,", {"--without", "positions,value,mask"}}}) {
    CAPTURE(stop.signal, stop.after, stop.how);
    if (sanitized && stop.signal != SIGTERM && stop.how.empty()) continue;
    const Stopped desk(stop.how);
    const std::string errors = desk / "err", folder = desk / "stopped";
    Running run(desk.begun("stopped"), errors);
    REQUIRE(run.says(stop.after));
    run.signal(stop.signal);
    CHECK(run.says("{\"type\":\"end\",\"status\":\"interrupted\",\"step\":"));
    CHECK(run.end() == 128 + stop.signal);
    const std::string said = text_of(errors);
    CHECK_THAT(said, ContainsSubstring("\nStopping after step "));
    CHECK_THAT(said, ContainsSubstring("(Ctrl-C again to quit at once).\nSaved in " + folder));
    CHECK_THAT(said, EndsWith(". Continue with:\n  fledge train --resume " + folder + "\n"));
    done({"generate", folder, "b", "--seed", "1"});
    desk.check_goes_on("stopped");
  }
}

TEST_CASE("interrupts: a second one, a stop by the shell, a pipe without a reader, more steps") {
  const Stopped desk({}, paced, 60, "1");
  for (const bool is_hangup : {false, true}) {  // a hangup that comes twice is one
    const std::string folder = is_hangup ? "hung up" : "twice";
    Running run(desk.begun(folder));
    REQUIRE(run.says("\"step\":1,"));
    run.signal(is_hangup ? SIGHUP : SIGINT);
    // Two equal signals at once may arrive as one; of two others the run may end after the first.
    if (is_hangup) wait_milliseconds(10);
    const int status = run.end(is_hangup ? SIGHUP : SIGTERM);
    CHECK((is_hangup ? status == 129 : status == 130 || status == 143));
    desk.check_goes_on(folder);
  }
  {
    Running run(desk.begun("suspended"));
    REQUIRE(run.says("\"step\":2,"));
    run.signal(SIGTSTP);
    wait_milliseconds(100);
    CHECK(run.end(SIGCONT) == 0);
    CHECK((files_in(desk / "suspended") == files_in(desk / "whole")));
  }
  {
    const std::string pipe = desk / "errors";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    REQUIRE(reader >= 0);
    Running run(desk.begun("unread") + Words{"-q"}, pipe);  // only what it says at the end
    REQUIRE(run.says("\"step\":2,"));
    close(reader);
    CHECK(run.end(SIGHUP) == 129);
    desk.check_goes_on("unread");
  }
  fs::copy(desk / "whole", desk / "further");
  const Words further = words("--steps 300 --lr 0.002 --json");
  done(desk.resumed("whole") + further);
  Running run(desk.resumed("further") + further);
  REQUIRE(run.says("\"step\":160,"));
  CHECK(run.end(SIGINT) == 130);
  desk.check_goes_on("further");
}

TEST_CASE("interrupts: between the best evaluation and the message that the model overfits") {
  const Desk desk;
  write_file(desk.poems(), small_text(25));
  const Words line =
      Words{"train", desk.poems()} +
      words(
          "--patience 0 --dropout 0 --eval-every 20 --tokens word --layers 1 --width 32 --heads 1 "
          "--context 16 --batch 8 --steps 300 --lr 0.02 --json");
  const Result whole = done(line + Words{"-o", desk / "whole"});
  const std::string found = "\"since\":";
  const std::size_t at = whole.out.find(found, whole.out.find("{\"type\":\"overfitting\""));
  REQUIRE(at != whole.out.npos);
  const std::string since = std::to_string(std::atoi(whole.out.c_str() + at + found.size()));
  Running run(line + Words{"-o", desk / "stopped"});
  REQUIRE(run.says("{\"type\":\"best\",\"step\":" + since));
  run.end(SIGTERM);
  done({"train", "--resume", desk / "stopped"});
  CHECK((files_in(desk / "stopped") == files_in(desk / "whole")));
}

TEST_CASE("interrupts: Ctrl-C breaks off what is in hand, within a second of work") {
  const Desk desk;
  write_file(desk / "long.txt", small_text(6000));
  const Words line =
      Words{"train", desk / "long.txt", "-o", desk / "run"} +
      words("--layers 4 --heads 4 --width 64 --context 64 --steps 2 --valid 0.6 --json");
  // A step that takes seconds, and a last evaluation that takes longer still.
  const char* many = sanitized ? "96" : "480";
  for (const char* batch : {many, "12"}) {
    CAPTURE(batch);
    const bool in_step = batch == many;
    const std::string errors = desk / "err";
    Running run(line + Words{"--batch", batch, "--force"}, errors);
    REQUIRE(run.says("\"type\":\"start\""));
    const double begin = run.processor_seconds();
    REQUIRE(run.says(in_step ? "\"step\":1," : "\"step\":2,"));
    const double step = run.processor_seconds() - begin;
    CHECK(run.end(SIGINT) == 130);
    const double took = run.processor_seconds() - begin - step;
    INFO("step " << step << " s, afterwards " << took << " s");
    if (!sanitized) CHECK(took < 1);
    if (in_step) CHECK(took < 0.7 * step);
    const std::string said = text_of(errors);
    CHECK_THAT(
        said, ContainsSubstring(in_step ? "\nStopping after step 1 (Ctrl-C" : "\nStopping after "));
    CHECK_THAT(said, !ContainsSubstring("Done:"));
    done({"generate", desk / "run", "--tokens-out", "2"});
  }
}

TEST_CASE("interrupts: until the first step Ctrl-C ends the run at once") {
  const Desk desk;
  std::mt19937 draw(7);
  std::string noise;
  for (int i = 0; i < 3'000'000; ++i) noise += static_cast<char>(draw() % 256);
  write_file(desk / "noise", noise);
  // The tables of so many different bytes take seconds.
  Running run({"train", desk / "noise", "--tokens", "byte", "-o", desk / "run"}, desk / "err");
  while (text_of(desk / "err").find("parameters.") == std::string::npos) wait_milliseconds(5);
  const double begin = run.processor_seconds();
  CHECK(run.end(SIGINT) == 130);
  CHECK(run.processor_seconds() - begin < 0.5);
}

TEST_CASE("interrupts: Ctrl-C at any moment, and what goes on ends in the same bytes") {
  const Stopped desk(
      {"--valid", "0.4"},
      words("--layers 2 --heads 2 --width 32 --batch 4 --context 32 --steps 12 --json"), 1500);
  Running whole(desk.begun("again"));
  CHECK(whole.end() == 0);
  const double all = whole.processor_seconds();
  std::mt19937 draw(11);
  int stopped = 0, status = -1;
  const int parts = sanitized ? 5 : 12;
  for (int part = 0; status != 0 && part < 200; ++part) {
    const bool begins = !fs::exists(desk / "parts/run.safetensors");
    Running run(begins ? desk.begun("parts") + Words{"--force"}
                       : desk.resumed("parts") + Words{"--json"});
    const double wait = all * static_cast<double>(draw()) / 4294967296.0;
    double now = -1;  // until it has worked so long, or works no more
    while (part < parts && run.processor_seconds() < wait && run.processor_seconds() > now) {
      now = run.processor_seconds();
      wait_milliseconds(20);
    }
    status = run.end(part < parts ? SIGINT : 0);
    stopped += status != 0;
    REQUIRE((status == 0 || status == 130));
  }
  CHECK(stopped >= parts / 4);
  CHECK((files_in(desk / "parts") == files_in(desk / "whole")));
}

TEST_CASE("interrupts: killed again and again, without a step lost or taken twice", "[kills]") {
  const char* wish = std::getenv("FLEDGE_KILLS");
  const int kills = wish ? std::atoi(wish) : 12;
  const Stopped desk({"--steps", std::to_string(20 + 10 * kills), "--optimizer", "muon"},
                     words(tiny_model), 60, "1");
  std::mt19937 draw(static_cast<unsigned>(kills));
  int killed = 0, too_early = 0;
  const auto has_begun = [&] { return fs::exists(desk / "killed/run.safetensors"); };
  for (int tries = 0; killed < kills; ++tries) {
    REQUIRE(tries < 20 * kills);
    Running run(has_begun() ? desk.resumed("killed") : desk.begun("killed"));
    // On a slow machine 60 ms may be too short for a run to begin, so later tries take longer.
    const auto most = static_cast<unsigned>(60000 * (1 + too_early / 2));
    std::this_thread::sleep_for(std::chrono::microseconds(draw() % most));
    const bool was_killed = run.end(SIGKILL) == 128 + SIGKILL;
    killed += was_killed && has_begun();
    too_early = has_begun() ? 0 : too_early + 1;
    if (has_begun())  // whenever it is there it loads
      done({"generate", desk / "killed", "--tokens-out", "0"});
  }
  desk.check_goes_on("killed");
}
