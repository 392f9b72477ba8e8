#include "examples/fledge/commands.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "examples/fledge/train/report.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/trained_model.h"
#include "examples/support/options.h"
#include "examples/support/table.h"
#include "nn/io/checksum.h"

namespace fledge {

namespace {

// At most 12 windows are computed at a time, and fewer where their logits would need more than 512 MB.
// The loss does not depend on the number of windows.
constexpr Dim most_windows = 12, most_logits = Dim{1} << 27;

/// What models are measured on, and how.
struct Measure {
  std::string file;  // another text
  bool has_file = false, skip_unknown = false, is_side_by_side = false, compares = false;
  TextForm form = TextForm::text;
};

/// What a model, or a rival of it, scores on a text.
struct Measured {
  std::string name;  // of a model its folder
  train::RunConfig run;
  TokenText text{};
  UnknownSymbols unknown{};  // what --skip-unknown left out
  double loss = 0;
  bool is_own = false;  // whether it is the whole text of the run

  double bits() const { return train::bits_per_byte(loss, text, run.tokenizer); }
  double guessing() const { return std::log(static_cast<double>(run.tokenizer.size())); }
  Dim guessed() const { return text.size() - 1; }  // all tokens but the first
  std::string token() const { return train::token_word(run.tokenizer.kind()); }
  bool cheats() const { return run.settings.sizes.recipe.sees_later_tokens(); }
};

/// A row each. For JSON of a single model the columns of several are left out.
support::Rows rows_of(const std::vector<Measured>& all, bool compares = true) {
  const bool has_unknown = compares || all[0].unknown.all > 0;
  support::Rows rows({{compares ? "name" : "", "run"},
                      {"loss", "nats/token"},
                      {"bits_per_byte", "bits/byte"},
                      {"perplexity", "perplexity"},
                      {"tokens"},
                      {has_unknown ? "unknown" : "", "unknown"},
                      {has_unknown ? "unknown_share" : ""}});
  for (const Measured& row : all)
    rows.add({{row.name, support::cut(support::printable(row.name), 33)},
              {row.loss, "%.4f"},
              {row.bits(), "%.3f"},
              {std::exp(row.loss), "%.1f"},
              row.guessed(),
              row.unknown.unknown,
              row.unknown.share()});
  return rows;
}

/// The text that a run was trained on, read again.
Corpus corpus_again(const train::RunConfig& run, const std::string& folder) {
  if (run.text_bytes == 0)
    throw support::InputError(
        support::quoted(folder) + " has no run of fledge train, so no text was held out",
        "name a text: fledge eval DIR FILE");
  return train::usable_corpus(train::text_of_run(run, folder), run.settings, &run.tokenizer);
}

Measured measured(const std::string& folder, const Measure& how) {
  const TrainedModel trained =
      how.compares ? load_trained(folder, how.form, "name models' folders, and a text with --on")
                   : load_trained(folder, how.form);
  Measured found{folder, trained.run};
  const std::string whose = how.compares ? " for " + support::quoted(folder) : "";
  if (how.has_file) {
    const std::string name = train::name_of_files({how.file}) + whose;
    std::string text = trained.readable(trained.file_text(how.file), "the text");
    found.is_own = text.size() == found.run.text_bytes && hash_of(text) == found.run.text_hash;
    if (how.skip_unknown) {
      found.unknown = train::known_text(trained.tokenizer(), text, name);
      text = found.unknown.rest;
    }
    found.text =
        train::tokens_of_text(trained.tokenizer(), text, found.run.settings.corpus.reading, name);
  } else {
    found.text = corpus_again(found.run, folder).valid;
  }
  if (found.text.size() < 2)
    throw how.has_file
        ? support::InputError("there is nothing to guess in one token" + whose,
                              "name a longer text")
        : support::InputError("nothing of " + train::name_of_files(found.run.settings.texts) +
                                  " was held out" + whose,
                              "name another text: fledge eval DIR FILE");
  const LanguageModelSizes& sizes = trained.model.sizes;
  const Dim windows =
      std::clamp<Dim>(most_logits / (sizes.context * sizes.vocabulary), 1, most_windows);
  found.loss =
      mean_loss(trained.model, found.text, windows, 0, how.is_side_by_side ? 0 : sizes.context / 2);
  if (!std::isfinite(found.loss)) refuse_numbers(trained, found.text.tokens);
  return found;
}

/// Guessing, and the best table that is counted on the training text of a run: of the first run whose
/// text can be read again. If there is none, guessing alone, with the tokens of the first run.
std::vector<Measured> rivals_of(const std::vector<Measured>& runs) {
  const auto rival = [](const std::string& name, const Measured& of, double loss) {
    return Measured{name, of.run, of.text, of.unknown, loss};
  };
  for (const Measured& found : runs) try {
      if (found.run.settings.texts == std::vector<std::string>{"-"}) continue;
      Corpus corpus = corpus_again(found.run, found.name);
      corpus.valid = found.text;
      const std::vector<double> losses = train::count_baselines(corpus).counting;
      const std::string tokens = support::counted(std::ssize(losses) - 1, found.token());
      return {rival("guessing blindly", found, found.guessing()),
              rival("best counting table, " + tokens, found, losses.back())};
    } catch (const support::InputError&) {
      continue;  // its text is not there
    }
  return {rival("guessing blindly", runs[0], runs[0].guessing())};
}

/// The report on one model.
std::string report(const Measured& found, const Measure& how) {
  const std::string token = found.token();
  const Dim unknown = found.unknown.unknown;
  return train::loss_sentence(how.has_file ? "Loss" : "Held-out loss", found.loss, found.bits(),
                              found.guessing(), token) +
         " This is a mean over " + support::counted(found.guessed(), token) +
         (how.is_side_by_side ? ", in windows side by side" : "") +
         (unknown > 0 ? "; without " + support::counted(unknown, "unknown " + token) + ", " +
                            support::percent(found.unknown.share()) + " of the text."
                      : ".") +
         (found.is_own
              ? " This is the run's own text" + (found.run.settings.corpus.valid > 0
                                                     ? "; the held-out part alone: fledge eval " +
                                                           support::shell_word(found.name) + "."
                                                     : std::string("."))
              : "") +
         (found.cheats() ? " " + train::cheating_report(token) : "");
}

/// The report on several: a table, and which of its columns compares them.
std::string comparison(std::vector<Measured> all, const std::vector<Measured>& rivals,
                       bool has_file) {
  all.insert(all.end(), rivals.begin(), rivals.end());
  const auto have_one = [&](const auto& value_of) {
    return std::all_of(all.begin(), all.end(),
                       [&](const Measured& row) { return value_of(row) == value_of(all[0]); });
  };
  std::string said = "Their tokens differ, so bits/byte compares";
  if (have_one([](const Measured& row) { return row.run.tokenizer.symbols(); }))
    said = "Every column compares";
  said += has_file ? "." : " where the held-out parts are the same; with --on FILE they are.";
  if (!have_one([](const Measured& row) { return row.text.documents() > 0; }))
    said = "Some models read lines, others a stream: their losses do not compare.";
  if (!have_one([](const Measured& row) { return row.unknown.unknown; }))
    said = "Rows with other numbers of unknown symbols read other texts.";
  return rows_of(all).text(support::terminal_width(stdout)) + support::paragraph(said);
}

}  // namespace

int eval_command(int argc, char** argv) {
  Measure how;
  bool json = false;
  support::Options options("fledge eval",
                           "The loss of a trained model on what it was not trained on.");
  options.arguments("DIR [FILE | DIR ...]", 1, 26);
  options.example("fledge eval run", "on the held-out part of its own text");
  options.example("fledge eval run other.txt", "on the whole of another text");
  options.example("fledge eval run run-2 --on other.txt", "several models, in a table");
  options.add("--on", "FILE", how.file, "another text, for one model or several");
  options.add("--side-by-side", "", how.is_side_by_side,
              "windows do not overlap: the first tokens of each have no history");
  options.add("--skip-unknown", "", how.skip_unknown,
              "leave out of FILE what was not in the training text");
  add_text_form(options, how.form);
  options.threads();
  options.add("--json", "", json, "one object on stdout");
  options.parse(argc, argv);
  std::vector<std::string> folders = options.arguments();
  how.has_file = options.given().contains("--on");
  std::error_code none;
  if (!how.has_file && folders.size() == 2 && !std::filesystem::is_directory(folders[1], none)) {
    how.has_file = true;
    how.file = folders[1];
    folders.pop_back();
  }
  how.compares = folders.size() > 1;
  if (how.skip_unknown && !how.has_file)
    support::refuse_usage("--skip-unknown is for another text", "name it: fledge eval DIR FILE");
  if (how.form == TextForm::token_ids && !how.has_file)
    support::refuse_usage("--tokens-in is for a file of token numbers",
                          "name it: fledge eval DIR FILE --tokens-in");

  std::vector<Measured> runs, rivals;
  for (const std::string& folder : folders) runs.push_back(measured(folder, how));
  for (const Measured& found : runs)
    if (found.cheats() && (json || how.compares))
      support::say(stderr, (how.compares ? support::quoted(found.name) + ": " : "") +
                               train::cheating_report(found.token()));
  if (how.compares) rivals = rivals_of(runs);
  std::string text = rows_of(runs, how.compares).json().text();
  if (how.compares)
    text = json ? "{\"runs\":" + text + ",\"rivals\":" + rows_of(rivals).json().text() + "}\n"
                : comparison(runs, rivals, how.has_file);
  else
    text = json ? text.substr(1, text.size() - 2) + "\n"  // of an array its one object
                : support::paragraph(report(runs[0], how));
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace fledge
