// The options of a run, from the command line and from the folder of a run that is resumed; and its
// settings as the text of a config.json, which run.safetensors holds and fledge export writes.
//
// One table of options parses, explains, saves, loads and resumes them. A new option is a
// member of TrainConfig and a row of train_options().
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "examples/support/options.h"
#include "nn/gpt/config.h"
#include "nn/gpt/language_model.h"
#include "nn/text/corpus.h"
#include "nn/text/tokenizer.h"
#include "nn/train/trainer.h"

namespace fledge::train {

/// Windows of the held-out text that an evaluation reads while the run lasts. They overlap by half.
inline constexpr Dim evaluated_windows = 480;
/// Windows of the training text that it reads beside them. Fewer: this loss chooses no model.
inline constexpr Dim training_windows = 120;

struct TrainConfig {
  // Saved with the run, except `minutes`. What is not given is chosen from the text. On resume, only
  // `texts` and the may_change options can differ.
  std::vector<std::string> texts;  // files, or "-"; none: the built-in text
  std::vector<std::string> named;  // the same as the command named them: a folder for its files
  std::string from;                // the folder of the model that the run began with
  CorpusOptions corpus;
  LanguageModelSizes sizes{.vocabulary = 1, .context = 0};       // V: from the text
  enum class Named { gpt2, llama, today } recipe = Named::gpt2;  // what sizes.recipe begins with
  // The parts that --with adds and --without leaves out, as they then are in `sizes`.
  struct {
    bool qk_norm = false, rms_norm = false, sink = false, exclusive = false, tied_qk = false;
    void each(auto&& f) {
      f("qk-norm", qk_norm), f("rms-norm", rms_norm), f("sink", sink), f("exclusive", exclusive);
      f("tied-qk", tied_qk);
    }
  } with;
  struct {
    Recipe recipe;  // none: left out
    bool bias = false;
    void each(auto&& f) { recipe.each(f), f("bias", bias); }
  } without;
  TrainerOptions training;
  std::int64_t evaluate_every = 250, patience = 0;
  double minutes = 2;  // decides how many steps are chosen; see choose_for_text()
  std::vector<std::int64_t> file_bytes{};  // of each text, when the run began
  std::int64_t read_bytes = 0;             // of them, in pieces; 0: all

  // Options of this invocation; not saved.
  std::string out, resume;  // folders; both "": one is named after the text, or nothing is saved
  bool save = true, force = false, json = false, quiet = false;
  std::string watch, page;        // the texts of these options
  std::set<std::string> given{};  // the names of the options that were given

  /// Sets the value of an option unless it was given.
  template <class T>
  void choose(const char* name, T& value, std::type_identity_t<T> chosen) const {
    if (!given.contains(name)) value = chosen;
  }
  bool resumes() const { return !resume.empty(); }
  /// Whether the model and its tokens are decided: --tokens is refused.
  bool has_model() const { return resumes() || !from.empty(); }
  /// Whether the run goes to a folder that is named after its text.
  bool names_folder() const { return save && !resumes() && out.empty() && !texts.empty(); }
  const std::string& folder() const { return resumes() ? resume : out; }
};

/// The table of options, which set the members of this config.
support::Options train_options(TrainConfig& config);

/// The config that the arguments give. Throws UsageError for options that contradict each other,
/// before any file is read.
TrainConfig train_config(int argc, const char* const* argv);

/// How much of a long text is read, unless --read says it: one and a half times what the steps see, in
/// bytes; at least 4 MB, at most 256 MB. Windows are drawn at random, so few are drawn twice.
std::int64_t bytes_to_read(const TrainConfig& config);

/// The saved settings, with the allowed changes from this command line. Throws UsageError.
TrainConfig resumed_config(TrainConfig saved, TrainConfig call);

/// The work of a minute on two cores, in operations of operations_of_step(): about what a run with
/// its evaluations and samples reaches.
inline constexpr double operations_of_minute = 8.4e12;
/// The learning rate of the built-in text.
inline constexpr double rate_of_built_in_text = 0.02;
/// Sets each option of the model and of training that was not given (nn/train/defaults.h). The
/// choice counts operations, never seconds, so the same text gives the same model on any machine.
/// The context fits into the text, the heads divide the width. config.sizes.vocabulary must be
/// known. Returns what was chosen and why, in sentences; "" if everything was given.
std::string choose_for_text(TrainConfig& config, const Corpus& corpus);
/// The learning rate to try after this run's was too large: what is chosen for the text, if that is
/// smaller, else a tenth.
double rate_after_divergence(const TrainConfig& config, const Corpus& corpus);

/// What config.json says of a run: GPT-2's sizes and, under "fledge", the options, tokenizer and text.
struct RunConfig {
  TrainConfig settings;  // with the sizes, vocabulary included
  Tokenizer tokenizer;
  std::uint64_t text_bytes = 0, text_hash = 0;  // no bytes: these are no settings of a run
};

/// The text of config.json. `notes` are further members that other programs read.
std::string config_text(const RunConfig& config, const Json::Members& notes = {});
/// The tokens that begin and end a text, for other programs: Tokenizer::marks() if they are set, else
/// "<|endoftext|>" or the line end.
MarkTokens saved_marks(const Tokenizer& tokenizer);
/// What a config.json says of a run; throws FormatError, also for a version that config_text() does
/// not write.
RunConfig run_config(const ModelConfig& config);

/// What to do if fledge has not written config.json, or it was changed since.
inline constexpr const char* config_advice =
    "config.json must be as fledge export wrote it: restore it, or export the run again";

}  // namespace fledge::train
