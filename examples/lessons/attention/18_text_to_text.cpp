// From text to text: the whole pipeline, each stage with its shape and some of its numbers.
//
// Works out note 002 (attention intuition), what stands before and behind attention: text, tokens,
// vectors, attention with MLP and LayerNorm, logits, probabilities, a word. Adds to lessons 11 to
// 16 what a model is for: to learn from a text, be compared with counting, and write.
// Key idea: a language model is a function from the words so far to a distribution over the next.
// Next: nn/gpt/language_model.cpp, nn/train/trainer.cpp, nn/gpt/decoder.cpp.
#include <algorithm>

#include "engine/autograd.h"
#include "examples/lessons/lesson.h"
#include "examples/support/built_in_text.h"
#include "examples/support/table.h"
#include "nn/generate/sampler.h"
#include "nn/inspect/ngram_losses.h"
#include "nn/inspect/probes.h"
#include "nn/train/trainer.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

/// The built-in text, a sentence a line, one of ten held out: which, says the seed.
Corpus read_birds(std::uint64_t seed) {
  return read_corpus(support::built_in_text(),
                     {.reading = Reading::lines, .tokens = Tokens::word, .seed = seed});
}

/// One layer, one head, 16 wide, as it starts.
LanguageModel new_model(const Corpus& corpus, std::uint64_t seed) {
  Rng rng(seed);
  return {{.vocabulary = corpus.tokenizer.size(), .context = 9}, rng};
}

/// 300 steps of training; the held-out loss after 60 of them and after all.
std::vector<double> train(const LanguageModel& model, const Corpus& corpus, std::uint64_t seed) {
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

/// One stage of the pipeline: what it gives, its shape, and the end of its last row.
void stage(Lesson& to, const char* what, const Tensor& x) {
  const std::vector<double> all = to_vector(x.value());
  std::string numbers;
  for (std::size_t i = all.size() - 4; i < all.size(); ++i) numbers += formatted(" %7.3f", all[i]);
  to.show(formatted("   %-26s %-13s ...", what, to_string(x.shape()).c_str()) + numbers);
}

/// The line goes on, word by word, to its end; the decoder computes only what is new.
std::vector<Dim> drawn(const LanguageModel& model, std::vector<Dim> line, double temperature) {
  Rng rng(2);
  Decoder decoder(model);
  const std::vector<Dim> prompt = line;
  generate(decoder, prompt, 9, {.temperature = temperature}, rng, [&](Dim token, const Array&) {
    line.push_back(token);
    return token != line.front();
  });
  return line;
}

std::string in_words(const Corpus& corpus, const std::vector<Dim>& line) {
  return corpus.tokenizer.decode({line.begin() + 1, line.end() - 1});
}

void pipeline(Lesson& to, const Corpus& corpus, const LanguageModel& model) {
  to.part("Through a trained model");
  const std::vector<Dim> tokens = corpus.tokenizer.encode("\nbirds sometimes walk");
  to.say("For each stage: its shape, and the last four numbers of its last row.\n");
  to.show("   text                       \"birds sometimes walk\", after a line end");
  to.show("   tokens                     " +
          to_string(Array({4}, std::vector<double>(tokens.begin(), tokens.end()))));
  NoGrad no_grad;
  const Indices ids({1, 4}, tokens);
  const Block& block = model.h[0];
  const Tensor x = embedding(model.wte.weight, model.wpe.weight, ids);
  const auto [passed, weights] = block.attn.forward_with_weights(block.ln_1(x), causal());
  const Tensor seen = x + passed;
  const Tensor thought = seen + block.mlp(block.ln_2(seen));
  const Tensor logits = matmul_transposed(model.ln_f(thought), model.wte.weight);
  stage(to, "vectors: words + places", x);
  stage(to, "LayerNorm", block.ln_1(x));
  stage(to, "weights of attention", weights);
  stage(to, "+ what attention passes", seen);
  stage(to, "+ what the MLP makes of it", thought);
  stage(to, "LayerNorm", model.ln_f(thought));
  stage(to, "logits: like which word", logits);
  stage(to, "probabilities", softmax(logits));
  to.show("   likeliest words            " + in_words(corpus, drawn(model, tokens, 0)) + "\n");

  const Tensor whole = model(ids),
               last = Tensor(Decoder(model).read(tokens)) - slice(whole, 1, 3, 4);
  to.claim(max(pow(logits - whole, 2.0)).item() < 1e-8,
           "the model in one call gives the same logits");
  to.claim(max(last * last).item() == 0, "so does a decoder, to the bit");
  to.claim(check_causality(model, tokens).is_causal, "and no place depends on later tokens");
}

void against_counting(Lesson& to) {
  to.part("Against counting: ten ways to hold out a tenth of the sentences");
  std::vector<double> tables(4), models(2);
  int early = 0, worse = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Corpus corpus = read_birds(seed);
    const std::vector<double> counted =
        ngram_losses(corpus.train, corpus.valid, corpus.tokenizer.size(), 3);
    const std::vector<double> losses = train(new_model(corpus, seed), corpus, seed);
    for (std::size_t i = 0; i < 4; ++i) tables[i] += counted[i] / 10;
    for (std::size_t i = 0; i < 2; ++i) models[i] += losses[i] / 10;
    early += losses[0] < *std::min_element(counted.begin(), counted.end()) ? 1 : 0;
    worse += losses[1] > losses[0] ? 1 : 0;
  }
  Table table({{"mean held-out loss"}, {"nats a word"}});
  for (std::size_t i = 0; i < 4; ++i)
    table.row({"counting, by words before: " + std::to_string(i), formatted("%.2f", tables[i])});
  table.row({"model, 60 steps", formatted("%.2f", models[0])});
  table.row({"model, 300 steps", formatted("%.2f", models[1])});
  to.show(table.text());
  to.claim_rate(early, 10, 9, "after 60 steps the model beats every table");
  to.claim_rate(worse, 10, 7, "240 steps more raise the held-out loss: overfitting");
}

void text(Lesson& to, const Corpus& corpus, const LanguageModel& model) {
  to.part("A text");
  int ended = 0;
  for (const char* prompt : {"birds", "people", "penguins", "for", "but"}) {
    const std::vector<Dim> line = corpus.tokenizer.encode(std::string("\n").append(prompt));
    const std::vector<Dim> best = drawn(model, line, 0), other = drawn(model, line, 1);
    ended += best.back() == line.front() ? 1 : 0;
    to.show("   likeliest  " + in_words(corpus, best));
    to.show("       drawn  " + in_words(corpus, other));
  }
  to.claim(ended == 5, "the likeliest lines all come to an end");
}

void tell(Lesson& to) {
  const Corpus corpus = read_birds(1);
  const LanguageModel model = new_model(corpus, 1);
  train(model, corpus, 1);
  pipeline(to, corpus, model);
  against_counting(to);
  text(to, corpus, model);
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, "17_text_to_text", "From a text to a text.", fledge::tell);
}
