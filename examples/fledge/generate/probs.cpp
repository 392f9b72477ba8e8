#include "examples/fledge/generate/probs.h"

#include <algorithm>
#include <cmath>

#include "examples/support/text.h"

namespace fledge {

namespace {

constexpr std::size_t most_choices = 5;
constexpr int choice_columns = 16, name_columns = 6;  // five fit into 80 columns

}  // namespace

double DrawnToken::surprise() const { return -std::log2(drawn.probability); }

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

std::string probabilities_title(const SampleOptions& options, int columns) {
  std::string settings = support::formatted("temperature %g", options.temperature);
  if (options.top_k > 0) settings += ", top-k " + std::to_string(options.top_k);
  if (options.top_p < 1) settings += support::formatted(", top-p %g", options.top_p);
  return support::wrapped("The likeliest tokens of each step and their probabilities at " +
                              settings + ". The one in brackets was drawn.",
                          columns) +
         "\n";
}

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
