#include "examples/fledge/train/report.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "engine/autograd.h"
#include "examples/fledge/train/run.h"
#include "examples/fledge/train/source.h"
#include "examples/support/run_main.h"
#include "nn/generate/sampler.h"
#include "nn/inspect/ngram_losses.h"
#include "nn/train/defaults.h"

namespace fledge::train {

using support::counted, support::formatted, support::printable, support::thousands,
    support::text_width, support::display_width, support::shell_word;

std::string token_word(Tokens kind) {
  return kind == Tokens::character ? "character"
         : kind == Tokens::word    ? "word"
         : kind == Tokens::byte    ? "byte"
                                   : "token";
}

double bits_per_byte(double loss, const TokenText& text, const Tokenizer& tokenizer) {
  const double bytes = static_cast<double>(tokenizer.decode(text.tokens).size());
  return loss / std::log(2.0) * static_cast<double>(text.tokens.size()) / bytes;
}

std::string variant_report(const LanguageModelSizes& sizes) {
  const Recipe& recipe = sizes.recipe;
  const auto listed = [](const std::string& title, const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? title + ": " : ", ") + word;
    return text.empty() ? text : text + ". ";
  };
  std::vector<std::string> forms;
  for (const auto& [part, word] : forms_of(recipe)) {
    const bool is_switch = part == "qk_norm" || part == "sink" || part == "exclusive";
    forms.push_back((part == "qk_norm"     ? "QK-norm"
                     : part == "key_heads" ? "key heads"
                                           : part) +
                    (is_switch ? "" : " " + word));
  }
  std::vector<std::string> left_out = words_of_none(recipe);
  if (sizes.bias == Bias::without) left_out.emplace_back("bias");
  std::string text = listed("Not as in GPT-2", forms) + listed("Left out", left_out) +
                     listed("Frozen", words_of_none(recipe.learned)) +
                     (recipe.tie_qk ? "W_Q and W_K are the same matrix. " : "");
  if (!text.empty()) text.pop_back();
  return text;
}

std::string cheating_report(const std::string& token) {
  return "Without the mask each position but the last sees the " + token +
         " that it must predict. This model can cheat: its loss is not a prediction.";
}

std::string loss_sentence(const std::string& name, double loss, double bits, double uniform,
                          const std::string& token) {
  return name + formatted(" %.4f nats per ", loss) + token +
         formatted(" (%.3f bits per byte): ", bits) +
         (loss < uniform ? formatted("like choosing among %.1f ", std::exp(loss)) + token + "s."
                         : "worse than guessing blindly.");
}

std::string draw_sample(const Trainer& trainer, const TrainConfig& config, const Corpus& corpus,
                        Dim count, std::int64_t number) {
  NoGrad no_grad;
  Rng rng =
      Rng(config.training.seed).stream(sample_stream).stream(static_cast<std::uint64_t>(number));
  const Tokenizer& tokenizer = corpus.tokenizer;
  Decoder decoder(trainer.model(), tokenizer.without_text(config.sizes.vocabulary));
  const bool is_line = config.corpus.reading == Reading::lines;
  const FirstToken first = first_token(tokenizer, is_line);
  const Dim boundary = is_line ? first.id : -1;
  std::vector<Dim> drawn;
  if (first.is_text) drawn.push_back(first.id);
  try {
    generate(decoder, {first.id}, count, {}, rng, [&](Dim id, const Array&) {
      if (id != boundary) drawn.push_back(id);
      return id != boundary;
    });
  } catch (const NumericError&) {  // scores that are not numbers
    trainer.throw_diverged(
        "a sample was not possible after step " + std::to_string(trainer.steps_done()),
        [&] { Decoder(trainer.model()).read(decoder.window()); });
  }
  return tokenizer.decode(drawn);
}

namespace {

// The number of bytes at the beginning of the line that fit into the columns. They end at the last
// blank, if there is one after the first third.
std::size_t fitting(std::string_view line, int columns) {
  int used = 0;
  std::size_t end = 0;
  while (end < line.size()) {
    const std::size_t bytes = code_point_at(line, end).bytes;
    used += display_width(line.substr(end, bytes));
    if (used > columns) break;
    end += bytes;
  }
  end = std::max<std::size_t>(end, 1);
  if (end == line.size()) return end;
  const std::size_t blank = line.rfind(' ', end);
  return blank != std::string_view::npos && blank > end / 3 ? blank : end;
}

constexpr std::size_t long_stretch = 20;  // characters; shorter ones are common phrases
constexpr Dim longest_sample = 200;

std::string token_of(const Run& run) { return token_word(run.corpus.tokenizer.kind()); }

bool sees_later_tokens(const Run& run) { return run.config.sizes.recipe.sees_later_tokens(); }

// About `most` tokens of a text that has more: the first or the last ones of a stream, or every n-th
// document.
TokenText part_of(const TokenText& text, Dim most, bool is_end) {
  if (text.size() <= most) return text;
  const auto at = [&](std::size_t i) {
    return text.tokens.begin() + static_cast<std::ptrdiff_t>(i);
  };
  if (text.starts.empty())
    return is_end ? TokenText{{text.tokens.end() - most, text.tokens.end()}, {}}
                  : TokenText{{text.tokens.begin(), text.tokens.begin() + most}, {}};
  TokenText part;
  const auto n = static_cast<std::size_t>((text.size() + most - 1) / most);
  for (std::size_t d = 0; d + 1 < text.starts.size(); d += n) {
    part.starts.push_back(part.tokens.size());
    part.tokens.insert(part.tokens.end(), at(text.starts[d]), at(text.starts[d + 1]));
  }
  part.starts.push_back(part.tokens.size());
  part.tokens.push_back(text.tokens.back());
  return part;
}

// The sizes of the text, and how much of it is held out: "poems.txt has 94,000 bytes: …".
std::string text_report(const Run& run) {
  const Corpus& corpus = run.corpus;
  const std::vector<std::string>& files = run.config.texts;
  const std::string token = token_of(run);
  std::string text = name_of_files(files) + " has";
  if (files.empty() || files[0] == "-")  // "The built-in text has"
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  else if (files.size() > 1)
    text = thousands(std::ssize(files)) + " files (" + list_of(files, 6) + ") have";
  const auto size = [](const TokenText& part) {  // of lines without the mark before the first one
    return static_cast<Dim>(part.tokens.size()) - (!part.tokens.empty() && !part.starts.empty());
  };
  const std::vector<std::int64_t>& sizes = run.config.file_bytes;
  const std::int64_t whole = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}),
                     read = run.config.read_bytes;
  const bool in_pieces = read > 0 && whole > std::max(read, corpus.facts.bytes);
  const Dim tokens = size(corpus.train) + size(corpus.valid);
  const bool bytes_say_more = in_pieces || !corpus.train.starts.empty() || token != "character" ||
                              tokens != corpus.facts.bytes;
  if (bytes_say_more) text += " " + counted(in_pieces ? whole : corpus.facts.bytes, "byte");
  if (in_pieces)
    text += "; " + thousands(corpus.facts.bytes) +
            " of them are read, in pieces from everywhere (--read)";
  if (!corpus.train.starts.empty()) text += ", " + counted(corpus.facts.documents, "line");
  if (corpus.tokenizer.kind() != Tokens::byte)
    text += (bytes_say_more ? ": " : " ") + counted(tokens, token) + ", " +
            thousands(corpus.facts.symbols) + " different";
  if (const Dim n = size(corpus.valid); n > 0)
    text += "; " + thousands(n) + (n == 1 ? " is held out" : " are held out") +
            (files.size() > 1 && corpus.valid.starts.empty() ? ", the last ones" : "");
  return text + ".";
}

// What makes the held-out loss differ from the loss of an unseen text: repeated lines, if they are
// more than a tenth of it, and tokens that only the held-out part has. "": none.
std::string split_report(const Run& run) {
  const CorpusFacts& facts = run.corpus.facts;
  constexpr double most_share = 0.1;
  std::string text;
  if (!run.config.texts.empty() && run.corpus.train.size() < tiny_tokens)
    text = "The text is very short: the model soon knows it by heart.\n";
  if (facts.repeated_share > most_share)
    text += formatted("%.0f %%", 100 * facts.repeated_share) +
            " of the held-out text stands in lines that the training text has too, so its loss is "
            "lower than that of a new text.\n";
  if (facts.unseen > 0)
    text += counted(facts.unseen, "held-out " + token_of(run)) + " never " +
            (facts.unseen == 1 ? "occurs" : "occur") + " in the training text.";
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

// The table without history and the best one: "best counting table, 6 characters".
std::vector<std::pair<std::string, double>> table_losses(const Baselines& baselines,
                                                         const std::string& token) {
  const std::vector<double>& losses = baselines.counting;
  std::vector<std::pair<std::string, double>> tables;
  if (losses.empty()) return tables;
  tables.emplace_back("counting table, no history", losses[0]);
  if (losses.size() > 1)
    tables.emplace_back("best counting table, " + counted(std::ssize(losses) - 1, token),
                        losses.back());
  return tables;
}

std::string baseline_report(const Baselines& baselines, const std::string& token) {
  std::string text = "Losses to beat, in nats per " + token + ": guessing blindly " +
                     formatted("%.3f", baselines.uniform);
  for (const auto& [name, loss] : table_losses(baselines, token))
    text += "; " + name + formatted(" %.3f", loss);
  text += ".";
  if (baselines.counted > 0)
    text += " The text is long: these tables are counted on " + thousands(baselines.counted) +
            " of its " + token + "s and measured on " + thousands(baselines.measured) + ".";
  return text;
}

// Checks only a new model: extreme trained weights could hide a causality error.
void check_causality_at_start(const Run& run) {
  const std::string token = token_of(run);
  if (sees_later_tokens(run)) return run.screen->say(cheating_report(token));
  if (run.store.step() > 0) return;
  const LanguageModelSizes& sizes = run.config.sizes;
  const std::vector<Dim>& text = run.corpus.train.tokens;
  const Dim length = std::min(sizes.context, run.corpus.train.size());
  if (length < 2 || sizes.vocabulary < 2) return;
  const CausalityReport report = check_causality(run.model, {text.begin(), text.begin() + length});
  if (report.looks_ahead) throw std::logic_error("the model is not causal: " + report.text);
  if (!report.is_causal) run.screen->say("Causality " + report.text + ".");
}

// Measures the time of a dry run. It does not change the training: batches depend only on the seed
// and the step number. The first also makes threads and fills caches, which is small beside a second.
void forecast(Run& run) {
  const auto timed = [&] {
    const double begin = run.screen->elapsed();
    run.trainer.dry_run();
    return run.screen->elapsed() - begin;
  };
  double step = timed();
  if (step <= 1) step = timed();
  const std::int64_t left = run.config.training.schedule.steps - run.store.step();
  const TrainerOptions& training = run.config.training;
  // At the end the held-out text is read whole, at most twice, in windows that overlap by half; a step
  // takes three times as long as reading its windows forward.
  const double tokens =
      static_cast<double>(training.batch) * mean_window(run.corpus.train, run.config.sizes.context);
  const double last_steps = 4 * static_cast<double>(run.corpus.valid.size()) / (3 * tokens);
  const double seconds = (static_cast<double>(left) * 1.1 + last_steps) * step;
  run.screen->say("Training: " + counted(left, "step") + " of " +
                  counted(training.batch, run.corpus.train.documents() > 0 ? "line" : "window") +
                  formatted(", learning rate %g", training.schedule.rate) +
                  (training.optimizer == Optimizer::muon ? ", Muon" : ", AdamW") +
                  (training.average > 0 ? formatted(", average %g.", training.average) : "."));
  // To come, as measured: an eighth for evaluations; of the weights three copies, and in a new run that
  // is saved six more: moments, the best ones, a save, and the one to go back to.
  const double weights = 1e-6 * sizeof(Real) * static_cast<double>(count_parameters(run.model));
  const int copies = run.store.has_folder() && run.store.step() == 0 ? 9 : 3;
  const double memory = 1.12 * support::peak_megabytes() + copies * weights;
  run.screen->say("Forecast: " + clock_text(seconds) + " for " + counted(left, "step") +
                  run.chosen + formatted(", %.0f MB of memory.", memory));
}

// The loss, and those of guessing and of the counting tables beside it.
std::string loss_report(const std::string& name, double loss, double bits,
                        const Baselines& baselines, const std::string& token) {
  const support::Paint paint{support::colour_wanted(stderr)};
  const int columns = text_width(stderr);
  std::string text =
      support::wrapped(loss_sentence(name, loss, bits, baselines.uniform, token), columns);
  const auto row = [&](const std::string& rival, double its_loss, const std::string& verdict) {
    const std::string cell = support::pad_right(rival, columns < 62 ? 0 : 40);
    text +=
        "\n" + support::wrapped("  " + cell + formatted("  %.4f", its_loss) + verdict, columns, 4);
  };
  row("guessing blindly", baselines.uniform, "");
  for (const auto& [table, its_loss] : table_losses(baselines, token))
    row(table, its_loss,
        "  " + (loss < std::min(its_loss, baselines.uniform) ? paint.good("beaten")
                                                             : paint.bad("not beaten")));
  return text;
}

// Why guessing or a table is better than this model, and what helps.
std::string why_not_beaten(const Run& run, double training) {
  const Corpus& corpus = run.corpus;
  const auto tokens = static_cast<double>(corpus.train.size());
  const std::string token = token_of(run);
  const double each = tokens / static_cast<double>(std::max<Dim>(corpus.facts.symbols, 1));
  const std::vector<double>& tables = run.baselines.counting;
  if (corpus.facts.repeated_share > 0.5)
    return formatted("%.0f %%", 100 * corpus.facts.repeated_share) +
           " of the held-out characters are copies, and a table knows the training text by heart. "
           "Where each line stands for itself, this removes repeated ones:\n  "
           "awk '!seen[$0]++' FILE >new.txt";
  if (tokens < tiny_tokens)
    return "The text is too short for a model: it learns from " + counted(tiny_tokens, token) +
           " and more.";
  if (tables.front() > 1.02 * run.baselines.uniform)
    return std::string("The held-out part is unlike the training text") +
           (corpus.valid.starts.empty() ? ": --lines holds out lines from everywhere." : ".");
  const std::string too_seldom = formatted(
      "Each different %s stands %.0f times in the training text, too seldom for a model: a longer "
      "text helps",
      token.c_str(), each);
  if (tables.size() == 1)
    return each < seldom
               ? too_seldom + "."
               : "As far as tables see, what comes next does not depend on what came before.";
  if (training > 0.98 * tables.front())
    return "The training loss has stayed where a table without history is: more --steps or another "
           "--lr may help.";
  if (run.store.kept_step() == run.store.step())
    return "The last step was the best, so more steps help: --steps " +
           std::to_string(2 * run.config.training.schedule.steps) + ".";
  if (each < seldom)
    return too_seldom + (corpus.tokenizer.kind() == Tokens::byte ? "." : ", or --tokens byte.");
  return training < 0.8 * tables.back()
             ? "The model begins to know its training text by heart: a longer text helps."
             : "What the last tokens decide, a table counts exactly; a larger --width may help.";
}

std::string copied_report(const std::vector<std::string>& samples, const Corpus& corpus) {
  const std::string text = corpus.tokenizer.decode(corpus.train.tokens);
  std::string report;
  if (corpus.train.documents() > 0) {
    const std::vector<std::string_view> lines = lines_of(text);
    const std::unordered_set<std::string_view> known(lines.begin(), lines.end());
    const auto found = std::count_if(samples.begin(), samples.end(),
                                     [&](const std::string& line) { return known.contains(line); });
    report = std::to_string(found) + " of the " + std::to_string(samples.size()) +
             " sampled lines " +
             (found == 1 ? "stands in the training text as it is."
                         : "stand in the training text as they are.");
  }
  const double copied = copied_share(samples, text, long_stretch);
  if (!report.empty() && copied == 0) return report;
  report += (report.empty() ? "" : "\n") + formatted("%.0f %%", 100 * copied) +
            " of these samples stand in the training text too, in passages of " +
            std::to_string(long_stretch) + " characters or more";
  if (corpus.valid.size() > 0) {
    constexpr std::size_t enough = 20'000;  // bytes
    const std::string held_out = corpus.tokenizer.decode(corpus.valid.tokens).substr(0, enough);
    report += formatted("; of the held-out text %.0f %%",
                        100 * copied_share({held_out}, text, long_stretch));
  }
  return report + ".";
}

void report_kept(const Run& run, double best_loss, double last_loss) {
  const std::int64_t kept = run.store.kept_step();
  std::string text;
  if (run.holds_out())
    text = formatted("Best held-out loss %.4f at step ", best_loss) + thousands(kept) + ". ";
  text += !run.store.has_folder() ? std::string("Nothing was saved") +
                                        (run.config.texts.empty() ? ": add -o run." : ".")
          : run.holds_out() ? "This model is saved in "
                            : "The model of step " + thousands(kept) + " is saved in ";
  if (run.store.has_folder()) text += printable(run.config.folder()) + ".";
  if (kept != run.store.step()) text += formatted(" That of the last step scores %.4f.", last_loss);
  run.screen->say(text);
}

// Samples of the final model: 3 pieces of a stream, or 20 lines, at most as long as the longest of
// the text.
void report_samples(const Run& run, std::int64_t step) {
  if (!run.shows_samples()) return;
  const bool are_lines = run.config.corpus.reading == Reading::lines;
  const Dim tokens =
      are_lines ? std::min(longest_document(run.corpus.train), longest_sample) : longest_sample;
  std::vector<std::string> samples;
  std::string pieces;
  for (std::int64_t i = 1; i <= (are_lines ? 20 : 3); ++i) {
    const std::string& sample =
        samples.emplace_back(draw_sample(run.trainer, run.config, run.corpus, tokens, -i));
    pieces += (i == 1      ? ""
               : are_lines ? "\n"
                           : "\n  --\n") +
              sample_rows(sample, text_width(stderr), 2, 12);
  }
  run.screen->say_lines("Samples:\n" + pieces);
  for (const std::string& text : samples) run.emit(Sampled{step, text, true});
  if (!run.config.quiet) run.screen->say(copied_report(samples, run.corpus));
}

// The losses of the end; infinite: not known.
struct LastLosses {
  double training = infinity, held_out = infinity, best = infinity;
};

void report_end(Run& run, const std::string& status, LastLosses losses,
                std::optional<double> bits = {}) {
  const TrainConfig& config = run.config;
  const std::int64_t step = run.store.step(), kept = run.store.kept_step();
  const bool is_done = status == "ok";
  const std::string folder = shell_word(config.folder());
  if (is_done && !config.folder().empty()) {
    const std::string more = resume_command(config), steps = "--steps " + std::to_string(2 * step);
    const bool fits = 7 + display_width(more + steps) <= text_width(stderr);
    run.screen->say_lines(
        "Next: fledge generate " + folder + "\n      fledge eval " + folder + " FILE" +
        (kept == step ? "\n      " + more + (fits ? " " : " \\\n        ") + steps : ""));
  } else if (is_done && config.texts.empty())
    run.screen->say("Next: fledge train YOUR_TEXT.txt");
  if (!run.holds_out()) losses.held_out = losses.best = infinity;
  std::optional<std::int64_t> model_step;
  if (is_done || run.store.has_best()) model_step = kept;
  run.emit(Ended{status, step, losses.training, losses.held_out, losses.best, bits, model_step,
                 run.baselines, run.screen->elapsed()});
  run.store.sync_events();
}

LastLosses noted_losses(const Run& run, double training = infinity) {
  return {training, run.store.notes().last_loss, run.store.notes().best_loss};
}

}  // namespace

std::string sample_rows(std::string_view text, int columns, int indent, int most_rows) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string rows;
  int row = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t line_end = std::min(text.find('\n', at), text.size());
    std::string line = support::printable_line(text.substr(at, line_end - at));
    at = line_end + 1;
    for (bool is_first = true; is_first || !line.empty(); is_first = false) {
      if (++row > most_rows) return rows + "\n" + margin + "...";
      const std::size_t end = line.empty() ? 0 : fitting(line, columns - indent);
      rows += (row > 1 ? "\n" : "") + (end > 0 ? margin : "") + line.substr(0, end);
      line.erase(0, line.size() > end && line[end] == ' ' ? end + 1 : end);
    }
  }
  return rows;
}

Baselines count_baselines(const Corpus& corpus) {
  constexpr Dim most_counted = 1'000'000, most_measured = 500'000;
  constexpr int most_history = 8;
  const Dim V = corpus.tokenizer.size();
  const bool holds_out = corpus.valid.size() > 1;
  const TokenText train = part_of(corpus.train, most_counted, true);
  const TokenText test =
      holds_out ? part_of(corpus.valid, most_measured, false) : part_of(train, most_measured, true);
  Baselines result{std::log(static_cast<double>(V)),
                   ngram_losses(train, test, V, best_history(train, V, most_history))};
  if (train.size() < corpus.train.size() || (holds_out && test.size() < corpus.valid.size())) {
    result.counted = train.size();
    result.measured = test.size();
  }
  return result;
}

void report_start(Run& run) {
  const TrainConfig& config = run.config;
  Screen& screen = *run.screen;
  screen.say(text_report(run));
  screen.say(split_report(run));
  const LanguageModelSizes& s = config.sizes;
  screen.say("The model: " + counted(s.layers, "layer") + ", " + counted(s.heads, "head") +
             ", width " + thousands(s.width) + ", context " + thousands(s.context) + "; " +
             counted(count_parameters(run.model), "parameter") + ".");
  if (!config.from.empty())
    screen.say("It began with the weights of " + printable(config.from) + ".");
  screen.say(variant_report(s));
  if (config.training.schedule.rate == 0) screen.say("With --lr 0 no weight changes.");
  run.baselines = count_baselines(run.corpus);
  // A model that cheats has no rivals: it sees what they predict.
  if (!sees_later_tokens(run)) screen.say(baseline_report(run.baselines, token_of(run)));
  check_causality_at_start(run);
  forecast(run);
}

void report_result(Run& run) {
  Screen& screen = *run.screen;
  const std::int64_t steps = run.store.step(), kept = run.store.kept_step();
  const bool of_held_out = run.holds_out();
  double last = run.trainer.next_loss();  // of the weights, also if their average is kept
  const WeightAverage::InPlace average(run.trainer.average());
  const auto loss = [&] {
    return run.trainer.loss_on(run.corpus.valid, run.config.training.batch);
  };
  const double training = run.training_loss();
  if (of_held_out) last = loss();
  double best = last;
  if (kept != steps) {
    run.store.use_kept_model();
    best = loss();
  }
  screen.plot();
  screen.say("Done: " + counted(steps, "step") + " in " + clock_text(screen.elapsed()) + ".");
  const TokenText& text = of_held_out ? run.corpus.valid : run.corpus.train;
  const double shown = of_held_out ? best : training;
  const double bits = bits_per_byte(shown, text, run.corpus.tokenizer);
  const std::string of_loss = of_held_out ? "Held-out loss" : "Training loss";
  const std::string token = token_of(run);
  if (sees_later_tokens(run))
    screen.say(loss_sentence(of_loss, shown, bits, run.baselines.uniform, token) + " " +
               cheating_report(token));
  else
    screen.say_lines(loss_report(of_loss, shown, bits, run.baselines, token));
  const std::vector<double>& tables = run.baselines.counting;
  if (of_held_out && !sees_later_tokens(run) &&
      !(shown < std::min({run.baselines.uniform, tables.front(), tables.back()})))
    screen.say(why_not_beaten(run, training));
  report_kept(run, best, last);
  report_samples(run, kept);
  report_end(run, "ok", {training, last, best}, bits);
}

void report_again(Run& run) {
  Store& store = run.store;
  run.screen->problem("the run in " + support::quoted(run.config.folder()) + " is over after " +
                      counted(store.step(), "step") +
                      (store.is_out_of_patience()
                           ? ": its held-out loss did not become lower; to train these "
                             "weights further: --from " +
                                 support::shell_word(run.config.folder())
                           : "; for more: --steps " + std::to_string(2 * store.step())));
  run.baselines = count_baselines(run.corpus);
  if (!store.has_end()) return report_result(run);  // it was killed during its final report
  const WeightAverage::InPlace average(run.trainer.average());
  const double training = run.training_loss();
  store.use_kept_model();
  report_end(run, "ok", noted_losses(run, training));
}

void report_stop(Run& run, const std::string& status) {
  // For the page of a run that was interrupted.
  const WeightAverage::InPlace average(run.trainer.average());
  report_end(run, status, noted_losses(run));
}

namespace {

Dim token_to_watch(const std::string& symbol, const Tokenizer& tokenizer) {
  if (const std::optional<Dim> found = tokenizer.find(symbol)) return *found;
  const bool words = tokenizer.kind() == Tokens::word;
  const std::string meant = words ? support::closest(symbol, tokenizer.symbols()) : "";
  throw support::InputError("--watch: " + support::quoted(symbol) + " is no " +
                                token_word(tokenizer.kind()) + " of the text",
                            !words          ? "to watch words, begin a new run with --tokens word"
                            : meant.empty() ? "write words as they stand in the text"
                                            : "nearest by spelling: " + support::quoted(meant));
}

}  // namespace

std::vector<WordPair> watched_pairs(const std::string& text) {
  std::vector<WordPair> pairs;
  for (const std::string& pair : support::split(text, ',')) {
    const std::size_t colon = pair.find(':', 1);
    if (colon == std::string::npos || colon + 1 == pair.size())
      support::refuse_usage("--watch " + support::quoted(pair) + " is no pair of words",
                            "write --watch walk:birds, or walk:birds,at:good for two");
    pairs.push_back({pair.substr(0, colon), pair.substr(colon + 1)});
  }
  return pairs;
}

std::vector<WordPair> pairs_to_watch(const TrainConfig& config, const Tokenizer& tokenizer) {
  if (config.sizes.recipe.heads == Heads::none && !config.watch.empty())
    support::refuse_usage("--watch shows where words look, but this model is without attention",
                          "leave it out");
  std::vector<WordPair> pairs = watched_pairs(config.watch);
  for (WordPair& pair : pairs) {
    pair.word_token = token_to_watch(pair.word, tokenizer);
    pair.looks_at_token = token_to_watch(pair.looks_at, tokenizer);
  }
  return pairs;
}

std::vector<PairMeasurement> watch(const std::vector<WordPair>& pairs, const LanguageModel& model,
                                   const Corpus& corpus, std::int64_t step) {
  std::vector<PairMeasurement> watched;
  for (const WordPair& words : pairs) {
    const Dim a = words.word_token, b = words.looks_at_token;
    const Dim control = control_of(corpus.train, model.sizes.vocabulary, model.sizes.context, a, b);
    watched.push_back({step, words, watched.empty(), corpus.tokenizer.decode({control}),
                       watch_pair(model, corpus.train, a, b),
                       watch_pair(model, corpus.train, a, control)});
    const WatchedPair& pair = watched.back().pair;
    if (!std::isfinite(pair.attention + pair.association + pair.similarity))
      throw Diverged("the attention of " + support::quoted(words.word) +
                     " is not a number after step " + std::to_string(step));
  }
  return watched;
}

}  // namespace fledge::train
