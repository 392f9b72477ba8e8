// Two things that a model does in training or in use alone: dropout makes random zeros while it
// learns, and a key-value cache saves work while it writes. Neither changes what it computes in use.
#include "examples/lessons/vocabulary.h"
#include "nn/gpt/decoder.h"

namespace fledge::lessons::in_dropout_and_cache {

void drop_weights(LessonText& to) {
  const NoGrad no_grad;
  const Tensor weights = Array({1, 4}, {0.5, 0.3, 0.15, 0.05}),
               values = Array({1, 4}, {1, 2, -1, 4});
  const double mixture = dot(weights, values);
  const Dropout drop(0.25);
  Rng rng(1);
  const auto row_of = [&](const char* label, const Tensor& w) {
    return pad_right(label, 18) + text_of(w, "%8.3f") +
           formatted("%9.3f%9.3f\n", sum(w).item(), dot(w, values));
  };
  std::string rows = pad_right("", 18) + "            weights                 sum  mixture\n" +
                     row_of("   no dropout", weights);
  constexpr int draws = 100000;
  double least_sum = infinity, largest_sum = 0, mean = 0, second = 0;
  for (int i = 0; i < draws; ++i) {
    const Tensor dropped = drop(weights, Mode::training(rng));
    const double total = sum(dropped).item();
    if (i < 5) rows += row_of(formatted("   draw %d", i + 1).c_str(), dropped);
    mean += dot(dropped, values) / draws, second += number(dropped, 1) / draws;
    least_sum = std::min(least_sum, total), largest_sum = std::max(largest_sum, total);
  }
  to.set_all("rows", rows, "mixture", mixture, "least sum", least_sum, "largest sum", largest_sum);
  to.claim_near("mean", mean, mixture, 0.01);
  to.claim_near("second", second, 0.3, 0.003);
  to.claim("in use", to_vector(drop(weights, Mode::evaluation()).value()) == numbers(weights));
}

using Row = std::vector<double>;

/// One head that counts its multiplications; those of exp, of the division and of √D are left out.
struct CountingHead {
  Dim C;
  std::vector<Row> W_Q, W_K, W_V;  // C rows of C numbers
  long multiplications = 0;

  double product(const Row& a, const Row& b) {
    multiplications += static_cast<long>(a.size());
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  }
  Row times(const std::vector<Row>& W, const Row& x) {
    Row y;
    for (const Row& row : W) y.push_back(product(row, x));
    return y;
  }
  /// What the last word receives: keys and values of all words, and the last word itself.
  Row receive(const std::vector<Row>& keys, const std::vector<Row>& values, const Row& x) {
    const Row q = times(W_Q, x);
    Row mixture(x.size());
    double total = 0;
    for (std::size_t j = 0; j < keys.size(); ++j) {
      const double e = std::exp(product(q, keys[j]) / std::sqrt(static_cast<double>(C)));
      total += e, multiplications += static_cast<long>(C);
      for (std::size_t c = 0; c < x.size(); ++c) mixture[c] += e * values[j][c];
    }
    for (double& number : mixture) number /= total;
    return mixture;
  }
};

std::vector<Row> random_rows(Dim rows, Dim columns, Rng& rng) {
  std::vector<Row> all(static_cast<std::size_t>(rows), Row(static_cast<std::size_t>(columns)));
  for (Row& row : all)
    for (double& x : row) x = rng.normal() / std::sqrt(static_cast<double>(columns));
  return all;
}

void keep_keys(LessonText& to) {
  constexpr Dim C = 16;
  Table table = Table::of_numbers({"   words", "without a cache", "with a cache", "times as many"});
  bool same = true, counted = true;
  double last_ratio = 0;
  for (const Dim T : {4, 16, 64, 256}) {
    Rng rng(1);
    CountingHead fresh{C, random_rows(C, C, rng), random_rows(C, C, rng), random_rows(C, C, rng)};
    CountingHead cached = fresh;
    std::vector<Row> kept_keys, kept_values, words;
    for (const Row& x : random_rows(T, C, rng)) {
      words.push_back(x);
      std::vector<Row> keys, values;
      for (const Row& word : words) {
        keys.push_back(fresh.times(fresh.W_K, word));
        values.push_back(fresh.times(fresh.W_V, word));
      }
      kept_keys.push_back(cached.times(cached.W_K, x));
      kept_values.push_back(cached.times(cached.W_V, x));
      same = same && fresh.receive(keys, values, x) == cached.receive(kept_keys, kept_values, x);
    }
    const Dim pairs = T * (T + 1) / 2;  // of a word and a word that it sees
    counted = counted && fresh.multiplications == T * C * C + pairs * (2 * C * C + 2 * C) &&
              cached.multiplications == 3 * T * C * C + pairs * 2 * C;
    last_ratio =
        static_cast<double>(fresh.multiplications) / static_cast<double>(cached.multiplications);
    table.row("   %d | %s | %s | %.1f", int(T), thousands(fresh.multiplications).c_str(),
              thousands(cached.multiplications).c_str(), last_ratio);
  }
  to.set_all("counts", table, "ratio", last_ratio);
  to.claim("same numbers", same);
  to.claim("counted", counted);
}

/// A whole model that reads a text at once, and a decoder that reads it word by word.
void whole_model(LessonText& to) {
  Rng rng(1);
  const NoGrad no_grad;
  const LanguageModel model({.vocabulary = 50, .context = 64, .layers = 2, .heads = 2, .width = 32},
                            rng);
  std::vector<Dim> ids(64);
  for (Dim& id : ids) id = rng.below(50);
  const Array at_once = model(Indices({1, 64}, ids)).value();
  Decoder decoder(model);
  bool same = true;
  for (Dim t = 0; t < 64; ++t) {
    const Tensor logits = decoder.read({ids[static_cast<std::size_t>(t)]});
    same = same && numbers(logits) == numbers(slice(at_once, 1, t, t + 1));
  }
  to.claim("same bits", same);
}

const LessonProgram program({drop_weights, keep_keys, whole_model});

}  // namespace fledge::lessons::in_dropout_and_cache
