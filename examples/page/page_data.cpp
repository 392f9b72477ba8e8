#include "examples/page/page_data.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "examples/page/base64.h"
#include "examples/page/glossary.h"
#include "examples/page/map_axes.h"
#include "examples/page/shown_snapshot.h"
#include "examples/page/snapshot.h"
#include "examples/page/worked.h"
#include "examples/support/run_main.h"
#include "examples/support/text.h"

namespace fledge::page {

namespace {

constexpr Dim most_weights = 250'000;  // a megabyte of floats
constexpr std::size_t most_points = 600;
constexpr const char* no_weights =
    "To save space, the weights of the model are left out: the page cannot recompute its predictions.";

using Points = std::vector<std::vector<double>>;  // {step, number}

/// What the events of a run say.
struct Events {
  Points losses, held_out, gradients;
  std::map<std::string, double> baselines;
  std::optional<Plan> plan;
  std::map<std::int64_t, JsonValue> snapshots;
};

void read_event(const Run& run, const std::string& line, Events& found) {
  const JsonValue event = read_json(line);
  const std::string type = event["type"].string();
  const auto point = [&](const char* key) {
    return std::vector<double>{event["step"].number(), event[key].number()};
  };
  if (type == "start")
    event["baselines"].each_member([&](const std::string& name, const JsonValue& loss) {
      found.baselines[name] = loss.number();
    });
  if (type == "step") {
    found.losses.push_back(point("loss"));
    if (event.has("grad_norm")) found.gradients.push_back(point("grad_norm"));
  }
  if (type == "eval") found.held_out.push_back(point("held_out_loss"));
  if (type == "page")
    found.plan = read_plan(event, run.model->sizes.vocabulary, run.model->sizes.context);
  if (type == "snapshot") found.snapshots[event["step"].integer(0, std::int64_t{1} << 53)] = event;
}

Events read_events(const Run& run) {
  Events found;
  std::int64_t number = 0;
  for (const std::string& line : run.events) {
    ++number;
    if (line.empty()) continue;
    naming_event("line " + std::to_string(number), [&] { read_event(run, line, found); });
  }
  return found;
}

/// Every n-th point, and the last.
Points thinned(const Points& points) {
  const std::size_t every = (points.size() + most_points - 1) / most_points;
  Points kept;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (i % every == 0 || i + 1 == points.size()) kept.push_back(points[i]);
  return kept;
}

/// Numbers with four digits are enough for a curve.
Json curve(const Points& points) {
  std::vector<Json> pairs;
  for (const std::vector<double>& p : thinned(points))
    pairs.push_back(std::vector<double>{p[0], std::round(p[1] * 1e4) / 1e4});
  return pairs;
}

/// What a page shows in full, and how it is thinned step by step.
struct Level {
  Detail detail = {};
  bool has_weights = true;
  const char* notice = "";
};
constexpr Level levels[] = {
    {},
    {{.all_vectors = false},
     true,
     "To save space, only the first sentence has vectors at each step; the others have them at the end."},
    {{.even_steps = false, .all_vectors = false},
     true,
     "To save space, only the steps 0, 1, 2, 5, 10, 20, 50 and so on are shown."},
    {{.even_steps = false, .all_vectors = false, .first_vectors = false},
     true,
     "To save space, only the model that the run kept has vectors."},
    {{.even_steps = false, .all_vectors = false, .first_vectors = false}, false, no_weights},
    {{.even_steps = false, .all_vectors = false, .first_vectors = false, .sentences = 1},
     false,
     "To save space, only the first sentence is shown."},
    {{.kept_alone = true, .sentences = 1},
     false,
     "To save space, only the model that the run kept is shown."}};

Json model_json(const LanguageModel& model, const Tokenizer& tokenizer) {
  const LanguageModelSizes& sizes = model.sizes;
  const Recipe& recipe = sizes.recipe;
  return Json::object({{"layers", sizes.layers},
                       {"heads", sizes.heads},
                       {"width", sizes.width},
                       {"hidden", sizes.hidden > 0 ? sizes.hidden : 4 * sizes.width},
                       {"context", sizes.context},
                       {"vocabulary", sizes.vocabulary},
                       {"without_text", tokenizer.without_text(sizes.vocabulary)},
                       {"parameters", count_parameters(model)},
                       {"causal", recipe.mask == Masking::causal},
                       {"scaled", recipe.scale == Scale::root},
                       {"residual", recipe.residual == Residual::add},
                       {"norm", recipe.norm == Norm::layer},
                       {"attention", recipe.heads != Heads::none},
                       {"mlp", recipe.mlp != FeedForward::none},
                       {"without", words_of_none(recipe)},
                       {"epsilon", model.ln_f.eps}});
}

Json baselines_json(const Events& events, std::optional<double> floor) {
  Json::Members members;
  for (const char* name : {"uniform", "unigram", "bigram", "trigram", "fourgram"}) {
    const auto found = events.baselines.find(name);
    members.emplace_back(name, found == events.baselines.end() ? Json() : Json(found->second));
  }
  members.emplace_back("floor", floor);
  return Json::object(members);
}

Json glossary_json() {
  std::vector<Json> entries;
  for (const auto& [term, meaning] : glossary) entries.push_back(std::vector<Json>{term, meaning});
  return entries;
}

Json sources_json() {
  return Json::object({{"attention", "nn/layers/attention.cpp, attend"},
                       {"block", "nn/layers/block.h, Block"},
                       {"loss", "engine/ops/cross_entropy.cpp, cross_entropy"},
                       {"floor", "nn/inspect/ngram_losses.cpp, least_loss"},
                       {"gradient", "engine/ops/softmax.cpp, softmax"},
                       {"watch", "nn/inspect/probes.cpp, watch_pair"},
                       {"effect", "nn/inspect/ablation.cpp, ablate_tokens"},
                       {"map", "nn/inspect/word_vectors.cpp, token_map"},
                       {"continuation", "nn/generate/sampler.cpp, generate"},
                       {"snapshot", "examples/page/snapshot.cpp, snapshot_event"},
                       {"worked", "examples/page/worked.cpp, gradients_json"}});
}

}  // namespace

void require_vocabulary(Dim size) {
  constexpr Dim most = 65'535;
  if (size > most)
    throw support::InputError("a page shows at most " + support::thousands(most) +
                                  " different tokens: this text has " + support::thousands(size),
                              "train a new model with --tokens bpe or --tokens char");
}

std::string run_in_words(const LanguageModel& model, std::int64_t steps) {
  return "A model of " + support::thousands(count_parameters(model)) + " numbers took " +
         support::thousands(steps) + " small steps.";
}

Thinned run_data(const Run& run, std::size_t most_bytes) {
  const LanguageModel& model = *run.model;
  Events events = read_events(run);
  const Plan plan = events.plan.value_or(run.plan);
  if (!events.plan) events.snapshots.clear();
  std::vector<std::string> notices = run.notices;
  if (events.snapshots.empty())
    notices.emplace_back(
        "This run recorded no snapshots, so the page shows the model that it kept, alone. Train with "
        "--page to follow the learning.");
  else if (events.snapshots.begin()->first > 0)
    notices.push_back("Snapshots begin at step " +
                      support::thousands(events.snapshots.begin()->first) +
                      ": before it the run did not record them.");
  // The model that is kept has a full snapshot, from the very numbers of the folder. Its watched
  // pairs are those of the recorded event.
  const JsonValue recorded = events.snapshots[run.kept_step];
  const JsonValue kept = read_json(
      Json::object(snapshot_event(model, *run.tokenizer, plan, run.kept_step, true, run.text))
          .text());
  events.snapshots[run.kept_step] = kept;
  const JsonValue kept_watch = recorded.is_null() ? kept : recorded;

  std::vector<std::string> words, names;
  for (const std::string& symbol : run.tokenizer->symbols())
    words.push_back(support::cut(support::token_label(symbol, true), most_columns));
  for (const auto& [name, parameter] : named_parameters(model)) names.push_back(name);
  std::vector<Json> sentences, prompts, watch;
  for (const auto& [ids, next] : plan.sentences)
    sentences.push_back(Json::object({{"ids", ids}, {"next", next}}));
  for (const std::vector<Dim>& prompt : plan.prompts)
    prompts.emplace_back(shown_text(run.tokenizer->decode(prompt)));
  std::vector<Dim> watched;
  for (const Plan::Pair& pair : plan.watch) {
    watch.push_back(Json::object(
        {{"word", pair.word}, {"looks_at", pair.looks_at}, {"control", pair.control}}));
    watched.insert(watched.end(), {pair.word_token, pair.looks_at_token});
  }
  Axes axes;
  for (const auto& [step, event] : events.snapshots)
    if (event.has("map") && !plan.map.empty())
      axes = axes_of(floats_of_base64(event["map"].string()), static_cast<Dim>(plan.map.size()),
                     model.sizes.width);

  if (events.losses.size() > most_points)
    notices.push_back("The curves show " + support::thousands(most_points) + " of " +
                      support::thousands(static_cast<std::int64_t>(events.losses.size())) +
                      " steps.");
  const SnapshotSteps steps{run.steps};
  const bool has_room = numbers_of_worked(model) <= most_weights;
  if (!has_room) notices.emplace_back(no_weights);
  const auto data = [&](const Detail& detail, bool has_weights) {
    std::vector<Json> snapshots;
    for (const auto& snapshot : events.snapshots) {  // Clang 14 captures no structured binding
      const std::int64_t step = snapshot.first;
      if (step == run.kept_step ||
          (!detail.kept_alone && (detail.even_steps || steps.is_full(step))))
        snapshots.push_back(naming_event("the snapshot of step " + std::to_string(step), [&] {
          return shown_snapshot(snapshot.second, {&model, &plan, &axes}, detail,
                                step == run.kept_step ? &kept_watch : nullptr);
        }));
    }
    Plan shown = plan;
    shown.sentences.resize(std::min(shown.sentences.size(), detail.sentences));
    const std::vector<Json> first(
        sentences.begin(), sentences.begin() + static_cast<std::ptrdiff_t>(shown.sentences.size()));
    return Json::object(
        {{"title", run.title},
         {"version", support::version_of("fledge")},
         {"command", run.command},
         {"in_words", run.sentence + (snapshots.size() > 1
                                          ? " Move the slider to see how it learned where to look."
                                          : "")},
         {"model", model_json(model, *run.tokenizer)},
         {"seed", run.seed},
         {"steps", run.steps},
         {"notices", notices},
         {"baselines", baselines_json(events, run.floor)},
         {"losses", Json::object({{"train", curve(events.losses)},
                                  {"held_out", curve(events.held_out)},
                                  {"gradient", curve(events.gradients)}})},
         {"words", words},
         {"sentences", first},
         {"prompts", prompts},
         {"watch", watch},
         {"tensors", names},
         {"map", Json::object({{"ids", plan.map}, {"share", axes.share}, {"watched", watched}})},
         {"snapshots", snapshots},
         {"worked", worked_json(model, shown, run.kept_step, has_room && has_weights)},
         {"glossary", glossary_json()},
         {"sources", sources_json()}});
  };
  Json best;
  for (const Level& level : levels) {
    if (!has_room && level.notice == no_weights) continue;
    if (*level.notice != 0) notices.emplace_back(level.notice);
    Json next = data(level.detail, level.has_weights);
    if (*level.notice != 0 && next.text().size() >= best.text().size()) {
      notices.pop_back();  // there was nothing to leave out
      continue;
    }
    best = std::move(next);
    if (best.text().size() <= most_bytes) break;
  }
  return {best, notices};
}

}  // namespace fledge::page
