#include "examples/fledge/train/report.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "engine/autograd.h"
#include "examples/fledge/train/source.h"
#include "examples/support/text.h"
#include "nn/generate/sampler.h"
#include "nn/inspect/ngram_losses.h"
#include "nn/inspect/verbatim_overlap.h"

namespace fledge::train {

using support::counted, support::formatted, support::printable, support::thousands,
    support::text_width, support::display_width;

namespace {

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

constexpr std::size_t long_stretch = 20;  // characters; shorter ones are common phrases
constexpr Dim longest_sample = 200;
constexpr std::string_view line_break_mark = "⏎";

// The text on one line: what printable() changes, and a mark for each line break.
std::string on_one_line(std::string_view text, bool unicode) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n\t", at), text.size());
    line += printable(text.substr(at, end - at));
    if (end < text.size()) line += text[end] == '\t' ? " " : unicode ? line_break_mark : "\\n";
    at = end + 1;
  }
  return line;
}

// The number of bytes at the beginning of the text that fit into the columns. With `keeps_words`
// they end at the last blank or line break, if there is one after the first third.
std::size_t fitting(std::string_view text, int columns, bool keeps_words) {
  int used = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t bytes = code_point_at(text, end).bytes;
    used += display_width(text.substr(end, bytes));
    if (used > columns) break;
    end += bytes;
  }
  end = std::max<std::size_t>(end, 1);
  if (!keeps_words || end == text.size() || text[end] == ' ') return end;
  for (std::size_t at = end; at > end / 3; --at)
    if (text[at] == ' ' || text.substr(0, at).ends_with(line_break_mark)) return at;
  return end;
}

}  // namespace

std::string token_word(Tokens kind) {
  return kind == Tokens::character ? "character"
         : kind == Tokens::word    ? "word"
         : kind == Tokens::byte    ? "byte"
                                   : "token";
}

Baselines baselines_of(const Corpus& corpus, const std::function<void(double)>& progress,
                       Dim most_counted, Dim most_measured) {
  Baselines result;
  const Dim V = corpus.tokenizer.size();
  result.uniform = std::log(static_cast<double>(V));
  const bool holds_out = corpus.valid.size() >= 2;
  const TokenText train = part_of(corpus.train, most_counted, true);
  const TokenText test =
      holds_out ? part_of(corpus.valid, most_measured, false) : part_of(train, most_measured, true);
  if (train.size() < corpus.train.size() || (holds_out && test.size() < corpus.valid.size())) {
    result.counted = train.size();
    result.measured = test.size();
  }
  result.counting = ngram_losses(train, test, V, 3, progress);
  return result;
}

double bits_per_byte(double loss, const TokenText& text, const Tokenizer& tokenizer) {
  const double bytes = static_cast<double>(tokenizer.decode(text.tokens).size());
  return loss / std::log(2.0) * static_cast<double>(text.tokens.size()) / bytes;
}

std::string text_report(const std::string& beginning, const Corpus& corpus) {
  const std::string token = token_word(corpus.tokenizer.kind());
  const auto size = [](const TokenText& text) { return static_cast<Dim>(text.tokens.size()); };
  std::string text = beginning + " " + counted(corpus.facts.bytes, "byte");
  if (!corpus.train.starts.empty()) text += ", " + counted(corpus.facts.documents, "line");
  text += ": " + counted(size(corpus.train) + size(corpus.valid), token) + ", " +
          thousands(corpus.tokenizer.size()) + " different.";
  if (corpus.valid.size() > 0)
    text += " " + thousands(size(corpus.valid)) +
            " are held out: they measure the model and do not train it.";
  return text;
}

std::string split_report(const CorpusFacts& facts, const std::string& token,
                         const std::string& folder) {
  std::string text;
  if (facts.repeated > 0) {
    constexpr double most_share = 0.1;
    const double percent = 100 * facts.repeated_share;
    text = counted(facts.repeated, "held-out line") + " also " +
           (facts.repeated == 1 ? "occurs" : "occur") + " in the training text: " +
           (percent < 0.5 ? "less than 1" : formatted("%.0f", percent)) +
           " % of the held-out characters.";
    if (facts.repeated_share > most_share) {
      text += " So the held-out loss is too optimistic. Remove repeated lines";
      if (!folder.empty())
        text += ", or judge the model by another text: fledge eval " + folder + " FILE";
      text += ".";
    }
  }
  if (facts.unseen > 0)
    text += (text.empty() ? "" : "\n") + counted(facts.unseen, "held-out " + token) + " never " +
            (facts.unseen == 1 ? "occurs" : "occur") + " in the training text.";
  return text;
}

std::string model_report(const LanguageModel& model) {
  const LanguageModelSizes& s = model.sizes;
  return "The model: " + counted(s.layers, "layer") + ", " + counted(s.heads, "head") + ", width " +
         thousands(s.width) + ", context " + thousands(s.context) + "; " +
         counted(count_parameters(model), "parameter") + ".";
}

std::string variant_report(const Recipe& recipe) {
  const auto listed = [](const std::string& title, const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? title + ": " : ", ") + word;
    return text.empty() ? text : text + ". ";
  };
  std::string text = listed("Left out", words_of_none(recipe)) +
                     listed("Frozen", words_of_none(recipe.learned)) +
                     (recipe.tie_qk ? "W_Q and W_K are the same matrix. " : "");
  if (!text.empty()) text.pop_back();
  return text;
}

std::string cheating_report(const std::string& token) {
  return "Without the mask each position but the last sees the " + token +
         " that it must predict. This model can cheat: its loss is not a prediction.";
}

std::string baseline_report(const Baselines& baselines, const std::string& token) {
  std::string text = "Losses to beat, in nats per " + token + ": guessing blindly " +
                     formatted("%.3f", baselines.uniform) + "; counting tables with ";
  std::string histories, losses;
  for (std::size_t n = 0; n < baselines.counting.size(); ++n) {
    histories += (n > 0 ? ", " : "") + std::to_string(n);
    losses += (n > 0 ? ", " : "") + formatted("%.3f", baselines.counting[n]);
  }
  text += histories + " " + token + "s of history " + losses + ".";
  if (baselines.counted > 0)
    text += " The text is long: these tables are counted on " + thousands(baselines.counted) +
            " of its " + token + "s and measured on " + thousands(baselines.measured) + ".";
  return text;
}

std::string loss_sentence(const std::string& name, double loss, double bits, double uniform,
                          const std::string& token) {
  return name + formatted(" %.4f nats per ", loss) + token +
         formatted(" (%.3f bits per byte): ", bits) +
         (loss < uniform ? formatted("like choosing among %.1f ", std::exp(loss)) + token + "s."
                         : "worse than guessing blindly.");
}

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
  for (std::size_t n = 0; n < baselines.counting.size(); ++n) {
    const std::string history =
        n == 0 ? "no history" : counted(static_cast<std::int64_t>(n), token) + " of history";
    const bool beaten = loss < baselines.counting[n];
    row("counting table, " + history, baselines.counting[n],
        "  " + (beaten ? paint.good("beaten") : paint.bad("not beaten")));
  }
  return text;
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

Dim longest_document(const TokenText& text) {
  std::size_t longest = 0;
  for (std::size_t d = 0; d + 1 < text.starts.size(); ++d)
    longest = std::max(longest, text.starts[d + 1] - text.starts[d]);
  return static_cast<Dim>(longest);
}

std::vector<std::string> final_samples(const Trainer& trainer, const TrainConfig& config,
                                       const Corpus& corpus) {
  const bool are_lines = config.corpus.reading == Reading::lines;
  const Dim tokens =
      are_lines ? std::min(longest_document(corpus.train), longest_sample) : longest_sample;
  std::vector<std::string> samples;
  for (std::int64_t i = 1; i <= (are_lines ? 20 : 3); ++i)
    samples.push_back(draw_sample(trainer, config, corpus, tokens, -i));
  return samples;
}

std::string sample_rows(std::string_view text, int columns, int indent, int most_rows,
                        bool unicode) {
  const std::string line = on_one_line(text, unicode),
                    margin(static_cast<std::size_t>(indent), ' ');
  std::string_view rest = line;
  std::string rows;
  for (int row = 1; row <= most_rows; ++row) {
    const bool is_last = row == most_rows;
    const int width = columns - indent - (is_last ? 3 : 0);  // room for "..."
    const bool fits = display_width(rest) <= columns - indent;
    const std::size_t end = fits ? rest.size() : fitting(rest, width, most_rows > 1);
    const std::size_t last = rest.substr(0, end).find_last_not_of(' ');
    rows += (row > 1 ? "\n" : "") + margin + std::string(rest.substr(0, last + 1));
    rest.remove_prefix(end);
    if (rest.starts_with(' ')) rest.remove_prefix(1);
    if (fits) break;
    if (is_last) rows += unicode ? "…" : "...";
  }
  return rows;
}

std::string final_samples_text(const std::vector<std::string>& samples, bool are_lines) {
  const bool unicode = support::unicode_wanted();
  std::string text;
  if (are_lines) {
    for (const std::string& sample : samples) text += (text.empty() ? "" : "\n ") + sample;
    return sample_rows(text, text_width(stderr), 2, 6, unicode);
  }
  for (const std::string& sample : samples)
    text += (text.empty() ? "" : "\n\n") + sample_rows(sample, text_width(stderr), 2, 4, unicode);
  return text;
}

std::string copied_report(const std::vector<std::string>& samples, const Corpus& corpus) {
  const std::string text = corpus.tokenizer.decode(corpus.train.tokens);
  std::string all, report;
  for (const std::string& sample : samples) all += sample + '\x01';  // no stretch goes over it
  if (corpus.train.documents() > 0) {
    const std::vector<std::string_view> lines = lines_of(text);
    const std::unordered_set<std::string_view> known(lines.begin(), lines.end());
    const auto found = std::count_if(samples.begin(), samples.end(),
                                     [&](const std::string& line) { return known.contains(line); });
    report =
        std::to_string(found) + " of the " + std::to_string(samples.size()) + " sampled lines " +
        (found == 1 ? "stands" : "stand") +
        (found == 1 ? " in the training text as it is." : " in the training text as they are.");
  }
  const VerbatimOverlap found = verbatim_overlap(all, text, long_stretch);
  if (!report.empty() && found.share == 0) return report;
  report += report.empty() ? "" : "\n";
  report += formatted("%.0f %%", 100 * found.share) +
            " of these samples are copies from your text (counted: passages of at least " +
            std::to_string(long_stretch) +
            " characters). The longest passage that also occurs in your text has " +
            counted(static_cast<std::int64_t>(found.longest), "character") + ".";
  return report;
}

}  // namespace fledge::train
