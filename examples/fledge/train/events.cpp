#include "examples/fledge/train/events.h"

#include <algorithm>

#include "examples/fledge/train/source.h"

namespace fledge::train {

namespace {

using Members = Json::Members;

constexpr const char* table_names[] = {"unigram", "bigram",    "trigram",   "fourgram", "fivegram",
                                       "sixgram", "sevengram", "eightgram", "ninegram"};

Json as_json(const Baselines& baselines) {
  Members members{{"uniform", baselines.uniform}};
  for (std::size_t n = 0; n < baselines.counting.size(); ++n)
    members.emplace_back(table_names[n], baselines.counting[n]);
  return Json::object(members);
}

// Losses of a float model, with the digits that give the same float.
float as_float(double number) { return static_cast<float>(number); }

Members members_of(const Started& e) {
  const LanguageModelSizes& sizes = e.config.sizes;
  const TrainerOptions& training = e.config.training;
  return {{"type", "start"},
          {"version", 2},
          {"bytes", e.corpus.facts.bytes},
          {"token", to_string(e.corpus.tokenizer.kind())},
          {"lines", e.config.corpus.reading == Reading::lines},
          {"tokens", e.corpus.train.size()},
          {"held_out", e.corpus.valid.size()},
          {"vocabulary", sizes.vocabulary},
          {"layers", sizes.layers},
          {"heads", sizes.heads},
          {"width", sizes.width},
          {"context", sizes.context},
          {"parameters", count_parameters(e.model)},
          {"steps", training.schedule.steps},
          {"batch", training.batch},
          {"lr", training.schedule.rate},
          {"seed", training.seed},
          {"step", e.step},
          {"baselines", as_json(e.baselines)}};
}
Members members_of(const Stepped& e) {
  Members members{{"type", "step"}, {"step", e.step.number}, {"loss", as_float(e.step.loss)}};
  if (e.held_out) members.emplace_back("held_out_loss", as_float(*e.held_out));
  members.emplace_back("lr", as_float(e.step.rate));
  members.emplace_back("grad_norm", as_float(e.step.gradient_norm));
  return members;
}
Members members_of(const Evaluated& e) {
  return {{"type", "eval"},
          {"step", e.step},
          {"held_out_loss", as_float(e.held_out)},
          {"train_loss", as_float(e.training)}};
}
Members members_of(const Best& e) {
  return {{"type", "best"}, {"step", e.step}, {"held_out_loss", as_float(e.held_out)}};
}
Members members_of(const Overfitting& e) {
  return {{"type", "overfitting"}, {"step", e.step}, {"since", e.since}};
}
Members members_of(const PairMeasurement& e) {
  return {{"type", "watch"},
          {"step", e.step},
          {"word", e.words.word},
          {"looks_at", e.words.looks_at},
          {"positions", e.pair.pairs},
          {"attention", e.pair.attention},
          {"chance", e.pair.chance},
          {"association", e.pair.association},
          {"cosine", e.pair.similarity},
          {"control", e.control},
          {"control_attention", e.control_pair.attention}};
}
Members members_of(const Sampled& e) {
  Members members{{"type", "sample"}, {"step", e.step}};
  if (e.is_final) members.emplace_back("is_final", true);
  members.emplace_back("text", e.text);
  return members;
}
Members members_of(const Snapshot& e) { return e.members; }
Members members_of(const Ended& e) {
  return {{"type", "end"},
          {"status", e.status},
          {"step", e.step},
          {"train_loss", e.training},
          {"held_out_loss", e.held_out},
          {"best_held_out_loss", e.best_held_out},
          {"bits_per_byte", e.bits_per_byte},
          {"model_step", e.model_step},
          {"baselines", as_json(e.baselines)}};
}

void add_event(RunCurves& run, const JsonValue& event) {
  const std::string type = event["type"].string();
  if (type == "start") {
    const JsonValue tables = event["baselines"];
    run.token = event["token"].string();
    run.guessing = tables["uniform"].number();
    run.counting.clear();
    tables.each_member([&](const std::string& name, const JsonValue& loss) {
      if (name != "uniform") run.counting.push_back(loss.number());
    });
  } else if (type == "overfitting") {
    run.overfits_since = event["since"].number();
  } else if (type == "step" || type == "eval") {
    if (type == "step") {
      std::vector<std::optional<double>>& row = run.steps.emplace_back();
      for (const char* name : {"step", "loss", "held_out_loss", "lr", "grad_norm"})
        row.push_back(event.find(name).is_null() ? std::nullopt
                                                 : std::optional(event[name].number()));
    }
    const char* const key = type == "step" ? "loss" : "held_out_loss";
    if (event[key].is_null()) return;  // a loss that is not finite
    (type == "step" ? run.training : run.held_out)
        .emplace_back(event["step"].number(), event[key].number());
  }
}

}  // namespace

EventLine line_of(const Event& event) {
  Members members = std::visit([](const auto& e) { return members_of(e); }, event);
  if (members.empty()) return {};
  const std::string logged = Json::object(members).text();
  if (const auto* start = std::get_if<Started>(&event)) {
    members.emplace_back("texts", names_without_folders(start->config.texts));
    members.emplace_back("folder", start->config.folder());
  } else if (const auto* end = std::get_if<Ended>(&event)) {
    members.emplace_back("seconds", end->seconds);
  } else {
    return {logged, logged};
  }
  return {logged, Json::object(members).text()};
}

std::optional<std::pair<double, double>> RunCurves::best() const {
  const Points& points = held_out.empty() ? training : held_out;
  if (points.empty()) return {};
  return *std::min_element(points.begin(), points.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
}

RunCurves curves_of_events(std::string_view lines) {
  RunCurves run;
  for (const std::string& line : event_lines(lines)) try {
      add_event(run, read_json(line));
    } catch (const FormatError&) {
      ++run.damaged_lines;
    }
  return run;
}

support::LinePlot plot_of(const RunCurves& run) {
  support::LinePlot plot;
  plot.curves.push_back({"training loss", "·", ".", run.training});
  if (!run.held_out.empty())
    plot.curves.push_back({"held-out loss, best" + support::formatted(" %.4f", run.best()->second),
                           "●", "o", run.held_out});
  if (run.guessing) plot.levels.push_back({"guessing", *run.guessing});
  if (!run.counting.empty()) plot.levels.push_back({"best table", run.counting.back()});
  if (!run.held_out.empty()) plot.best = run.best()->first;
  // The run said that it overfits since the best step, and no better one came after it.
  plot.is_worse_after = plot.best && plot.best == run.overfits_since;
  plot.top = run.top();
  return plot;
}

std::vector<std::string> event_lines(std::string_view log) {
  std::vector<std::string> lines;
  for (std::size_t end = 0; (end = log.find('\n')) != std::string_view::npos;
       log.remove_prefix(end + 1))
    lines.emplace_back(log.substr(0, end));
  return lines;
}

}  // namespace fledge::train
