#include "examples/fledge/generate/output.h"

#include <algorithm>

#include "examples/fledge/attention/attention_data.h"
#include "examples/fledge/attention/attention_picture.h"
#include "examples/fledge/attention/attention_report.h"
#include "examples/fledge/generate/why_report.h"
#include "examples/support/csv.h"
#include "examples/support/picture_file.h"
#include "examples/support/text.h"

namespace fledge {

namespace {

std::vector<HeadNumber> heads_of(const Written& written) {
  return chosen_heads(*written.sample.attention, written.task.config.heads);
}

/// Which tokens the weights are about, and the picture of them.
std::string attention_text(const Written& written) {
  const auto& [task, sample, number, why] = written;
  const AttentionWeights& attention = *sample.attention;
  support::MapStyle style;
  style.columns = task.columns;
  style.paint = task.paint;
  const std::string last = support::thousands(sample.read - 1);
  std::string text =
      "Attention over " + support::counted(attention.size(), "token") + ", " +
      (attention.size() == 1 ? "position " + last
                             : "positions " + support::thousands(attention.begin) + " to " + last) +
      " of the text, counted from 0.";
  if (sample.read < static_cast<Dim>(sample.ids.size()))
    text += " The last token of the text was drawn, but not read.";
  const std::vector<HeadNumber> heads = heads_of(written);
  const std::string hint =
      heads.size() == 1
          ? ""
          : support::wrapped("--layer N --head N shows one head large.", style.columns) + "\n";
  return support::wrapped(text, style.columns) + "\n" + attention_report(attention, heads, style) +
         hint;
}

/// The text with shades of surprise.
std::string surprise_text(const Written& written) {
  constexpr double most_bits = 6;
  const auto& [task, sample, number, why] = written;
  std::vector<support::ShadedPart> parts{{task.prompt, 0}};
  double bits = 0;
  for (std::size_t n = 0; n < sample.steps.size(); ++n) {
    const DrawnToken& step = sample.steps[n];
    bits += step.surprise();
    parts.push_back({sample.pieces[n], step.surprise() / most_bits});
  }
  const double mean = bits / static_cast<double>(std::max<std::size_t>(1, sample.steps.size()));
  return support::wrapped(
             "The text, darker where the token that was drawn is less probable. Mean "
             "surprise: " +
                 support::formatted("%.2f", mean) + " bits a token.",
             task.columns) +
         "\n" + support::painted_text(parts, task.columns, task.paint);
}

using Rows = std::vector<std::vector<std::string>>;

const std::vector<std::string>& columns_of(const GenerateConfig& config) {
  return config.attention ? attention_columns : config.probs ? probability_columns : why_columns;
}

Rows rows_of(const Written& written) {
  const auto& [task, sample, number, why] = written;
  const Tokenizer& tokenizer = task.trained.tokenizer();
  if (task.config.attention) return attention_rows(*sample.attention, heads_of(written));
  if (task.config.probs) return probability_rows(sample.steps, tokenizer);
  return why ? why_rows(*why, tokenizer) : Rows{};
}

}  // namespace

void print_rest(const Written& written) {
  const auto& [task, sample, number, why] = written;
  if (!task.streams) put(shown(task.prompt + sample.text, task.raw));
  if (!(task.prompt + sample.text).ends_with('\n')) put("\n");
  if (task.config.probs) put("\n" + surprise_text(written));
  if (task.config.attention) put("\n" + attention_text(written));
  if (why) put("\n" + why_text(*why, task.trained.tokenizer(), task.columns, task.paint));
}

void print_json(const Written& written) {
  const auto& [task, sample, number, why] = written;
  const GenerateConfig& config = task.config;
  const Tokenizer& tokenizer = task.trained.tokenizer();
  Json::Members members{{"prompt", task.prompt},
                        {"text", sample.text},
                        {"tokens", sample.ids.size() - task.ids.size()},
                        {"seed", config.seed}};
  if (config.is_numbered) members.emplace_back("sample", number);
  if (config.probs) members.emplace_back("probs", as_json(sample.steps, tokenizer));
  if (config.attention)
    members.emplace_back("attention", as_json(*sample.attention, heads_of(written)));
  if (!config.why.empty()) members.emplace_back("why", why ? as_json(*why, tokenizer) : Json());
  put(Json::object(members).text() + "\n");
}

void print_csv(const Written& written) {
  const GenerateConfig& config = written.task.config;
  const auto line = [&](const std::string& number, std::vector<std::string> fields) {
    if (config.is_numbered) fields.insert(fields.begin(), number);
    put(support::csv_row(fields));
  };
  if (written.number == 1) line("sample", columns_of(config));
  for (const auto& row : rows_of(written)) line(std::to_string(written.number), row);
}

void draw_picture(const Written& written) {
  support::write_picture(written.task.config.svg,
                         attention_picture(*written.sample.attention, heads_of(written)));
}

}  // namespace fledge
