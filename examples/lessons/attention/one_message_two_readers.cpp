// One message, two readers: what attention tells 'walk' about birds, it also tells 'at'. A message is
// taken out of one sentence and put into another: activation patching (Vig et al. 2020).
#include "examples/lessons/attention/blanks.h"

namespace fledge::lessons::in_one_message_two_readers {
using blanks::Blank, blanks::slowly, blanks::flying, blanks::models, blanks::seeds, blanks::text;

constexpr Dim C = 16;  // the width
const Blank quietly{"cats sometimes walk", "quietly"}, climbing{"but cats are good at", "climbing"};

Tensor message_of(const LanguageModel& model, const Blank& blank) {
  return blanks::last_word(model, text(), blank.prompt).message;
}

/// What the model says when the last word of `reader` receives this message.
std::string said(const LanguageModel& model, const Blank& reader, const Tensor& message) {
  const NoGrad no_grad;
  const Tensor own = blanks::last_word(model, text(), reader.prompt).own;
  const Tensor seen = model.h[0].add_residuals(own, message);
  const Tensor logits = reshape(model.logits(seen), {text().tokenizer.size()});
  return blanks::word_of(text(), most_likely(logits.value(), 1)[0].token);
}

double cosine_of(const LanguageModel& model, const Blank& a, const Blank& b) {
  return cosine(message_of(model, a), message_of(model, b));
}

void messages(LessonText& to) {
  Table table = Table::of_numbers({"   cosine of two messages", "lowest", "median", "highest"});
  using Pair = std::pair<Blank, Blank>;
  for (const auto& [what, pair] : {std::pair{"birds: 'walk' and 'at'", Pair{slowly, flying}},
                                   {"cats: 'walk' and 'at'", {quietly, climbing}},
                                   {"'walk': birds and cats", {slowly, quietly}},
                                   {"'at': birds and cats", {flying, climbing}}}) {
    std::vector<double> found;
    for (const LanguageModel& model : models())
      found.push_back(cosine_of(model, pair.first, pair.second));
    const auto [lowest, highest] = std::minmax_element(found.begin(), found.end());
    table.row("   %s | %.2f | %.2f | %.2f", what, *lowest, median_of(found), *highest);
  }
  to.set("cosines", table);
  const int nearer = count_of(models(), [](const auto& model) {
    return cosine_of(model, slowly, flying) >
           std::max(cosine_of(model, slowly, quietly), cosine_of(model, flying, climbing));
  });
  to.claim_rate("nearer", nearer, seeds, 18);
}

void swap_messages(LessonText& to) {
  Table table({{"   the last word of"}, {"receives the message of"}, {"says"}, {"in seeds"}});
  Table otherwise(
      {{"   seed"}, {"cosine"}, {"the last word of"}, {"receives the message of"}, {"says"}});
  std::vector<int> counts;
  for (const auto& [reader, giver, wanted] : {std::array{slowly, slowly, slowly},
                                              {slowly, flying, slowly},
                                              {slowly, climbing, quietly},
                                              {flying, flying, flying},
                                              {flying, slowly, flying},
                                              {flying, quietly, climbing}}) {
    counts.push_back(0);
    for (const LanguageModel& model : models()) {
      const std::string word = said(model, reader, message_of(model, giver));
      counts.back() += word == wanted.word ? 1 : 0;
      if (word != wanted.word)
        otherwise.row("   %d | %.2f | %s | %s | %s", int(&model - &models()[0]) + 1,
                      cosine_of(model, wanted, giver), reader.prompt.c_str(), giver.prompt.c_str(),
                      word.c_str());
    }
    table.row("   %s | %s | %s | %d of %d", reader.prompt.c_str(), giver.prompt.c_str(),
              wanted.word.c_str(), counts.back(), seeds);
  }
  int by_random = 0, trials = 0;
  for (const LanguageModel& model : models())
    for (Rng rng(1); const Blank& reader : {slowly, flying})
      for (int i = 0; i < 10; ++i, ++trials) {
        const Tensor direction = normal({1, C}, rng);
        const double scale = length(message_of(model, reader)) / length(direction);
        by_random += said(model, reader, direction * scale) == reader.word ? 1 : 0;
      }
  to.set_all("swaps", table, "otherwise", otherwise, "random", by_random, "trials", trials);
  to.claim_rate("walk keeps", counts[1], seeds, 16);
  to.claim_rate("at keeps", counts[4], seeds, 16);
  to.claim_rate("walk turns", counts[2], seeds, 16);
  to.claim_rate("at turns", counts[5], seeds, 16);
  to.claim("random", 2 * by_random < trials);
}

/// R (C, C) with R·Rᵀ = 1: sixteen mirrors, one behind the other, in random directions.
Tensor random_rotation(Rng& rng) {
  Tensor R = identity(C);
  for (Dim i = 0; i < C; ++i) {
    const Tensor u = normal({1, C}, rng);
    R = matmul(R, identity(C) - transpose(u) * u * (2 / dot(u, u)));
  }
  return R;
}

void assign(const Tensor& parameter, const Tensor& x) {
  std::copy_n(x.value().data(), x.size(), parameter.write());
}

/// W_Q·R, W_K·R, W_V·R with their biases, and Rᵀ·W_O: the same scores and the same messages.
void rotate(const LanguageModel& model, const Tensor& R) {
  const NoGrad no_grad;
  const Attention& attn = model.h[0].attn;
  for (const Tensor& p : {attn.c_attn.weight, attn.c_attn.bias}) {
    const std::vector<Tensor> qkv = split(reshape(p, {p.size() / (3 * C), 3 * C}), 3, -1);
    assign(p, concat({matmul(qkv[0], R), matmul(qkv[1], R), matmul(qkv[2], R)}, -1));
  }
  assign(attn.c_proj.weight, matmul(transpose(R), attn.c_proj.weight));
}

/// Which `size` numbers of the values cost this word most when they are set to 0: 0, 1, …
Dim costliest(const LanguageModel& model, const Blank& blank, Dim size) {
  const std::vector<Array> weights = weights_of(model);
  std::vector<double> left;
  for (Dim first = 0; first < C; first += size) {
    std::fill_n(model.h[0].attn.c_proj.weight.write() + first * C, size * C, Real(0));
    left.push_back(blanks::log_probability(model, text(), blank));
    set_weights(model, weights);
  }
  return std::min_element(left.begin(), left.end()) - left.begin();
}

void no_partition(LessonText& to) {
  const LanguageModel& model = models()[0];
  const std::vector<Array> weights = weights_of(model);
  const Tensor before = message_of(model, slowly);
  const std::vector<double> looks = blanks::last_row(model, text(), slowly.prompt);
  Rng rng(1);
  std::vector<int> times(C);
  double moved = 0, looks_moved = 0;
  int same = 0;
  for (int i = 0; i < 20; ++i) {
    rotate(model, random_rotation(rng));
    moved = std::max(moved, farthest(message_of(model, slowly), before));
    const std::vector<double> now = blanks::last_row(model, text(), slowly.prompt);
    for (std::size_t j = 0; j < now.size(); ++j)
      looks_moved = std::max(looks_moved, std::abs(now[j] - looks[j]));
    const Dim number = costliest(model, slowly, 1);
    ++times[static_cast<std::size_t>(number)];
    same += number == costliest(model, flying, 1) ? 1 : 0;
    set_weights(model, weights);
  }
  const auto different = C - std::count(times.begin(), times.end(), 0);
  to.set_all("different", different, "same", same);
  to.claim("same message", moved < 1e-4);
  to.claim("same weights", looks_moved < 1e-4);
  to.claim("any number", different >= 8);
  to.claim("shared", same > 0 && same < 20);
}

void heads(LessonText& to) {
  const int same = count_seeds(seeds, [](std::uint64_t seed) {
    const LanguageModel model = blanks::trained(text(), seed, 4);
    return costliest(model, slowly, 4) == costliest(model, flying, 4);
  });
  to.set_all("same head", same, "by chance", seeds / 4);
  to.claim("shared head", same > seeds / 4);
}

const LessonProgram program({messages, swap_messages, no_partition, heads});

}  // namespace fledge::lessons::in_one_message_two_readers
