#include <cstdio>
#include <filesystem>

#include "examples/fledge/commands.h"
#include "examples/fledge/train/page_recorder.h"
#include "examples/fledge/trained_model.h"
#include "examples/page/page_file.h"
#include "examples/support/options.h"
#include "examples/support/text.h"
#include "nn/generate/sampler.h"

namespace fledge {

namespace {

constexpr Dim most_tokens = 24;

/// For a run without a plan: excerpts of its text. Throws InputError if it is not to be had.
page::Plan plan_of_text(const TrainedModel& trained, const std::string& folder) {
  const std::vector<std::string>& texts = trained.run.settings.texts;
  if (!texts.empty() && texts[0] == "-")
    throw support::InputError("standard input cannot be read again", "");
  return page::default_plan(trained.corpus(folder), trained.model.sizes.context);
}

/// Where the text is not to be had: a sentence that the model draws.
page::Plan plan_of_sample(const TrainedModel& trained) {
  page::Plan plan;
  Decoder decoder(trained.model, trained.without_text());
  Rng rng(1);
  std::vector<Dim> ids{trained.first_token()};
  generate(decoder, ids, std::min(trained.model.sizes.context, most_tokens) - 1, {.temperature = 1},
           rng, [&](Dim token, const Array&) {
             if (!trained.ends_text(token)) ids.push_back(token);
             return !trained.ends_text(token);
           });
  plan.sentences.push_back({ids, {}});
  ids.resize((ids.size() + 1) / 2);
  plan.prompts.push_back(ids);
  if (trained.tokenizer().kind() != Tokens::word) plan.continued = 40;
  for (Dim token = 0; token < std::min<Dim>(trained.tokenizer().size(), 40); ++token)
    plan.map.push_back(token);
  return plan;
}

}  // namespace

int page_command(int argc, char** argv) {
  std::string out;
  support::Options options("fledge page", "One HTML page that shows how a model learned.");
  options.arguments("DIR", 1, 1);
  options.example("fledge page poems-run", "writes poems-run/page.html");
  options.example("fledge page poems-run -o poems.html", "the same in another file");
  options.add("-o, --out", "FILE", out, "the file of the page; without it page.html in the folder");
  options.exit_statuses("0 done, 1 failed, 2 wrong usage, 3 unusable input");
  options.parse(argc, argv);
  const std::string folder = options.arguments()[0];
  const TrainedModel trained =
      support::with_advice("a model's folder is made by: fledge train FILE -o DIR",
                           [&] { return load_trained(folder); });
  if (out.empty()) out = (std::filesystem::path(folder) / "page.html").string();
  support::require_place(out, page::page_kind);
  page::require_vocabulary(trained.tokenizer().size());

  page::Run run;
  run.title = std::filesystem::path(folder).lexically_normal().filename().string();
  if (run.title.empty()) run.title = folder;
  run.command = "fledge page " + support::shell_word(run.title);
  const Folder files(folder);
  const std::string events = files.has(train::run_file) ? train::saved_events(files) : "";
  run.events = train::event_lines(events);
  const train::TrainConfig& settings = trained.run.settings;
  run.seed = settings.training.seed;
  run.steps = settings.training.schedule.steps;
  run.model = &trained.model;
  run.tokenizer = &trained.tokenizer();
  if (!train::has_snapshots(events)) {
    try {
      run.plan = plan_of_text(trained, folder);
    } catch (const support::InputError& error) {
      run.plan = plan_of_sample(trained);
      run.notices.push_back(
          "The page shows a text that the model drew: " + std::string(error.what()) + ".");
    }
  }
  const page::Thinned data = support::with_advice(
      "restore the file, or train again",
      [&] {
        run.kept_step = trained.step;
        run.sentence = page::run_in_words(trained.model, trained.steps_done);
        return page::run_data(run);
      },
      support::quoted(files.file(train::log_file)));
  support::write_output(
      out, page::page_file(run.title, Json::object({{"kind", "run"}, {"run", data.data}})),
      page::page_kind);
  std::fprintf(stderr, "The page is in %s.\n", support::printable(out).c_str());
  for (const std::string& notice : data.notices) support::say(stderr, notice);
  return 0;
}

}  // namespace fledge
