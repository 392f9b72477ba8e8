// How a run begins: its text, model and folder, and who observes its events.
#include <algorithm>
#include <cstdio>

#include "examples/fledge/step_cost.h"
#include "examples/fledge/train/run.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/trained_model.h"
#include "examples/support/text.h"
#include "nn/io/checksum.h"

namespace fledge::train {

using support::formatted, support::InputError, support::printable, support::shell_word,
    support::with_advice;

void require_memory(const TrainConfig& config) {
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const LanguageModelSizes& s = config.sizes;
  const double bytes = 4 * numbers_of_step(number(s.layers), number(s.width), number(s.context),
                                           number(config.training.batch), number(s.vocabulary));
  if (bytes <= machine_memory()) return;
  throw support::CommandError(
      support::Exit::failed,
      formatted("a step needs about %.0f MB of memory, this machine has %.0f MB", bytes / 1e6,
                machine_memory() / 1e6),
      "use smaller --width, --layers, --context or --batch");
}

namespace {

// The sizes of the model of --from. --context may shorten its context, --dropout may differ.
void take_sizes(TrainConfig& config, const LanguageModelSizes& from) {
  LanguageModelSizes sizes = from;
  if (config.given.contains("--context")) sizes.context = config.sizes.context;
  if (sizes.context > from.context)
    throw InputError("--context " + std::to_string(sizes.context) +
                         " is longer than that of the model of --from, " +
                         std::to_string(from.context),
                     "use --context " + std::to_string(from.context) + " or less");
  sizes.dropout = config.sizes.dropout;
  sizes.recipe.tie_qk = config.sizes.recipe.tie_qk;
  sizes.recipe.learned = config.sizes.recipe.learned;
  config.sizes = sizes;
  for (const char* known : {"--layers", "--heads", "--width", "--context"})
    config.given.insert(known);
}

// Copies the weights; of the position table the first `context` rows.
void take_weights(const LanguageModel& model, const LanguageModel& from) {
  const auto to = parameters(model), all = parameters(from);
  for (std::size_t p = 0; p < to.size(); ++p)
    std::copy_n(all[p].value().data(), to[p].size(), to[p].write());
  set_held_values(model);
}

// Makes the folder. One that is named after the text has another number if a run that begins at the
// same time has taken its name.
void begin_folder(Run& run, const std::string& own_name) {
  while (!run.store.begin(!own_name.empty() && !run.config.force)) {
    run.screen->say("Another run has begun in " + printable(run.config.out) + ".");
    run.config.out = free_name(own_name);
    require_page_place(run.config);
  }
}

// The first changes of files. begin_folder() may refuse, before it changes anything: a folder that is
// taken or not empty, or one that is in the way of the page.
void open_folder(Run& run, const std::string& own_name) {
  const TrainConfig& config = run.config;
  if (run.store.has_folder()) {
    if (run.store.go_on())
      run.screen->problem(support::quoted(config.folder() + "/" + log_file) +
                          " lacks events of the run, and goes on without them");
    run.screen->resume(run.store.kept_events());
  } else if (!config.folder().empty()) {
    begin_folder(run, own_name);
  }
  const std::string where = printable(config.folder());
  run.screen->say(config.resumes() ? "The run in " + where + " is continued."
                  : !where.empty() ? "This run is saved in " + where + "."
                  : config.save    ? "Nothing is saved: add -o DIR."
                                   : "Nothing is saved (--no-save).");
}

void begin_page(Run& run) {
  const std::string& events = run.store.kept_events();
  if (run.config.page.empty() && !has_snapshots(events)) return;
  with_advice(
      "restore the file, or begin a new run in another folder with -o",
      [&] {
        run.page = std::make_unique<PageRecorder>(run.config, run.corpus, run.model, run.pairs,
                                                  run.sentences, events);
        // The page of the run until here, so that a damaged event is found before the training.
        if (!run.config.page.empty() && !events.empty())
          run.page->data(run.store.step(), run.store.kept_step(), events);
      },
      support::quoted(run.config.folder() + "/" + log_file));
}

// The line of an event, for the log and --json. A run that is resumed has its "start" already.
void write_line(Run& run, const Event& event) {
  const auto& [logged, printed] = line_of(event);
  if (logged.empty()) return;
  if (!std::holds_alternative<Started>(event) || run.store.kept_events().empty())
    run.store.append_event(logged);
  if (!run.config.json) return;
  std::printf("%s\n", printed.c_str());
  std::fflush(stdout);
}

void write_page_at_end(Run& run, const Event& event) {
  const auto* end = std::get_if<Ended>(&event);
  if (!end) return;
  if (end->status == "diverged") return run.screen->say("No page was written: the run diverged.");
  run.store.sync_events();
  const std::int64_t kept = end->status == "ok" ? run.store.kept_step() : run.store.step();
  run.screen->say(run.page->write(run.store.step(), kept, run.store.events()));
}

}  // namespace

Run::Run(TrainConfig of_call, const RunConfig& settings, Corpus text, LanguageModel made,
         std::optional<ResumedRun> resumed, std::unique_ptr<Screen> shown)
    : config(std::move(of_call)),
      screen(std::move(shown)),
      corpus(std::move(text)),
      model(std::move(made)),
      trainer(model, corpus.train, config.training),
      store(config, settings, corpus, trainer, std::move(resumed)) {}

Corpus new_corpus(TrainConfig& config, const std::string& text, const Tokenizer* tokenizer,
                  std::string& chosen) {
  Corpus corpus = usable_corpus(text, config, tokenizer);
  if (!tokenizer) config.sizes.vocabulary = corpus.tokenizer.size();
  if (!config.texts.empty()) chosen = choose_for_text(config, corpus);
  require_window(corpus, config);
  return corpus;
}

std::unique_ptr<Run> set_up(TrainConfig config) {
  auto screen = std::make_unique<Screen>(config.quiet, config.no_progress);
  const std::string own_name = config.names_folder() ? run_name(config.texts[0]) : "";
  std::vector<std::string> named = config.texts;
  config.texts = text_files(named);
  std::optional<ResumedRun> resumed;
  std::optional<RunConfig> settings;
  if (config.resumes()) {
    resumed = resume_run(config.folder());
    settings = resumed->saved.config;
    config = resumed_config(settings->settings, config);
    if (named.empty())
      config.texts = found_texts(
          *settings, config.folder(),
          ", or say where it is: fledge train --resume " + shell_word(config.folder()) + " FILE");
  }
  config.named = std::move(named);
  if (!own_name.empty()) config.out = config.force ? own_name : free_name(own_name);
  std::optional<TrainedModel> base;
  if (!settings && !config.from.empty()) {
    base = with_advice(
        "--from names the folder of a model: of fledge train, or of Hugging Face's libraries",
        [&] { return load_trained(config.from); });
    take_sizes(config, base->model.sizes);
    config.corpus.tokens = base->tokenizer().kind();
  }
  screen->say("Reading " + names_of_files(config.texts) + ".");
  const FileText read = read_text(config);
  const std::string& text = read.text;
  if (const std::string left_out =
          read.report(settings ? ", as before" : " (--keep-cr keeps them)");
      !left_out.empty())
    screen->say(left_out);
  std::string chosen;
  if (settings) require_same_text(*settings, text, name_of_files(config.texts));
  Corpus corpus = settings ? usable_corpus(text, config, &settings->tokenizer)
                           : new_corpus(config, text, base ? &base->tokenizer() : nullptr, chosen);
  if (!settings) settings = RunConfig{config, corpus.tokenizer, text.size(), hash_of(text)};
  std::vector<WordPair> pairs = pairs_to_watch(config, corpus.tokenizer);
  std::vector<Probe> sentences = sentences_to_probe(config, corpus.tokenizer);
  require_memory(config);
  Rng weights(config.training.seed);
  LanguageModel model(config.sizes, weights);
  if (base) take_weights(model, base->model);
  base.reset();
  auto run = std::make_unique<Run>(std::move(config), *settings, std::move(corpus),
                                   std::move(model), std::move(resumed), std::move(screen));
  run->chosen = std::move(chosen);
  run->pairs = std::move(pairs);
  run->sentences = std::move(sentences);
  begin_page(*run);
  open_folder(*run, own_name);
  run->observers = {[&run = *run](const Event& event) { run.screen->on_event(event); },
                    [&run = *run](const Event& event) { write_line(run, event); }};
  if (!run->config.page.empty())
    run->observers.emplace_back(
        [&run = *run](const Event& event) { write_page_at_end(run, event); });
  return run;
}

}  // namespace fledge::train
