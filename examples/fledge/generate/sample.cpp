#include "examples/fledge/generate/sample.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "examples/fledge/train/source.h"
#include "examples/support/text.h"
#include "nn/io/files.h"

namespace fledge {

namespace {

constexpr std::size_t most_choices = 5;
constexpr int choice_columns = 16, name_columns = 6;  // five fit into 80 columns

/// The bytes of a growing text that can be shown: all but an end that may become `stop`, or a code
/// point of UTF-8. "": there is no stop string.
std::size_t final_size(std::string_view text, std::string_view stop) {
  std::size_t held = stop.empty() ? 0 : std::min(stop.size() - 1, text.size());
  while (held > 0 && text.substr(text.size() - held) != stop.substr(0, held)) --held;
  text.remove_suffix(held);
  for (std::size_t bytes = 1; bytes <= std::min<std::size_t>(3, text.size()); ++bytes) {
    const auto byte = static_cast<unsigned char>(text[text.size() - bytes]);
    if (byte < 0x80) break;
    if (byte < 0xC0) continue;  // not the first byte of a code point
    const std::size_t length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return bytes < length ? text.size() - bytes : text.size();
  }
  return text.size();
}

DrawnToken drawn_token(const Array& logits, const SampleOptions& options, Dim token, Dim position) {
  DrawnToken step{{token, 0, 0}, {}, position};
  for (const Choice& choice : choices(logits, options)) {
    const auto rank = static_cast<Dim>(step.likeliest.size()) + 1;
    step.likeliest.push_back({choice.token, choice.probability, rank});
    if (choice.token == token) step.drawn = step.likeliest.back();
  }
  if (step.likeliest.size() > most_choices) {
    step.likeliest.resize(most_choices);
    if (step.drawn.rank > static_cast<Dim>(most_choices)) step.likeliest.back() = step.drawn;
  }
  return step;
}

/// What the lines of --probs mean.
std::string probabilities_title(const SampleOptions& options, int columns) {
  std::string settings = support::formatted("temperature %g", options.temperature);
  if (options.top_k > 0) settings += ", top-k " + std::to_string(options.top_k);
  if (options.top_p < 1) settings += support::formatted(", top-p %g", options.top_p);
  return support::wrapped("The likeliest tokens of each step and their probabilities at " +
                              settings + ". The one in brackets was drawn.",
                          columns) +
         "\n";
}

/// A line: the likeliest tokens with their probabilities, the drawn one in brackets.
std::string probabilities_text(const DrawnToken& step, const Tokenizer& tokenizer, int columns,
                               support::Paint paint) {
  const bool unicode = support::unicode_wanted();
  std::vector<RankedChoice> fitting = step.likeliest;
  const auto room = static_cast<std::size_t>(std::max(1, columns / choice_columns));
  if (room < fitting.size()) {
    fitting.resize(room);
    if (step.drawn.rank > static_cast<Dim>(room)) fitting.back() = step.drawn;
  }
  std::string line;
  for (const RankedChoice& choice : fitting) {
    const std::string name =
        support::cut(support::token_label(tokenizer.decode({choice.token}), unicode), name_columns,
                     unicode ? "…" : ".");
    const std::string text = name + " " + support::percent(choice.probability);
    const bool is_drawn = choice.token == step.drawn.token;
    line +=
        support::pad_right(is_drawn ? paint.accent("[" + text + "]") : " " + text, choice_columns);
  }
  return line.erase(line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::string piece_of(const Tokenizer& tokenizer, Dim token, Dim before) {
  if (before < 0) return tokenizer.decode({token});
  return tokenizer.decode({before, token}).substr(tokenizer.decode({before}).size());
}

std::string shown(const std::string& text, bool raw) {
  if (raw) return text;
  std::string result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result += support::printable(text.substr(begin, end - begin));
    if (end < text.size()) result += '\n';
    begin = end + 1;
  }
  return result;
}

void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

Task task_of(const GenerateConfig& config, const TrainedModel& trained) {
  Task task{config, trained, config.prompt, {}};
  if (task.prompt == "-") task.prompt = trained.file_text("-");
  task.prompt = trained.readable(std::move(task.prompt), "the prompt");
  if (trained.form == TextForm::token_ids && task.prompt.empty())
    throw support::InputError("--tokens-in needs a prompt: got none",
                              "write token numbers, such as \"15 7\"");
  const Tokenizer& tokenizer = trained.tokenizer();
  if (config.skip_unknown) task.prompt = train::known_text(tokenizer, task.prompt, "the prompt");
  train::Prompt prompt =
      train::prompt_of(tokenizer, task.prompt, trained.lines, "the prompt", 0, true);
  task.is_prompt = !prompt.is_empty();
  task.ids = std::move(prompt.ids);
  return task;
}

Sample sample_of(const Task& task, Rng rng) {
  const GenerateConfig& config = task.config;
  const Tokenizer& tokenizer = task.trained.tokenizer();
  const std::string& stop = config.stop;
  Sample sample;
  sample.ids = task.ids;
  sample.read = static_cast<Dim>(task.ids.size());
  std::size_t printed = 0;  // bytes of the sample's text
  const auto print_up_to = [&](std::size_t end) {
    if (!task.streams) return;
    put(shown(sample.text.substr(printed, end - printed), task.raw));
    std::fflush(stdout);
    printed = end;
  };
  Decoder decoder(task.trained.model, task.trained.without_text());
  const auto take = [&](Dim token, const Array& logits) {
    sample.read = static_cast<Dim>(sample.ids.size());
    if (task.trained.ends_text(token)) return false;
    if (config.probs) {
      sample.steps.push_back(drawn_token(logits, config.choice, token, sample.read));
      if (task.is_for_people())
        put(probabilities_text(sample.steps.back(), tokenizer, task.columns, task.paint));
    }
    const bool joins = task.is_prompt || !sample.seen.empty();
    const Dim before = joins ? sample.ids.back() : -1;
    sample.ids.push_back(token);
    sample.seen.push_back(decoder.length());
    const std::size_t searched = sample.text.size();
    sample.pieces.push_back(piece_of(tokenizer, token, before));
    sample.text += sample.pieces.back();
    const std::size_t first = searched - std::min(searched, stop.size());
    const std::size_t end = stop.empty() ? std::string::npos : sample.text.find(stop, first);
    const bool goes_on = end == std::string::npos;
    if (!goes_on) sample.text.resize(end);
    print_up_to(goes_on ? final_size(sample.text, stop) : end);
    return goes_on;
  };
  if (task.streams) put(shown(task.prompt, task.raw));
  if (config.probs && task.is_for_people()) put(probabilities_title(config.choice, task.columns));
  generate(decoder, task.ids, config.tokens_out, config.choice, rng, take);
  print_up_to(sample.text.size());
  if (config.attention) {
    sample.attention = attention_weights(decoder, tokenizer);
    sample.attention->begin = sample.read - sample.attention->size();
  }
  return sample;
}

double DrawnToken::surprise() const { return -std::log2(drawn.probability); }

Json as_json(const std::vector<DrawnToken>& steps, const Tokenizer& tokenizer) {
  std::vector<Json> all;
  for (const DrawnToken& step : steps) {
    support::Rows likeliest({"id", "token", "probability", "rank"});
    for (const RankedChoice& choice : step.likeliest)
      likeliest.add(
          {choice.token, tokenizer.decode({choice.token}), choice.probability, choice.rank});
    all.push_back(Json::object({{"position", step.position},
                                {"id", step.drawn.token},
                                {"token", utf8_text(tokenizer.decode({step.drawn.token}))},
                                {"probability", step.drawn.probability},
                                {"rank", step.drawn.rank},
                                {"likeliest", likeliest.json()}}));
  }
  return all;
}

support::Rows probability_rows(const std::vector<DrawnToken>& steps, const Tokenizer& tokenizer) {
  support::Rows rows({"position", "rank", "id", "token", "probability", "drawn"});
  for (const DrawnToken& step : steps)
    for (const RankedChoice& choice : step.likeliest)
      rows.add({step.position, choice.rank, choice.token, tokenizer.decode({choice.token}),
                choice.probability, choice.token == step.drawn.token ? 1 : 0});
  return rows;
}

}  // namespace fledge
