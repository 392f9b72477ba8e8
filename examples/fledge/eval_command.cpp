#include "examples/fledge/commands.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "examples/fledge/train/report.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/trained_model.h"
#include "examples/support/options.h"
#include "examples/support/text.h"
#include "nn/io/json.h"
#include "nn/train/trainer.h"

namespace fledge {

namespace {

// The most logits that are computed at a time, unless a single window has more: 512 MB. The loss does
// not depend on the number of windows.
constexpr Dim most_logits = Dim{1} << 27;

/// The tokens of another text.
TokenText read_tokens(const TrainedModel& trained, const std::string& path, bool skip_unknown) {
  const std::string name = train::name_of_files({path});
  std::string text = trained.readable(trained.file_text(path), "the text");
  if (skip_unknown) text = train::known_text(trained.tokenizer(), text, name);
  return train::tokens_of_text(trained.tokenizer(), text, trained.run.settings.corpus.reading,
                               name);
}

/// The held-out part of the text that the model in this folder was trained on, read again.
TokenText held_out(const TrainedModel& trained, const std::string& folder) {
  if (!trained.has_run())
    throw support::InputError("this model has no run of fledge train, so no text was held out",
                              "name a text: fledge eval DIR FILE");
  const train::TrainConfig& settings = trained.run.settings;
  Corpus corpus =
      read_corpus(train::text_of_run(trained.run, folder), settings.corpus, trained.tokenizer());
  if (corpus.valid.size() < 2)
    throw support::InputError(
        "nothing of " + train::name_of_files(settings.texts) + " was held out",
        "name another text: fledge eval DIR FILE");
  return std::move(corpus.valid);
}

}  // namespace

int eval_command(int argc, char** argv) {
  TextForm form = TextForm::text;
  std::int64_t batch = 12;
  bool skip_unknown = false, json = false;
  support::Options options("fledge eval",
                           "The loss of a trained model on what it was not trained on.");
  options.arguments("DIR [FILE]", 1, 2);
  options.example("fledge eval run", "on the held-out part of its own text");
  options.example("fledge eval run other.txt", "on the whole of another text");
  options.add("--skip-unknown", "", skip_unknown,
              "leave out of FILE what was not in the training text");
  options.add("--batch", "N", batch, "windows at a time", {1, 1e6});
  options.also_known_as("--batch-size");
  add_text_form(options, form);
  options.threads();
  options.add("--json", "", json, "one object on stdout");
  options.exit_statuses("0 done, 1 failed, 2 wrong usage, 3 unusable input");
  options.parse(argc, argv);
  const std::string& folder = options.arguments()[0];
  const bool has_text = options.arguments().size() > 1;  // else the held-out part of the run's own
  if (skip_unknown && !has_text)
    support::refuse_usage("--skip-unknown is for another text", "name it: fledge eval DIR FILE");

  const TrainedModel trained = load_trained(folder, form);
  const TokenText text = has_text ? read_tokens(trained, options.arguments()[1], skip_unknown)
                                  : held_out(trained, folder);
  if (text.size() < 2)
    throw support::InputError("there is nothing to guess in one token", "name a longer text");
  const LanguageModelSizes& sizes = trained.model.sizes;
  const Dim logits = sizes.context * sizes.vocabulary;  // of a window
  const Dim fitting = std::max<Dim>(1, most_logits / logits);
  const double loss = mean_loss(trained.model, text, std::min(batch, fitting));
  if (!std::isfinite(loss)) refuse_numbers(trained, text.tokens);
  const double bits = train::bits_per_byte(loss, text, trained.tokenizer());
  const Dim guessed = text.size() - 1;  // all tokens but the first
  const std::string token = train::token_word(trained.tokenizer().kind());
  const bool cheats = sizes.recipe.sees_later_tokens();
  if (json) {
    if (cheats) support::say(stderr, train::cheating_report(token));
    const Json found = Json::object({{"loss", loss},
                                     {"bits_per_byte", bits},
                                     {"perplexity", std::exp(loss)},
                                     {"tokens", guessed}});
    std::printf("%s\n", found.text().c_str());
  } else {
    const double uniform = std::log(static_cast<double>(trained.tokenizer().size()));
    const std::string report =
        train::loss_sentence(has_text ? "Loss" : "Held-out loss", loss, bits, uniform, token) +
        " This is a mean over " + support::counted(guessed, token) + "." +
        (cheats ? " " + train::cheating_report(token) : "");
    support::say(stdout, report);
  }
  return 0;
}

}  // namespace fledge
