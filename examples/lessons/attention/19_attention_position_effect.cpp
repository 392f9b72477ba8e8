// Attention, position, effect: what a large attention weight proves, and what it does not.
//
// Works out note 000: its motive (000.2), whether 'walk' finds 'birds' by content or by position
// (000.1), what 'flying' needs (000.26), whether the two words come closer (000.12). Key idea: a
// weight shows where a head looks. Only an experiment shows why, and what it changes.
// Next: lesson 20.
#include "examples/lessons/attention/blanks.h"
#include "examples/lessons/vocabulary.h"
#include "nn/inspect/ablation.h"

using namespace fledge;
using namespace support;

namespace {
using blanks::Blank;
using Models = std::vector<LanguageModel>;
using Numbers = std::vector<double>;  // one for each seed

constexpr int seeds = 20;

const Corpus& text() {
  static const Corpus corpus = birds::read_text();
  return corpus;
}

/// Models of the seeds 1 … count, trained on a text.
Models trained(const Corpus& corpus, int count) {
  Models models;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(count); ++seed) {
    models.push_back(birds::new_model(corpus, seed));
    birds::train(models.back(), corpus, seed);
  }
  return models;
}

double mean_of(const Numbers& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

/// The number in the middle; of two, their mean.
double median_of(Numbers x) {
  std::sort(x.begin(), x.end());
  return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2;
}

int count_above(const Numbers& x, double limit) {
  return static_cast<int>(std::count_if(x.begin(), x.end(), [&](double v) { return v > limit; }));
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

std::vector<Word> measure(const Models& models, const Blank& blank) {
  const std::vector<Dim> tokens = birds::beginning(text(), blank.prompt);
  const std::size_t T = tokens.size();
  std::vector<Word> words(T);
  for (std::size_t j = 0; j < T; ++j)
    words[j].word = j == 0 ? "line end" : text().tokenizer.decode({tokens[j]});
  for (const LanguageModel& model : models) {
    const Numbers rows = birds::attention_pattern(model, text(), blank.prompt);  // (T, T)
    const Numbers last(rows.end() - static_cast<std::ptrdiff_t>(T), rows.end());
    const Ablation hidden = ablate_tokens(model, tokens, *text().tokenizer.find(blank.word));
    for (std::size_t j = 0; j < T; ++j) words[j].weights.push_back(last[j]);
    for (std::size_t j = 0; j + 1 < T; ++j)
      words[j].effects.push_back(hidden.log_p - hidden.without[j]);
    ++words[static_cast<std::size_t>(std::max_element(last.begin(), last.end()) - last.begin())]
          .largest;
  }
  return words;
}

void content_or_position(LessonText& to, const Models& models) {
  std::vector<std::vector<Word>> seen;
  std::string lines;
  for (const char* prompt : {"birds sometimes walk", "grass sometimes walk", "sometimes birds walk",
                             "on grass birds sometimes walk"}) {
    const std::vector<Word>& words = seen.emplace_back(measure(models, {prompt, "slowly"}));
    lines += "   ";
    for (std::size_t j = 1; j + 1 < words.size(); ++j)
      lines +=
          words[j].word + formatted(" %.2f (%d)  ", mean_of(words[j].weights), words[j].largest);
    lines += "walk\n";
  }
  to.set("weights", lines);
  const Numbers& moved = seen[2][2].weights;
  to.set("moved birds", "%.2f", mean_of(moved));
  to.set("sometimes", "%.2f", mean_of(seen[0][2].weights));
  to.set("third", "%.2f", mean_of(seen[3][3].weights));
  to.set("third largest", "%d", seen[3][3].largest);
  to.set("least", "%.2f", *std::min_element(moved.begin(), moved.end()));
  to.set("most", "%.2f", *std::max_element(moved.begin(), moved.end()));
  to.claim_rate("birds first", seen[0][1].largest, seeds, 18);
  to.claim_rate("grass first", seen[1][1].largest, seeds, 14);
  to.claim("disagree", seen[2][1].largest >= 3 && seen[2][2].largest >= 3);
}

const Blank walk{"birds sometimes", "walk"};
const birds::Watch looks{"birds sometimes walk", "walk", "birds"};

void attention_or_effect(LessonText& to, const Models& models) {
  Table table = Table::of_numbers({"   word, hidden", "weight", "effect", "p halved, of 20"});
  std::vector<std::vector<Word>> found;
  for (const Blank& blank : {blanks::slowly, blanks::flying, walk}) {
    const std::vector<Word>& words = found.emplace_back(measure(models, blank));
    for (std::size_t j = 1; j + 1 < words.size(); ++j)
      table.row({"   '" + blank.word + "' without '" + words[j].word + "'",
                 two_digits(mean_of(words[j].weights)), two_digits(median_of(words[j].effects)),
                 std::to_string(count_above(words[j].effects, std::log(2)))});
  }
  to.set("effects", table.text());
  const double slowly = median_of(found[0][1].effects);
  to.set("effect", "%.4f", slowly);
  to.set("exp(effect)", "%.0f", std::exp(slowly));
  const auto halved = [&](std::size_t prompt, std::size_t j) {
    return count_above(found[prompt][j].effects, std::log(2));
  };
  to.claim_rate("slowly", halved(0, 1), seeds, 16);
  to.claim_rate("flying", halved(1, 2), seeds, 11);
  to.claim_rate("but, good", seeds - std::max(halved(1, 1), halved(1, 4)), seeds, 17);
  to.claim_rate("walk", seeds - halved(2, 1), seeds, 18);
}

/// The cosine of the embeddings of 'walk' and of 'birds'.
double cosine(const LanguageModel& model) {
  const auto embedding_of = [&](const char* word) {
    const Dim token = *text().tokenizer.find(word);
    return slice(model.wte.weight, 0, token, token + 1);
  };
  const Tensor a = embedding_of("walk"), b = embedding_of("birds");
  return (sum(a * b) / pow(sum(a * a) * sum(b * b), 0.5)).item();
}

void own_vectors(LessonText& to, const Models& models) {
  Numbers before, after, received_before, received;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const LanguageModel& model = models[seed - 1];
    const LanguageModel untrained = birds::new_model(text(), seed);
    before.push_back(cosine(untrained));
    received_before.push_back(birds::watch(untrained, text(), looks).association);
    after.push_back(cosine(model));
    received.push_back(birds::watch(model, text(), looks).association);
  }
  to.set("cosine before", "%.2f", mean_of(before));
  to.set("cosine after", "%.2f", mean_of(after));
  to.set("received before", "%.2f", mean_of(received_before));
  to.set("received after", "%.2f", mean_of(received));
  int apart = 0;
  for (std::size_t i = 0; i < seeds; ++i) apart += after[i] < before[i] ? 1 : 0;
  to.claim_rate("cosine falls", apart, seeds, 12);
  to.claim_rate("received", count_above(received, 0.9), seeds, 18);
}

/// The text without the sentences that begin in one of these ways.
Corpus text_without(const std::vector<std::string>& beginnings) {
  std::string kept;
  std::istringstream lines{std::string(built_in_text())};
  for (std::string line; std::getline(lines, line);)
    if (std::none_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& start) { return line.starts_with(start); }))
      kept += line + "\n";
  return read_corpus(kept, {.reading = Reading::lines, .tokens = Tokens::word, .valid = 0});
}

void other_sentences(LessonText& to) {
  Table table = Table::of_numbers({"   text", "sentences", "filled, of 10", "weight"});
  const std::vector<std::string> few = {"for walking birds", "but birds do not only walk"};
  const std::vector<std::string> more = {few[0], few[1], "for flying birds", "for watching birds"};
  int least_filled = 10;
  double least_weight = 1;
  for (const auto& [what, left_out] : {std::pair{"whole", std::vector<std::string>{}},
                                       {"without 'floppy feet', 'not only walk'", few},
                                       {"also without 'for flying', 'for watching'", more}}) {
    const Corpus corpus = text_without(left_out);
    int filled = 0;
    Numbers weights;
    for (const LanguageModel& model : trained(corpus, 10)) {
      if (blanks::is_filled(model, corpus, blanks::slowly) &&
          blanks::is_filled(model, corpus, blanks::flying))
        ++filled;
      weights.push_back(birds::watch(model, corpus, looks).attention);
    }
    table.row({formatted("   %s", what), std::to_string(corpus.train.documents()),
               std::to_string(filled), two_digits(mean_of(weights))});
    least_filled = std::min(least_filled, filled);
    least_weight = std::min(least_weight, mean_of(weights));
  }
  to.set("texts", table.text());
  to.claim_rate("filled", least_filled, 10, 9);
  to.claim("weight", least_weight > 0.5);
}

void lesson(LessonText& to) {
  const Models models = trained(text(), seeds);
  content_or_position(to, models);
  attention_or_effect(to, models);
  own_vectors(to, models);
  other_sentences(to);
}

/// The weights of the last word, and the effect of each word on the likeliest next word.
void with_sentence(Lesson& to, const std::string& sentence) {
  const char* advice = "give words of the built-in text, such as \"birds sometimes walk\"";
  with_advice(advice, [&] {
    if (const std::size_t n = birds::beginning(text(), sentence).size() - 1; n > 9)
      refuse_usage(formatted("a sentence must have at most 9 words: got %zu", n), advice);
    const Models one = trained(text(), 1);
    const auto [next, p] = birds::complete(one[0], text(), sentence);
    to.say(formatted("The likeliest next word is '%s', with p = %.3f. ",
                     next == "\n" ? "line end" : next.c_str(), p) +
           "Look whether the largest weight has the largest effect.\n");
    Table table = Table::of_numbers({"   word", "weight", "effect"});
    for (const Word& word : measure(one, {sentence, next}))
      table.row({"   " + word.word, two_digits(word.weights[0]),
                 word.effects.empty() ? "-" : two_digits(word.effects[0])});
    to.show(table.text());
  });
}
}  // namespace

int main(int argc, char** argv) {
  return run_lesson(argc, argv, {lesson}, {{"--sentence", with_sentence}});
}
