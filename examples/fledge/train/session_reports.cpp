// What a session says: before the first step, on the way, and at its end.
#include <chrono>
#include <cmath>
#include <cstdio>

#include "engine/autograd.h"
#include "examples/fledge/train/session.h"
#include "examples/fledge/train/source.h"
#include "examples/support/formatted.h"
#include "examples/support/peak_memory.h"
#include "examples/support/text.h"
#include "nn/generate/sampler.h"
#include "nn/inspect/probes.h"
#include "nn/inspect/verbatim_overlap.h"
#include "nn/io/json.h"

namespace fledge::train {

using support::formatted;

namespace {

constexpr std::uint64_t of_samples = 3;  // stream of the run's seed; trainer.cpp has 1 and 2
constexpr std::size_t verbatim_bytes = 20;

}  // namespace

void Session::say_json(const std::string& line) const {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void Session::report_start() {
  const std::string token = token_word(corpus_->tokenizer.kind());
  screen_.say(text_report(name_of(plan_), *corpus_));
  screen_.say(model_report(*model_));
  baselines_ = baselines_of(*corpus_);
  screen_.say(baseline_report(baselines_, token));
  report_no_peek();
  forecast();
  if (plan_.pace > 0 && plan_.text_path.empty())
    screen_.say("at most " + std::to_string(plan_.pace) +
                " steps a second, to be watched; --pace 0: "
                "as fast as it goes");
  if (plan_.resumes())
    screen_.say("going on after step " + thousands(trainer_->steps_done()) +
                (plan_.given.contains("--lr")
                     ? formatted(", from here on with --lr %g", plan_.training.schedule.rate)
                     : ""));
  else if (!folder_)
    screen_.say("nothing is kept: -o DIR keeps the model");
  stop_.emplace();  // until now a signal ended the program at once: nothing could be lost
  if (!plan_.json) return;
  JsonWriter json;
  json.begin_object().field("type", "start").field("version", 1);
  json.field("tokens", corpus_->train.size()).field("held_out", corpus_->valid.size());
  json.field("vocabulary", plan_.sizes.vocabulary);
  json.field("parameters", count_parameters(*model_));
  json.field("seed", plan_.training.seed).field("step", trainer_->steps_done());
  write_baselines(json);
  say_json(json.end_object().text());
}

// Of a model as it was made: the weights of a run that went wrong may leave nothing to be seen.
void Session::report_no_peek() {
  if (trainer_->steps_done() > 0) return;
  const std::vector<Dim>& text = corpus_->train.tokens;
  const Dim length = std::min(plan_.sizes.context, corpus_->train.size());
  const std::vector<Dim> ids(text.begin(), text.begin() + length);
  if (ids.size() < 2 || plan_.sizes.vocabulary < 2) return;
  const CausalityReport proof = check_causality(*model_, ids);
  if (proof.peeks) throw std::logic_error("the model peeks: " + proof.text);
  screen_.say("no peeking: " + proof.text);
}

// One step is taken without moving anything: what a step does depends on its number alone.
void Session::forecast() {
  const auto begin = std::chrono::steady_clock::now();
  trainer_->dry_run();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  const auto left = static_cast<double>(plan_.training.schedule.steps - trainer_->steps_done());
  screen_.say("forecast: " + clock_text(left * taken.count() * 1.1) + " for " +
              thousands(static_cast<std::int64_t>(left)) + " steps, " +
              formatted("%.0f MB", support::peak_megabytes()));
}

std::string Session::sample(Dim count, std::int64_t step) const {
  NoGrad no_grad;
  Rng rng = Rng(plan_.training.seed).stream(of_samples).stream(static_cast<std::uint64_t>(step));
  Decoder decoder(*model_);
  const Tokenizer& tokenizer = corpus_->tokenizer;
  const bool lines = plan_.corpus.reading == Reading::lines;
  const Dim first = corpus_->train.tokens.front();
  const Dim boundary = lines ? first : -1;
  std::vector<Dim> drawn;
  try {
    generate(decoder, {first}, count, {}, rng, [&](Dim id, const Array&) {
      if (id != boundary) drawn.push_back(id);
      return id != boundary;
    });
  } catch (const NumericError&) {  // scores that are not numbers
    trainer_->throw_diverged(
        "a sample was not possible after step " + std::to_string(trainer_->steps_done()),
        [&] { Decoder(*model_).read(decoder.window()); });
  }
  return tokenizer.decode(drawn);
}

void Session::print_sample() {
  if (plan_.quiet && !plan_.json) return;
  const std::int64_t step = trainer_->steps_done();
  const std::string text = sample(40, step);
  screen_.say("  step " + std::to_string(step) + ": " + support::cut(support::printable(text), 68));
  if (!plan_.json) return;
  JsonWriter json;
  json.begin_object().field("type", "sample").field("step", step).field("text", text);
  say_json(json.end_object().text());
}

void Session::write_baselines(JsonWriter& json) const {
  static constexpr const char* names[] = {"unigram", "bigram", "trigram", "fourgram"};
  json.key("baselines").begin_object().field("uniform", baselines_.uniform);
  for (std::size_t n = 0; n < baselines_.counting.size(); ++n)
    json.field(names[n], baselines_.counting[n]);
  json.end_object();
}

void Session::end(const char* status, const std::optional<Final>& loss) {
  if (!plan_.json) return;
  JsonWriter json;
  json.begin_object().field("type", "end").field("status", status);
  json.field("step", trainer_->steps_done()).field("train_loss", notes_.train_loss);
  if (holds_out()) {
    json.field("val_loss", loss ? loss->last : notes_.last_loss);
    json.field("best_val_loss", loss ? loss->kept : notes_.best_loss);
  } else {
    json.key("val_loss").value(nullptr).key("best_val_loss").value(nullptr);
  }
  if (loss || !best_.empty())
    json.field("model_step", loss ? loss->kept_step : kept_step());
  else
    json.key("model_step").value(nullptr);
  write_baselines(json);
  json.field("seconds", screen_.elapsed());
  say_json(json.end_object().text());
}

// All is saved before the last report, which may take long. The report is about the model that is
// kept, which may be an earlier one than the last.
void Session::finish() {
  screen_.finish();
  if (folder_) save();
  all_saved_ = true;
  const std::int64_t steps = trainer_->steps_done(), kept = kept_step();
  const auto loss = [&] { return trainer_->loss_on(corpus_->valid, plan_.training.batch); };
  Final found{finite_loss(), 0, kept};
  if (holds_out()) found.last = found.kept = loss();
  if (kept != steps) {
    set_weights(*model_, best_);
    found.kept = loss();
  }
  screen_.say("done: " + thousands(steps) + " steps in " + clock_text(screen_.elapsed()));
  screen_.say((holds_out() ? "held-out loss " : "training loss ") +
              loss_report(holds_out() ? found.kept : notes_.train_loss, baselines_,
                          token_word(corpus_->tokenizer.kind()), {support::colour_wanted(stderr)}));
  if (kept != steps)
    screen_.say("  by the model of step " + thousands(kept) + ", the best" +
                (folder_ ? ", which is kept; " : "; ") +
                formatted("the last weights score %.4f", found.last));
  report_samples();
  report_probed(kept);
  if (folder_) {
    const std::string folder = support::shell_word(plan_.folder());
    screen_.say("kept in " + support::printable(plan_.folder()) +
                ": model.safetensors, config.json, state.safetensors, metrics.csv");
    screen_.say("next: fledge generate " + folder + "   fledge eval " + folder +
                "   fledge train --resume " + folder + " --steps " +
                std::to_string(2 * plan_.training.schedule.steps));
  } else if (!plan_.quiet && plan_.text_path.empty()) {
    screen_.say("next: fledge train poems.txt -o run   fledge generate run   fledge gradcheck");
  }
  end("ok", found);
}

void Session::report_samples() {
  if (plan_.quiet) return;
  std::string all;
  for (std::int64_t i = 1; i <= 3; ++i) {
    const std::string text = sample(plan_.corpus.reading == Reading::lines ? 60 : 200, -i);
    all += text + "\n";
    screen_.say("  sample: " + support::cut(support::printable(text), 200));
  }
  const VerbatimOverlap found =
      verbatim_overlap(all, corpus_->tokenizer.decode(corpus_->train.tokens), verbatim_bytes);
  screen_.say(
      formatted("  %.0f %% of it stands word for word in the text, in runs of %zu bytes or more; "
                "the longest has %zu",
                100 * found.share, verbatim_bytes, found.longest));
}

}  // namespace fledge::train
