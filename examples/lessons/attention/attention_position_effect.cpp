// Attention, position, effect: what a large attention weight proves, and what it does not.
#include "examples/lessons/attention/blanks.h"
#include "examples/support/options.h"
#include "nn/inspect/probes.h"

namespace fledge::lessons::in_attention_position_effect {
using blanks::Blank, blanks::models, blanks::seeds, blanks::text;
using Numbers = std::vector<double>;  // one for each seed

int count_above(const Numbers& x, double limit) {
  return count_of(x, [&](double v) { return v > limit; });
}

/// Two decimals, and 0.00 for what rounds to -0.00.
std::string two_digits(double x) { return formatted("%.2f", std::round(100 * x) / 100 + 0.0); }

/// A word of a prompt, the line end before it included: what each model does with it.
struct Word {
  std::string word;
  Numbers weights;  // that the last word gives to it
  Numbers effects;  // ln p(next) - ln p(next with this word hidden); none for the last word
  int largest = 0;  // how many models give it their largest weight
};

std::vector<Word> measure(const std::vector<LanguageModel>& models, const Blank& blank) {
  const std::vector<Dim> tokens = birds::beginning(text(), blank.prompt);
  const std::size_t T = tokens.size();
  std::vector<Word> words(T);
  for (std::size_t j = 0; j < T; ++j)
    words[j].word = blanks::word_of(text(), tokens[j], "line end");
  for (const LanguageModel& model : models) {
    const Numbers last = blanks::last_row(model, text(), blank.prompt);
    const Ablation hidden = ablate_tokens(model, tokens, *text().tokenizer.find(blank.word));
    for (std::size_t j = 0; j < T; ++j) words[j].weights.push_back(last[j]);
    for (std::size_t j = 0; j + 1 < T; ++j)
      words[j].effects.push_back(hidden.log_p - hidden.without[j]);
    ++words[static_cast<std::size_t>(std::max_element(last.begin(), last.end()) - last.begin())]
          .largest;
  }
  return words;
}

void content_or_position(LessonText& to) {
  std::vector<std::vector<Word>> seen;
  const std::vector<std::string> columns = {"on", "grass", "birds", "sometimes"};
  Table table = Table::of_numbers({"   sentence", "on", "grass", "birds", "sometimes"});
  for (const char* prompt : {"birds sometimes walk", "grass sometimes walk", "sometimes birds walk",
                             "on grass birds sometimes walk"}) {
    const std::vector<Word>& words = seen.emplace_back(measure(models(), {prompt, "slowly"}));
    std::vector<std::string> cells = {std::string("   ") + prompt, "", "", "", ""};
    for (std::size_t j = 1; j + 1 < words.size(); ++j)
      for (std::size_t c = 0; c < columns.size(); ++c)
        if (columns[c] == words[j].word)
          cells[c + 1] = formatted("%.2f (%2d)", mean_of(words[j].weights), words[j].largest);
    table.row(cells);
  }
  to.set("weights", table);
  const Numbers& moved = seen[2][2].weights;
  to.set_all("moved birds", mean_of(moved), "sometimes", mean_of(seen[0][2].weights), "third",
             mean_of(seen[3][3].weights), "third largest", seen[3][3].largest, "least",
             *std::min_element(moved.begin(), moved.end()), "most",
             *std::max_element(moved.begin(), moved.end()));
  to.claim_rate("birds first", seen[0][1].largest, seeds, 18);
  to.claim_rate("grass first", seen[1][1].largest, seeds, 14);
  to.claim("disagree", seen[2][1].largest >= 3 && seen[2][2].largest >= 3);
}

const Blank walk{"birds sometimes", "walk"};
const birds::Watch looks{"birds sometimes walk", "walk", "birds"};

void attention_or_effect(LessonText& to) {
  Table table = Table::of_numbers({"   word, hidden", "weight", "effect", "p halved, of 20"});
  std::vector<std::vector<Word>> found;
  for (const Blank& blank : {blanks::slowly, blanks::flying, walk}) {
    const std::vector<Word>& words = found.emplace_back(measure(models(), blank));
    for (std::size_t j = 1; j + 1 < words.size(); ++j)
      table.row({"   '" + blank.word + "' without '" + words[j].word + "'",
                 two_digits(mean_of(words[j].weights)), two_digits(median_of(words[j].effects)),
                 std::to_string(count_above(words[j].effects, std::log(2)))});
  }
  to.set("effects", table);
  const double slowly = median_of(found[0][1].effects);
  to.set("effect", slowly);
  const auto halved = [&](std::size_t prompt, std::size_t j) {
    return count_above(found[prompt][j].effects, std::log(2));
  };
  to.claim_rate("slowly", halved(0, 1), seeds, 16);
  to.claim_rate("flying", halved(1, 2), seeds, 11);
  to.claim_rate("but, good", seeds - std::max(halved(1, 1), halved(1, 4)), seeds, 17);
  to.claim_rate("walk", seeds - halved(2, 1), seeds, 18);
}

/// The cosine of the embeddings of 'walk' and of 'birds'.
double own_cosine(const LanguageModel& model) {
  return cosine(row(model.wte.weight, *text().tokenizer.find("walk")),
                row(model.wte.weight, *text().tokenizer.find("birds")));
}

void own_vectors(LessonText& to) {
  Numbers before, after, received_before, received;
  int apart = 0;
  for (const LanguageModel& model : models()) {
    const LanguageModel untrained = birds::new_model(text(), before.size() + 1);
    before.push_back(own_cosine(untrained));
    received_before.push_back(birds::watch(untrained, text(), looks).association);
    after.push_back(own_cosine(model));
    received.push_back(birds::watch(model, text(), looks).association);
    apart += after.back() < before.back() ? 1 : 0;
  }
  to.set_all("cosine before", mean_of(before), "cosine after", mean_of(after), "received before",
             mean_of(received_before), "received after", mean_of(received));
  to.claim_rate("cosine falls", apart, seeds, 12);
  to.claim_rate("received", count_above(received, 0.9), seeds, 18);
}

/// The text without the sentences that begin in one of these ways.
Corpus text_without(const std::vector<std::string>& beginnings) {
  std::string kept;
  std::istringstream lines{std::string(support::built_in_text())};
  for (std::string line; std::getline(lines, line);)
    if (std::none_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& start) { return line.starts_with(start); }))
      kept += line + "\n";
  return read_corpus(kept, {.reading = Reading::lines, .tokens = Tokens::word, .valid = 0});
}

void other_sentences(LessonText& to, const std::string& how_many) {
  std::int64_t count = 0;
  const std::string rule = support::number_variable(count, {1, 100}).set(how_many);
  if (!rule.empty())
    refuse_usage("the number of models must be " + rule + ": got " + support::quoted(how_many),
                 "give for example 10");
  Table table = Table::of_numbers({"   text", "sentences", "filled", "weight"});
  const std::vector<std::string> few = {"for walking birds", "but birds do not only walk"};
  const std::vector<std::string> more = {few[0], few[1], "for flying birds", "for watching birds"};
  int least_filled = static_cast<int>(count);
  double least_weight = 1;
  for (const auto& [what, left_out] : {std::pair{"whole", std::vector<std::string>{}},
                                       {"without 'floppy feet', 'not only walk'", few},
                                       {"also without 'for flying', 'for watching'", more}}) {
    const Corpus corpus = text_without(left_out);
    int filled = 0;
    Numbers weights;
    for (const LanguageModel& model : blanks::models_of(corpus, static_cast<int>(count))) {
      if (blanks::is_filled(model, corpus, blanks::slowly) &&
          blanks::is_filled(model, corpus, blanks::flying))
        ++filled;
      weights.push_back(birds::watch(model, corpus, looks).attention);
    }
    table.row("   %s | %d | %d | %s", what, int(corpus.train.documents()), filled,
              two_digits(mean_of(weights)).c_str());
    least_filled = std::min(least_filled, filled);
    least_weight = std::min(least_weight, mean_of(weights));
  }
  to.set_all("texts", table, "seeds", count);
  to.claim_rate("filled", least_filled, static_cast<int>(count),
                static_cast<int>((9 * count + 9) / 10));
  to.claim("weight", least_weight > 0.5);
}

const LessonProgram program({content_or_position, attention_or_effect, own_vectors},
                            other_sentences);

}  // namespace fledge::lessons::in_attention_position_effect
