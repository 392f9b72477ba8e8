#include "examples/fledge/train/samples.h"

#include <algorithm>
#include <unordered_set>

#include "engine/autograd.h"
#include "examples/fledge/train/source.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "nn/generate/sampler.h"
#include "nn/inspect/verbatim_overlap.h"

namespace fledge::train {

namespace {

constexpr std::size_t long_stretch = 20;  // characters; shorter ones are common phrases
constexpr Dim longest_sample = 200;
constexpr std::string_view line_break_mark = "⏎";

// The text on one line: what printable() changes, and a mark for each line break.
std::string on_one_line(std::string_view text, bool unicode) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n\t", at), text.size());
    line += support::printable(text.substr(at, end - at));
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
    used += support::display_width(text.substr(end, bytes));
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

SampleSizes final_sample_sizes(const Corpus& corpus) {
  const std::vector<std::size_t>& starts = corpus.train.starts;
  if (starts.empty()) return {3, longest_sample};
  std::size_t longest = 1;
  for (std::size_t line = 0; line + 1 < starts.size(); ++line)
    longest = std::max(longest, starts[line + 1] - starts[line]);
  return {20, std::min(static_cast<Dim>(longest), longest_sample)};
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
    const bool fits = support::display_width(rest) <= columns - indent;
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

std::string final_samples_text(const std::vector<std::string>& samples, bool are_lines,
                               bool unicode) {
  std::string text;
  if (are_lines) {
    for (const std::string& sample : samples) text += (text.empty() ? "" : "\n ") + sample;
    return sample_rows(text, support::text_width(stderr), 2, 6, unicode);
  }
  for (const std::string& sample : samples)
    text += (text.empty() ? "" : "\n\n") +
            sample_rows(sample, support::text_width(stderr), 2, 4, unicode);
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
  report += support::formatted("%.0f %%", 100 * found.share) +
            " of these samples are copies from your text (counted: passages of at least " +
            std::to_string(long_stretch) +
            " characters). The longest passage that also occurs in your text has " +
            support::counted(static_cast<std::int64_t>(found.longest), "character") + ".";
  return report;
}

}  // namespace fledge::train
