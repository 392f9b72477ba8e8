// Two layers that work together: the first looks one word back, the second finds the earlier place
// of the present word and looks at the word that followed it (Olsson et al. 2022, "In-context
// Learning and Induction Heads"). One layer cannot.
#include "examples/lessons/vocabulary.h"
#include "examples/support/drawn.h"
#include "nn/train/trainer.h"

namespace fledge::lessons::in_two_layers {

constexpr Dim words = 23, length = 23;              // in the vocabulary, and in a text
constexpr Dim V = words + 1, context = length + 1;  // with the line end
constexpr Dim C = V + context;
constexpr int steps = 1000, batch = 16, seeds = 6, controls = 3, every = 20;

/// A phrase of 8 to 12 different words, then a walk along it: three times of four the next word of the
/// phrase (after the last, the first), else any word of it. Word w is token w + 1, the letter 'a' + w.
std::string random_text(Rng& rng) {
  std::vector<Dim> phrase(words);
  std::iota(phrase.begin(), phrase.end(), Dim{0});
  rng.shuffle(phrase);
  const Dim size = 8 + rng.below(5);
  std::string text;
  for (Dim i = 0, at = 0; i < length; ++i, ++at) {
    if (i >= size && rng.below(4) == 0) at = rng.below(size);
    text += static_cast<char>('a' + phrase[static_cast<std::size_t>(at % size)]);
    text += i + 1 < length ? ' ' : '\n';
  }
  return text;
}

Tokenizer all_words() {
  std::string text = "\n";
  for (Dim w = 0; w < words; ++w) text += std::string(1, static_cast<char>('a' + w)) + " ";
  return {Tokens::word, text};
}

/// Words and positions begin as one-hot vectors, each in numbers of its own. W_V is the identity and
/// there is no MLP: so attention is all that learns.
LanguageModel new_model(Dim layers, Rng& rng) {
  LanguageModelSizes sizes{
      .vocabulary = V, .context = context, .layers = layers, .width = C, .hidden = 1};
  sizes.recipe.values = ValueMatrix::none;
  sizes.recipe.mlp = FeedForward::none;
  LanguageModel model(sizes, rng);
  Real* word = model.wte.weight.write();
  Real* position = model.wpe.weight.write();
  for (Dim i = 0; i < V * C; ++i) word[i] = Real(i % C == i / C ? 0.1 : 0);
  for (Dim i = 0; i < context * C; ++i) position[i] = Real(i % C == V + i / C ? 0.1 : 0);
  return model;
}

/// Means over all places whose next word followed the same word before.
struct Measures {
  double loss = 0;      // nats, of the next word
  double match = 0;     // the weight of the last layer on the word that followed before
  double one_back = 0;  // of the first layer on the word before, while the phrase is new
  double even = 0;      // an even split in these places
};
Measures measure(const LanguageModel& model, const Indices& texts) {
  const NoGrad no_grad;
  const auto [logits, weights] = model.forward_with_weights(texts);
  const Array log_p = log_softmax(logits).value();
  Measures sum;
  double known = 0, fresh = 0, even = 0;
  for (Dim b = 0; b < texts.shape()[0]; ++b) {
    const auto id = [&](Dim i) { return texts[b * context + i]; };
    std::vector<bool> seen(V);
    for (Dim i = 1; i < length; ++i) {
      if (!seen[static_cast<std::size_t>(id(i))] && i > 1)
        sum.one_back += value_of(weights[0].value().at({b, 0, i, i - 1})), ++fresh,
            even += 1 / static_cast<double>(i + 1);
      seen[static_cast<std::size_t>(id(i))] = true;
      bool is_known = false;
      double on_followers = 0;
      for (Dim j = 1; j < i; ++j)
        if (id(j) == id(i) && id(j + 1) == id(i + 1))
          on_followers += value_of(weights.back().value().at({b, 0, i, j + 1})), is_known = true;
      if (!is_known) continue;
      sum.match += on_followers, sum.loss -= value_of(log_p.at({b, i, id(i + 1)})), ++known;
    }
  }
  return {sum.loss / known, sum.match / known, sum.one_back / fresh, even / fresh};
}

Indices unseen_texts() {
  Rng rng(999);
  std::vector<Dim> ids;
  for (int i = 0; i < 32; ++i) {
    const std::vector<Dim> text = all_words().encode("\n" + random_text(rng));
    ids.insert(ids.end(), text.begin(), text.begin() + context);  // without the line end behind it
  }
  return {{32, context}, ids};
}

struct Run {
  std::vector<double> losses;  // before the first step, and after every 20 steps
  Measures end;
  double without_first = 0;  // the loss of the trained model whose first layer adds nothing
  /// The first step at which the loss is below a limit; -1: none.
  int falls_below(double limit) const {
    const auto at = std::find_if(losses.begin(), losses.end(), [&](double x) { return x < limit; });
    return at == losses.end() ? -1 : every * static_cast<int>(at - losses.begin());
  }
};
Run trained(Dim layers, std::uint64_t seed) {
  static const Indices unseen = unseen_texts();
  Rng rng(seed);
  const LanguageModel model = new_model(layers, rng);
  std::string text;
  for (int i = 0; i < steps * batch; ++i) text += random_text(rng);
  const Corpus corpus = read_corpus(text, {.reading = Reading::lines, .valid = 0}, all_words());
  TrainerOptions options;
  options.batch = batch;
  options.schedule = {.rate = 0.01, .warmup = 300, .steps = steps};
  options.decay = 0.01, options.beta2 = 0.999, options.seed = seed;
  Trainer trainer(model, corpus.train, options);
  Run run{{measure(model, unseen).loss}, {}};
  while (trainer.steps_done() < steps) {
    trainer.step();
    if (trainer.steps_done() % every == 0) run.losses.push_back(measure(model, unseen).loss);
  }
  run.end = measure(model, unseen);
  std::fill_n(model.h[0].attn.c_proj.weight.write(), C * C, Real(0));
  run.without_first = measure(model, unseen).loss;
  return run;
}

void two_and_one(LessonText& to) {
  Table table = Table::of_numbers(
      {"   layers, seed", "loss", "below 1.5 at", "one back", "match", "without layer 1"});
  std::string curves;
  std::vector<Run> two, one;
  for (int i = 0; i < seeds + controls; ++i) {
    const Dim layers = i < seeds ? 2 : 1;
    const int seed = i < seeds ? i + 1 : i - seeds + 1;
    const Run& run =
        (layers == 2 ? two : one).emplace_back(trained(layers, static_cast<std::uint64_t>(seed)));
    const int at = run.falls_below(1.5);
    const std::string name = formatted("   %d, seed %d", int(layers), seed);
    const auto of_two = [&](double x) { return layers == 2 ? formatted("%.2f", x) : "-"; };
    table.row({name, formatted("%.2f", run.end.loss), at < 0 ? "-" : std::to_string(at),
               formatted("%.2f", run.end.one_back), of_two(run.end.match),
               of_two(run.without_first)});
    curves += name + "   " + support::sparkline(run.losses, {0, std::log(double(words))}) + "\n";
  }
  double least_with = 1, most_of_one = 0, best_of_one = std::log(double(words));
  for (const Run& run : two)
    if (run.end.loss < 0.5) least_with = std::min(least_with, run.end.one_back);
  for (const Run& run : one) {
    most_of_one = std::max(most_of_one, run.end.one_back);
    best_of_one = std::min(best_of_one, run.end.loss);
  }
  to.set_all("table", table, "curves", curves, "ln n", std::log(double(words)), "floor",
             -std::log(0.75 + 0.25 / 10), "least with", least_with, "most of one", most_of_one,
             "even split", two[0].end.even, "best of one", best_of_one);
  const auto sudden = [](const Run& run) {
    return run.falls_below(1) >= 0 && run.falls_below(1) - run.falls_below(2) <= steps / 10;
  };
  to.claim_rate("two layers", count_of(two, [](const Run& r) { return r.end.loss < 0.5; }), seeds,
                4);
  to.claim_rate("sudden", count_of(two, sudden), seeds, 4);
  to.claim_rate("match", count_of(two, [](const Run& r) { return r.end.match > 0.9; }), seeds, 4);
  to.claim("one back", least_with > 1.5 * two[0].end.even && least_with > 5 * most_of_one);
  to.claim_rate("needs both", count_of(two, [](const Run& r) { return r.without_first > 2; }),
                seeds, 4);
  to.claim_rate("one layer", count_of(one, [](const Run& r) { return r.end.loss > 2.5; }), controls,
                controls);
}

const LessonProgram program({two_and_one});

}  // namespace fledge::lessons::in_two_layers
