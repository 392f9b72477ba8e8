// From text to text: every stage of a language model, what its loss means, and what it is worth.
//
// Works out note 002's pipeline (002.1, 002.6) and note 003's first line (003.1). Key idea: a
// language model is a function from the words so far to probabilities of the next word. Its loss
// stands between two numbers that need no model: that of guessing, and the floor of the text.
// Next: lesson 19; nn/gpt/language_model.cpp, nn/train/trainer.cpp.
#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "examples/lessons/attention/blanks.h"
#include "examples/lessons/lesson_page.h"
#include "examples/support/errors.h"
#include "examples/support/table.h"
#include "nn/inspect/least_loss.h"
#include "nn/inspect/ngram_losses.h"
#include "nn/train/trainer.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

/// The same model before training and after it.
struct Models {
  Corpus corpus = birds::read_text();
  LanguageModel before = birds::new_model(corpus, 1), after = birds::new_model(corpus, 1);
  Models() { birds::train(after, corpus, 1); }
};

double sum_of_exp(const Array& logits) {
  double sum = 0;
  for (const double logit : to_vector(logits)) sum += std::exp(logit);
  return sum;
}

/// p = exp(logit) / (sum of exp of all logits), of the five likeliest words after a prompt.
void five_likeliest(Lesson& to, const Models& models, const std::string& prompt) {
  const std::vector<Dim> tokens = birds::beginning(models.corpus, prompt);
  Table table =
      Table::of_numbers({"   word", "before: logit", "exp", "p", "after: logit", "exp", "p"});
  const Array before = Decoder(models.before).read(tokens),
              after = Decoder(models.after).read(tokens);
  const double sum_before = sum_of_exp(before), sum_after = sum_of_exp(after);
  for (const auto& [token, p] : most_likely(after, 5)) {
    const double x = value_of(before[token]), y = value_of(after[token]);
    const std::string word = models.corpus.tokenizer.decode({token});
    table.row({"   " + (word == "\n" ? "line end" : word), formatted("%.2f", x),
               formatted("%.2f", std::exp(x)), formatted("%.4f", std::exp(x) / sum_before),
               formatted("%.2f", y), formatted("%.0f", std::exp(y)),
               formatted("%.4f", std::exp(y) / sum_after)});
  }
  table.row({"   all words", "", formatted("%.2f", sum_before), "1", "",
             formatted("%.0f", sum_after), "1"});
  to.show(table.text());
}

/// One stage of the model: what it makes, and the size of the table of numbers.
void stage(Lesson& to, const char* what, const Tensor& x) {
  const int rows = static_cast<int>(x.dim(-2)), columns = static_cast<int>(x.dim(-1));
  to.show(formatted("   %-44s %2d x %d", what, rows, columns));
}

void stages(Lesson& to, const Models& models) {
  to.part("The stages");
  to.define("corpus", "The text that a model learns from.");
  to.define("tokenizer", "The rule that cuts a text into tokens and gives each its number.");
  to.define("vocabulary", "All different tokens that a model knows.");
  to.define("prompt", "The beginning of a text that the model is to continue.");
  to.define("language model",
            "A function from the tokens so far to probabilities of the next token.");
  to.define("logit", "The score of a token before the softmax turns scores into probabilities.");
  to.define(
      "decoder",
      "The program part that reads a text token by token. It keeps the keys and values of earlier "
      "tokens, so it computes only the new token.");
  const Corpus& corpus = models.corpus;
  const std::vector<Dim> tokens = birds::beginning(corpus, "birds sometimes walk");
  std::string ids;
  for (const Dim token : tokens) ids += " " + std::to_string(token);
  to.say(
      formatted(
          "The corpus has %d sentences, with a line end before each and after the last. From the "
          "line end before it the model predicts the first word of a sentence. The vocabulary has "
          "%d tokens, with '.' and the line end; the two numbers are equal by accident. ",
          static_cast<int>(corpus.train.documents()), static_cast<int>(corpus.tokenizer.size())) +
      "The tokenizer turns a line end and the prompt 'birds sometimes walk' into four ids:" + ids +
      ". The stages, with rows by columns of what each one makes:\n");
  const NoGrad no_grad;
  const LanguageModel& model = models.after;
  const Indices row = birds::beginning_row(corpus, "birds sometimes walk");
  const Block& block = model.h[0];
  const Tensor x = embedding(model.wte.weight, model.wpe.weight, row);
  const auto [passed, weights] = block.attn.forward_with_weights(block.ln_1(x), causal());
  const Tensor seen = x + passed;
  const Tensor made = seen + block.mlp(block.ln_2(seen));
  const Tensor logits = matmul_transposed(model.ln_f(made), model.wte.weight);
  stage(to, "vectors x: embedding of each id + position", x);
  stage(to, "weights of attention, from layer norm(x)", weights);
  stage(to, "new x: x + result of attention", seen);
  stage(to, "new x: x + result of MLP of layer norm(x)", made);
  stage(to, "logits: layer norm(x) dot each embedding", logits);
  stage(to, "probabilities: softmax of each row", softmax(logits));
  to.say(
      "\nThe last row belongs to 'walk'. Each of its logits is the dot product of layer norm(x) "
      "with the embedding of one word. Its probabilities are those of the next word: p is "
      "exp(logit), divided by the sum over all words. The five likeliest words after training, "
      "with their numbers before training and after it:\n");
  five_likeliest(to, models, "birds sometimes walk");
  to.say(
      formatted("If you predicted about 1/79 = %.3f and then nearly 1, you are right. ",
                1.0 / static_cast<double>(corpus.tokenizer.size())) +
      "The decoder then reads the likeliest word too, predicts the next one, and so on until the "
      "line end. After two prompts, 'people sometimes' and 'but birds are good at', it writes:\n");
  for (std::string text : {"people", "but"}) {
    for (std::string next; next != "\n"; next = birds::complete(model, corpus, text).next)
      text += next.empty() ? "" : " " + next;
    to.show("   " + text);
  }
  to.show("");
  const Tensor whole = model(row);
  const Tensor last = Tensor(Decoder(model).read(tokens)) - slice(whole, 1, 3, 4);
  to.claim(max(pow(logits - whole, 2.0)).item() < 1e-8 && max(last * last).item() == 0,
           "the same logits in three ways: by these stages, by one call of the model, and by the "
           "decoder");
  to.claim(blanks::log_probability(model, corpus, blanks::slowly) > std::log(0.9),
           "after training p('slowly') is above 0.9");
  to.slip("003", "Tokenization (word \\rightarrow vector)",
          formatted("'birds' -> id %d; then id %d -> a vector of %d numbers",
                    static_cast<int>(tokens[1]), static_cast<int>(tokens[1]),
                    static_cast<int>(model.sizes.width)),
          "the tokenizer gives ids; the table of embeddings, which is learned, gives vectors");
}

void meaning_of_the_loss(Lesson& to, const Models& models) {
  to.part("What the loss means");
  to.define("batch", "The texts of one step; the step lowers the mean of their losses.");
  to.define("cross-entropy",
            "The mean of -ln p over all tokens, where p is the probability that the model gave to "
            "the right next token.");
  to.define("nat", "The unit of a loss that is computed with the natural logarithm ln.");
  to.define("baseline",
            "The result of a simple method, such as guessing or counting, with which the model is "
            "compared.");
  to.define(
      "entropy",
      "The mean loss on a text of a predictor that knows how often each next word follows in it. "
      "No predictor that sees the same words has a lower loss on this text.");
  const TokenText& text = models.corpus.train;
  to.say(
      "The loss of a language model is the cross-entropy, in nats. If a model gives k words the "
      "same probability and all others 0, then p is 1/k for each. If one of them follows, the loss "
      "is -ln(1/k) = ln k. So a loss of L is like a choice among exp(L) equally likely words.\nThe "
      "loss on a text has a floor. After 'birds sometimes walk slowly' it has '.', 'on' and "
      "'near', once each. At best each gets p = 1/3, a loss of ln 3 = 1.10. The mean of such "
      "losses over this text is its entropy. " +
      formatted("The model learned in 500 steps, each with a batch of 12 sentences. Losses on the "
                "corpus, mean of %d words and line ends:\n",
                static_cast<int>(text.size() - 1)));
  const double guessing = std::log(static_cast<double>(models.corpus.tokenizer.size()));
  const double before = mean_loss(models.before, text, 12);
  const double after = mean_loss(models.after, text, 12), floor = least_loss(text);
  Table table = Table::of_numbers({"   method", "loss", "exp(loss)"});
  const auto row = [&](const char* method, double loss) {
    table.row({method, formatted("%.3f", loss), formatted("%.2f", std::exp(loss))});
  };
  row("   baseline: guessing, all words equally likely", guessing);
  row("   the model before training", before);
  row("   the model after training", after);
  row("   floor: knows the whole sentence so far", floor);
  to.show(table.text());
  to.say("So the model has learned nearly all that this text tells about next words.\n");
  to.claim(std::abs(before - guessing) < 0.1, "before training: as good as guessing");
  to.claim(after > floor && after < floor + 0.05, "after training: less than 0.05 above the floor");
}

/// 300 steps on the corpus; the loss on the sentences set aside after 60 steps and after all.
std::vector<double> losses_set_aside(const Corpus& corpus, std::uint64_t seed) {
  const LanguageModel model = birds::new_model(corpus, seed);
  TrainerOptions options;
  options.schedule = {.rate = 0.02, .warmup = 20, .steps = 300};
  options.seed = seed;
  Trainer trainer(model, corpus.train, options);
  std::vector<double> losses;
  for (int step = 1; step <= 300; ++step) {
    trainer.step();
    if (step == 60 || step == 300) losses.push_back(mean_loss(model, corpus.valid, 12));
  }
  return losses;
}

void against_counting(Lesson& to) {
  to.part("New sentences: the model against counting");
  to.define("n-gram", "A sequence of n tokens in a row.");
  to.define(
      "counting table",
      "A predictor that counts in the training text which token follows the last few tokens.");
  to.define("overfitting",
            "Learning the training text so closely that the loss on other text rises.");
  to.say(
      "To reach the floor it is enough to learn all sentences by heart. So the test is new "
      "sentences. A tenth of the sentences, chosen at random, is set aside, and all methods learn "
      "from the others. A counting table that looks at 2 words counts n-grams with n = 3. It mixes "
      "in the probabilities of the shorter n-grams, so it can also predict after words that it "
      "never read together. The loss on the sentences set aside, mean of 20 seeds:\n");
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
  for (std::size_t i = 0; i < 4; ++i)
    to.show(formatted("   counting table, %zu words before   %.2f", i, tables[i]));
  to.show(formatted("   model after 60 steps             %.2f", models[0]));
  to.show(formatted("   model after 300 steps            %.2f\n", models[1]));
  to.say(
      "A counting table treats each n-gram by itself. In the model all words share the same "
      "matrices, so each sentence also teaches something about other sentences. For example, the "
      "sentences about cats change the same W_Q that 'walk' uses in the sentences about birds. But "
      "after 300 steps the model is worse than after 60. This is overfitting.\n");
  to.claim_rate(early, 20, 15, "after 60 steps it beats all four tables");
  to.claim_rate(worse, 20, 15, "240 more steps raise the loss");
}

void lesson(Lesson& to) {
  const Models models;
  stages(to, models);
  meaning_of_the_loss(to, models);
  against_counting(to);
}

void with_prompt(Lesson& to, const std::string& prompt) {
  const Models models;
  support::with_advice("give words of the built-in text, such as \"but cats are good at\"",
                       [&] { five_likeliest(to, models, prompt); });
  to.say("See that a higher logit by 1 means a probability exp(1) = 2.72 times as large.");
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/18_text_to_text",
       .title = "From text to text",
       .question = "A trained model reads 'birds sometimes walk' and writes the next word. What "
                   "does it compute on the way? And how good can it become?",
       .prediction =
           "The text has 79 different tokens. After 'birds sometimes walk' it always has 'slowly'. "
           "Which probability does the model give 'slowly' before training, and after it?",
       .body = fledge::lesson,
       .reading = {{"nn/gpt/language_model.cpp", "LanguageModel", "the stages, for any sizes"},
                   {"nn/text/tokenizer.h", "Tokenizer", "from text to ids and back"},
                   {"nn/train/trainer.cpp", "Trainer", "one step: batch, loss, gradient, update"}},
       .plays = {{.option = "--prompt",
                  .value = "but cats are good at",
                  .help = "the five likeliest next words, before training and after it",
                  .with_text = fledge::with_prompt}}});
}
