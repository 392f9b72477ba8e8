// metrics.jsonl: every event of a run, a JSON object a line, the same with and without --json.
#include <algorithm>

#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

std::vector<StrictJson> events_in(const std::string& folder) {
  return json_lines(text_of(folder + "/metrics.jsonl"));
}

Words types_of(const std::vector<StrictJson>& events) {
  Words types;
  for (const StrictJson& event : events) types.push_back(event["type"].string());
  return types;
}

std::ptrdiff_t number_of(const std::vector<StrictJson>& events, const std::string& type) {
  const Words types = types_of(events);
  return std::count(types.begin(), types.end(), type);
}

/// The line without the members that only --json prints.
std::string as_kept(const std::string& line) {
  for (const char* printed : {",\"texts\":[", ",\"seconds\":"})
    if (const std::size_t at = line.find(printed); at != line.npos) return line.substr(0, at) + "}";
  return line;
}

Words run_of_events(const Desk& desk, const std::string& folder) {
  return {desk.poems(), "-o",  desk / folder, "--eval-every", "5",
          "--watch",    "b:i", "--probe",     "lake"};
}

}  // namespace

TEST_CASE("events: metrics.jsonl has what --json prints, also without --json and with --quiet") {
  const Desk desk;
  const Result printed = trained(run_of_events(desk, "printed") + Words{"--json"});
  const StrictJson start = json_lines(printed.out).front();
  CHECK(start["texts"].array().at(0).string() == "poems.txt");
  CHECK(start["folder"].string() == desk / "printed");
  std::string kept;
  for (const std::string& line : lines_of(printed.out)) kept += as_kept(line) + "\n";
  CHECK(text_of(desk / "printed/metrics.jsonl") == kept);
  trained(run_of_events(desk, "plain"));
  CHECK(text_of(desk / "plain/metrics.jsonl") == kept);
  trained(run_of_events(desk, "quiet") + Words{"-q"});
  CHECK(text_of(desk / "quiet/metrics.jsonl") == kept);
}

TEST_CASE("events: a start, steps, evaluations, samples, what was watched, and the end") {
  const Desk desk;
  trained(run_of_events(desk, "run"));
  const std::vector<StrictJson> events = events_in(desk / "run");
  const Words types = types_of(events);
  CHECK(types.front() == "start");
  CHECK(types.back() == "end");
  CHECK(number_of(events, "start") == 1);
  CHECK(number_of(events, "step") == 20);
  CHECK(number_of(events, "eval") == 4);
  CHECK(number_of(events, "best") >= 1);
  CHECK(number_of(events, "watch") == 5);
  CHECK(number_of(events, "sample") == 9 + 3);
  CHECK(number_of(events, "probe") == 1);

  const StrictJson& start = events.front();
  CHECK(start["bytes"].number() == static_cast<double>(small_text().size()));
  CHECK(start["token"].string() == "character");
  CHECK(start["vocabulary"].number() == 22);
  CHECK(start["width"].number() == 16);
  CHECK(start["steps"].number() == 20);
  CHECK(start["baselines"]["uniform"].number() > 3);
  double best = 100;
  for (const StrictJson& event : events) {
    if (event["type"].string() == "eval") best = std::min(best, event["held_out_loss"].number());
    if (event["type"].string() == "best") CHECK(event["held_out_loss"].number() == best);
  }
  CHECK(best < 100);
}

TEST_CASE("events: a run that was stopped and continued has each event once") {
  const Desk desk;
  trained(run_of_events(desk, "whole"));
  Running run(Words{"train"} + run_of_events(desk, "stopped") + tiny +
              Words{"--json", "--pace", "20"});
  REQUIRE(run.says("\"step\":12,"));
  run.signal(SIGTERM);
  CHECK(WIFSIGNALED(run.end()));
  const std::vector<StrictJson> stopped = events_in(desk / "stopped");
  CHECK(stopped.back()["type"].string() == "end");
  CHECK(stopped.back()["status"].string() == "interrupted");
  trained({"--resume", desk / "stopped", "--watch", "b:i", "--probe", "lake"});
  CHECK(text_of(desk / "stopped/metrics.jsonl") == text_of(desk / "whole/metrics.jsonl"));
}

TEST_CASE("events: overfitting is found, said once, and found again after a stop") {
  const Desk desk;
  write_text(desk.poems(), small_text(25));
  const Words learns_by_heart{"train",     desk.poems(), "--tokens", "word", "--layers",     "1",
                              "--width",   "32",         "--heads",  "1",    "--patience",   "0",
                              "--context", "16",         "--batch",  "8",    "--dropout",    "0",
                              "--steps",   "300",        "--lr",     "0.02", "--eval-every", "20"};
  const Result result = fledge_says(learns_by_heart + Words{"-o", desk / "whole"});
  CHECK(result.status == 0);
  const std::vector<StrictJson> events = events_in(desk / "whole");
  REQUIRE(number_of(events, "overfitting") == 1);
  const auto found = std::find_if(events.begin(), events.end(), [](const StrictJson& event) {
    return event["type"].string() == "overfitting";
  });
  const int since = static_cast<int>((*found)["since"].number());
  CHECK((*found)["step"].number() >= since + 60);
  CHECK(events.back()["model_step"].number() == since);
  CHECK_THAT(result.err, ContainsSubstring("\nOverfitting since step " + std::to_string(since) +
                                           ": the training loss falls, the held-out loss rises."));
  // Stopped between the best evaluation and the message.
  Running run(learns_by_heart + Words{"-o", desk / "stopped", "--json"});
  REQUIRE(run.says("{\"type\":\"best\",\"step\":" + std::to_string(since)));
  run.signal(SIGTERM);
  run.end();
  trained({"--resume", desk / "stopped"});
  CHECK(text_of(desk / "stopped/metrics.jsonl") == text_of(desk / "whole/metrics.jsonl"));
  // Without a held-out text, and while the training loss does not fall, nothing is claimed.
  trained({desk.poems(), "-o", desk / "short", "--eval-every", "1"});
  CHECK(number_of(events_in(desk / "short"), "overfitting") == 0);
}

TEST_CASE("events: a run that was killed during its final report reports again") {
  const Desk desk;
  trained(run_of_events(desk, "run"));
  const std::string whole = text_of(desk / "run/metrics.jsonl");
  const std::size_t report = whole.find("{\"type\":\"sample\",\"step\":20,");
  REQUIRE(report != whole.npos);
  write_text(desk / "run/metrics.jsonl", whole.substr(0, whole.find('\n', report) + 1));
  const Words again{"--resume", desk / "run", "--watch", "b:i", "--probe", "lake"};
  CHECK_THAT(trained(again).err, ContainsSubstring("Held-out loss"));
  CHECK(text_of(desk / "run/metrics.jsonl") == whole);
  // Now it has its end: nothing is reported or written again.
  CHECK_THAT(trained(again).err, !ContainsSubstring("Held-out loss"));
  CHECK(text_of(desk / "run/metrics.jsonl") == whole);
}
