// From text to text: every stage of a language model, what its loss means, and what it is worth.
#include "examples/lessons/attention/blanks.h"
#include "nn/inspect/ngram_losses.h"
#include "nn/train/trainer.h"

namespace fledge::lessons::in_text_to_text {

/// The same model before training and after it.
struct Models {
  Corpus corpus = birds::read_text();
  LanguageModel before = birds::new_model(corpus, 1), after = blanks::trained(corpus, 1);
};

/// p = exp(logit) / (sum of exp of all logits), of the five likeliest words after a prompt.
std::string five_likeliest(const Models& models, const std::string& prompt) {
  const std::vector<Dim> tokens = birds::beginning(models.corpus, prompt);
  Table table =
      Table::of_numbers({"   word", "before: logit", "exp", "p", "after: logit", "exp", "p"});
  const Array before = Decoder(models.before).read(tokens),
              after = Decoder(models.after).read(tokens);
  double sum_before = 0, sum_after = 0;
  for (const double logit : numbers(before)) sum_before += std::exp(logit);
  for (const double logit : numbers(after)) sum_after += std::exp(logit);
  for (const auto& [token, p] : most_likely(after, 5)) {
    const double x = value_of(before[token]), y = value_of(after[token]);
    const std::string word = blanks::word_of(models.corpus, token, "line end");
    table.row("   %s | %.3f | %.3f | %.4f | %.2f | %.0f | %.4f", word.c_str(), x, std::exp(x),
              std::exp(x) / sum_before, y, std::exp(y), std::exp(y) / sum_after);
  }
  table.row("   all words |  | %.2f | 1 |  | %.0f | 1", sum_before, sum_after);
  return table.text();
}

/// One stage of the model: what it makes, and the size of the table of numbers.
std::string stage(const char* what, const Tensor& x) {
  return formatted("   %-44s %2d x %d\n", what, int(x.dim(-2)), int(x.dim(-1)));
}

void stages(LessonText& to) {
  const Models models;
  const Corpus& corpus = models.corpus;
  const std::vector<Dim> tokens = birds::beginning(corpus, "birds sometimes walk");
  std::string ids;
  for (const Dim token : tokens) ids += " " + std::to_string(token);
  to.set_all("tokens", corpus.tokenizer.size(), "ids", ids);
  const NoGrad no_grad;
  const LanguageModel& model = models.after;
  const Indices row = birds::beginning_row(corpus, "birds sometimes walk");
  const Block& block = model.h[0];
  const Tensor x = embedding(model.wte.weight, model.wpe.weight, row);
  const auto [passed, weights] = block.attn.forward_with_weights(block.ln_1(x), causal());
  const Tensor seen = x + passed;
  const Tensor made = seen + block.mlp(block.ln_2(seen));
  const Tensor logits = matmul_transposed(model.ln_f(made), model.wte.weight);
  to.set_all("stages",
             stage("vectors: word + place", x) + stage("weights of attention", weights) +
                 stage("vectors, with what attention adds", seen) +
                 stage("vectors, with the second calculation", made) +
                 stage("logits: each vector with each word", logits) +
                 stage("probabilities of the next word", softmax(logits)),
             "likeliest", five_likeliest(models, "birds sometimes walk"), "even split",
             1.0 / static_cast<double>(corpus.tokenizer.size()));
  std::string written;
  for (std::string text : {"people", "but"}) {
    for (std::string next; next != "\n"; next = birds::complete(model, corpus, text).next)
      text += next.empty() ? "" : " " + next;
    written += "   " + text;
  }
  to.set("written", written);
  const Tensor whole = model(row);
  const Tensor last = Tensor(Decoder(model).read(tokens)) - slice(whole, 1, 3, 4);
  to.claim("three ways",
           max(pow(logits - whole, 2.0)).item() < 1e-8 && max(last * last).item() == 0);
  to.claim("after", blanks::log_probability(model, corpus, blanks::slowly) > std::log(0.9));
}

void meaning_of_the_loss(LessonText& to) {
  const Models models;
  const TokenText& text = models.corpus.train;
  to.set("predictions", text.size() - 1);
  const double guessing = std::log(static_cast<double>(models.corpus.tokenizer.size()));
  const double before = mean_loss(models.before, text, 12);
  const double after = mean_loss(models.after, text, 12), floor = least_loss(text);
  Table table = Table::of_numbers({"   method", "loss", "exp(loss)"});
  for (const auto& [method, loss] :
       {std::pair("baseline: guessing, all words equally likely", guessing),
        {"the model before training", before},
        {"the model after training", after},
        {"floor: knows the whole sentence so far", floor}})
    table.row("   %s | %.3f | %.2f", method, loss, std::exp(loss));
  to.set("losses", table);
  to.claim("before training", std::abs(before - guessing) < 0.1);
  to.claim("near the floor", after > floor && after < floor + 0.05);
}

/// 300 steps on the corpus; the loss on the sentences set aside after 60 steps and after all.
std::vector<double> losses_set_aside(const Corpus& corpus, std::uint64_t seed) {
  const LanguageModel model = birds::new_model(corpus, seed);
  Trainer trainer(model, corpus.train,
                  {.schedule = {.rate = 0.02, .warmup = 20, .steps = 300}, .seed = seed});
  std::vector<double> losses;
  for (int step = 1; step <= 300; ++step) {
    trainer.step();
    if (step == 60 || step == 300) losses.push_back(mean_loss(model, corpus.valid, 12));
  }
  return losses;
}

void against_counting(LessonText& to) {
  std::vector<double> tables(4), models(2);
  int early = 0, worse = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Corpus corpus =
        read_corpus(support::built_in_text(),
                    {.reading = Reading::lines, .tokens = Tokens::word, .seed = seed});
    const std::vector<double> counted =
        ngram_losses(corpus.train, corpus.valid, corpus.tokenizer.size(), 3);
    const std::vector<double> losses = losses_set_aside(corpus, seed);
    for (std::size_t i = 0; i < 4; ++i) tables[i] += counted[i] / 20;
    for (std::size_t i = 0; i < 2; ++i) models[i] += losses[i] / 20;
    early += losses[0] < *std::min_element(counted.begin(), counted.end()) ? 1 : 0;
    worse += losses[1] > losses[0] ? 1 : 0;
  }
  for (std::size_t i = 0; i < 4; ++i) to.set(formatted("table %zu", i), "%.2f", tables[i]);
  to.set_all("60 steps", models[0], "300 steps", models[1]);
  to.claim_rate("beats tables", early, 20, 15);
  to.claim_rate("overfits", worse, 20, 15);
}

const LessonProgram program({stages, meaning_of_the_loss, against_counting});

}  // namespace fledge::lessons::in_text_to_text
