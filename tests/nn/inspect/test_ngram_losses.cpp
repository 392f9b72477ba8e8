// Tables that count, held to their definition; the least loss of a text, to sums by hand and the
// entropy of whole documents; what a sample copies, to every substring looked up, with examples in
// tests/formats/texts.txt.
#include "nn/inspect/ngram_losses.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "nn/gpt/language_model.h"
#include "nn/train/trainer.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace fledge;
using tests::refuses;

namespace {

TokenText stream(std::vector<Dim> tokens) { return {std::move(tokens), {}}; }

const TokenText abab = stream({0, 1, 0, 1, 0, 1, 0, 1});

double p_of_last(const TokenText& train, const std::vector<Dim>& test, Dim V, int history) {
  return std::exp(-ngram_losses(train, stream(test), V, history).back());
}

using Gram = std::vector<Dim>;

// What is counted: a stream, or each document behind so many boundaries, with the one after it.
std::vector<Gram> padded(const TokenText& text, std::size_t boundaries) {
  if (text.starts.empty()) return {text.tokens};
  std::vector<Gram> all;
  for (std::size_t d = 0; d + 1 < text.starts.size(); ++d) {
    all.emplace_back(boundaries, text.tokens[0]);
    for (std::size_t i = text.starts[d] + 1; i <= text.starts[d + 1]; ++i)
      all.back().push_back(text.tokens[i]);
  }
  return all;
}

// The formulas as they stand, for tokens 0 … 3, from a map of whole n-grams. Documents begin with
// `pad` boundaries, 3; a stream has none.
class ByDefinition {
 public:
  ByDefinition(const TokenText& train, int pad) : boundary_(pad > 0 ? 3 : -1) {
    for (const Gram& text : padded(train, static_cast<std::size_t>(pad)))
      for (auto end = text.begin() + pad; end < text.end(); ++end)
        for (auto begin = text.begin(); begin <= end; ++begin) ++counts_[Gram(begin, end + 1)];
  }

  double p(const Gram& gram, bool all = true) const {
    if (gram.empty()) return 0.25;
    double of_gram = 0, of_history = 0, taken = 0, n[5] = {};
    for (const auto& entry : counts_)
      if (entry.first.size() == gram.size())
        if (const int c = count(entry.first, all); c >= 1 && c <= 4) ++n[c];
    const auto discount = [&](int c) {
      const int k = std::min(c, 3);
      if (n[1] == 0 || n[k] == 0 || n[k + 1] == 0) return 0.5 * k;
      const double Y = n[1] / (n[1] + 2 * n[2]);
      return std::clamp(k - (k + 1) * Y * n[k + 1] / n[k], 0.1 * k, 0.9 * k);
    };
    Gram other = gram;
    for (other.back() = 0; other.back() < 4; ++other.back()) {
      const int c = count(other, all);
      of_history += c;
      taken += discount(c);
      if (other == gram) of_gram = c - discount(c);
    }
    const double shorter = p({gram.begin() + 1, gram.end()}, false);
    return of_history == 0 ? shorter : (of_gram + taken * shorter) / of_history;
  }

 private:
  // How often it occurs, or how many tokens stand before it; before a document's first stands none.
  int count(const Gram& gram, bool all) const {
    const auto found = counts_.find(gram);
    if (all || (gram.size() > 1 && gram[0] == boundary_))
      return found == counts_.end() ? 0 : found->second;
    int before = 0;
    for (Dim token = 0; token < 4; ++token) {
      Gram longer{token};
      longer.insert(longer.end(), gram.begin(), gram.end());
      before += counts_.contains(longer);
    }
    return before;
  }

  Dim boundary_;
  std::map<Gram, int> counts_;
};

TokenText documents_of(const std::string& text) {
  return read_corpus(text, {.reading = Reading::lines, .tokens = Tokens::word, .valid = 0}).train;
}

// Every substring of the sample looked up in the text.
double share_by_definition(std::string_view sample, std::string_view text, std::size_t least) {
  std::vector<bool> known(sample.size(), false);
  for (std::size_t at = 0; at < sample.size(); ++at)
    for (std::size_t size = 1; at + size <= sample.size(); ++size) {
      if (text.find(sample.substr(at, size)) == std::string_view::npos) break;
      if (size >= least) std::fill_n(known.begin() + static_cast<std::ptrdiff_t>(at), size, true);
    }
  const auto bytes = static_cast<double>(std::count(known.begin(), known.end(), true));
  return sample.empty() ? 0 : bytes / static_cast<double>(sample.size());
}

std::string text_of_letters(Rng& rng, Dim size, Dim letters) {
  std::string text;
  for (Dim i = 0; i < size; ++i) text += static_cast<char>(rng.below(letters));
  return text;
}

}  // namespace

TEST_CASE("tables: a history that was never seen leaves what follows to a shorter") {
  CHECK(p_of_last(stream({0, 1, 0, 1, 0, 1, 0, 1}), {0}, 2, 1) > 0.7);  // after 1 always comes 0
  const TokenText train = stream({0, 1, 2, 0, 1, 2, 3, 1}), unseen = stream({3, 3, 3, 2});
  const std::vector<double> more = ngram_losses(train, unseen, 4, 8);
  CHECK(ngram_losses(train, unseen, 4, 4).size() == 5);
  CHECK(more.back() == more.at(5));  // no longer history of the test stands in the training text
}

TEST_CASE("tables count what maps of whole n-grams count, in streams and in documents") {
  constexpr int most = 3;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    TokenText train, test;
    const auto fill = [&](TokenText& text, Dim symbols) {
      if (seed % 2 == 0)  // documents of 0 to 5 tokens, between boundaries 3
        for (Dim d = rng.below(20) + 1; d > 0; --d) {
          text.starts.push_back(text.tokens.size());
          text.tokens.push_back(3);
          for (Dim i = rng.below(6); i > 0; --i) text.tokens.push_back(rng.below(3));
        }
      else
        for (Dim i = rng.below(60) + 4; i > 0; --i) text.tokens.push_back(rng.below(symbols));
      if (seed % 2 == 0) text.starts.push_back(text.tokens.size());
      if (seed % 2 == 0) text.tokens.push_back(3);
    };
    fill(train, 3);
    fill(test, 4);
    const int pad = seed % 2 == 0 ? most + 1 : 0;
    const ByDefinition definition(train, pad);
    TokenText read = test;
    if (test.starts.empty())
      read.tokens.insert(read.tokens.begin(), train.tokens.end() - most, train.tokens.end());
    const std::vector<double> losses = ngram_losses(train, test, 4, most);
    for (int history = 0; history <= most; ++history) {
      double sum = 0, predicted = 0;
      for (const Gram& text : padded(read, static_cast<std::size_t>(pad)))
        for (auto at = text.begin() + std::max(pad, most); at < text.end(); ++at) {
          sum -= std::log(definition.p({at - history, at + 1}));
          ++predicted;
        }
      CHECK_THAT(losses.at(static_cast<std::size_t>(history)), WithinAbs(sum / predicted, 1e-12));
    }
  }
}

TEST_CASE("probabilities of all tokens sum to 1, whatever the history") {
  Rng rng(7);
  std::vector<Dim> train;
  for (int i = 0; i < 200; ++i) train.push_back(rng.below(3) * rng.below(2));
  for (int history = 0; history <= 12; ++history) {
    double sum = 0;
    for (Dim token = 0; token < 4; ++token) sum += p_of_last(stream(train), {token}, 4, history);
    CHECK_THAT(sum, WithinAbs(1, 1e-12));
  }
}

TEST_CASE("the best history is as long as what decides, and 0 where nothing does") {
  Rng rng(3);
  std::vector<Dim> noise, third;  // the third token is the sum of the two before it, modulo 5
  for (int i = 0; i < 3000; ++i) noise.push_back(rng.below(5));
  for (int i = 0; i < 3000; ++i)
    third.push_back(i % 3 < 2 ? rng.below(5) : (third[third.size() - 2] + third.back()) % 5);
  CHECK(best_history(stream(noise), 5, 8) <= 1);
  CHECK(best_history(stream(third), 5, 8) >= 2);
  CHECK(best_history(stream({0, 1, 0}), 2, 8) == 0);  // too short for a tenth
  std::vector<Dim> spaced{0, 2, 1, 2};  // each number is decided by two before it, over spaces
  while (spaced.size() < 2000)
    spaced.insert(spaced.end(), {(spaced[spaced.size() - 2] + spaced[spaced.size() - 4]) % 2, 2});
  CHECK(best_history(stream(spaced), 3, 8) == 4);
  TokenText documents;  // 1 1 or 2 2
  for (int d = 0; d < 100; ++d) {
    const Dim token = 1 + rng.below(2);
    documents.starts.push_back(documents.tokens.size());
    documents.tokens.insert(documents.tokens.end(), {0, token, token});
  }
  documents.starts.push_back(documents.tokens.size());
  documents.tokens.push_back(0);
  CHECK(best_history(documents, 3, 8) >= 1);
  TokenText few{{}, {0, 7, 14, 21, 28, 35}};  // the last of five is a tenth of them
  for (int d = 0; d < 5; ++d) few.tokens.insert(few.tokens.end(), {0, 1, 2, 1, 2, 1, 2});
  few.tokens.push_back(0);
  CHECK(best_history(few, 3, 8) >= 1);
}

TEST_CASE("tables refuse what cannot be counted, and the least loss a stream") {
  const auto losses = [](const TokenText& train, const TokenText& test, int history) {
    return [=] { ngram_losses(train, test, 2, history); };
  };
  CHECK(refuses<ValueError>(losses(abab, {}, 1), "ngram_losses", "no tokens"));
  CHECK(refuses<ValueError>(losses(abab, stream({2}), 1), "token 2", "vocabulary of 2"));
  CHECK(refuses<ValueError>(losses(stream({-1}), stream({0}), 1), "token -1", "vocabulary of 2"));
  for (const int history : {-1, 13})
    CHECK(refuses<ValueError>(losses(abab, abab, history), "0 to 12",
                              "got " + std::to_string(history)));
  CHECK(refuses<ValueError>(losses(abab, {{0, 1, 0}, {0, 2}}, 1), "stream", "documents"));
  CHECK(refuses<ValueError>([] { least_loss(abab); }, "Reading::lines"));
}

TEST_CASE("least loss: sums by hand, and 0 where every beginning goes on in one way") {
  for (const auto& [text, by_hand] :
       {// After "a" come b, b and c; the 6 other predictions have one answer.
        std::pair{"a b\na c\na b\n", -(2 * std::log(2.0 / 3) + std::log(1.0 / 3)) / 9},
        // "a" ends or goes on with b: 2·ln 2 of 5 predictions.
        {"a\na b\n", 2 * std::log(2.0) / 5},
        // The first word is b or c: 2·ln 2 of 6 predictions. What follows is decided by it.
        {"b a\nc d\n", 2 * std::log(2.0) / 6},
        {"a b c\n", 0.0},
        {"a b c\na b c\n", 0.0}})
    CHECK_THAT(least_loss(documents_of(text)), WithinAbs(by_hand, by_hand > 0 ? 1e-12 : 0));
}

TEST_CASE("least loss: a model that learns a text by heart comes near it, and not below") {
  const TokenText text = documents_of("a b\na c\na b\na c d\nb\n");
  Rng rng(1);
  const LanguageModel model(
      {.vocabulary = 5, .context = 4, .layers = 1, .heads = 1, .width = 8, .hidden = 16}, rng);
  Trainer trainer(model, text, {.batch = 5, .schedule = {.rate = 0.02, .steps = 400}, .decay = 0});
  while (trainer.steps_done() < 400) trainer.step();
  const double least = least_loss(text), loss = mean_loss(model, text, 5);
  CHECK(loss > least - 1e-6);  // the engine computes in float
  CHECK(loss < least + 0.01);
}

TEST_CASE("copied_share: what looking for every substring finds") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    const Dim letters = 1 + rng.below(4);
    const std::string sample = text_of_letters(rng, rng.below(40), letters);
    const std::string text = text_of_letters(rng, rng.below(80), 1 + rng.below(letters + 1));
    const auto least = static_cast<std::size_t>(1 + rng.below(12));
    REQUIRE(copied_share({sample}, text, least) == share_by_definition(sample, text, least));
  }
}

TEST_CASE("copied_share: of several samples it is that of all their characters, each for itself") {
  CHECK(copied_share({"abc", "xyz"}, "abcxyz", 3) == 1);
  CHECK(copied_share({"ab", "cxyzzz"}, "abcxyz", 4) == 0.5);
}

TEST_CASE("copied_share: one byte again and again takes no longer than words") {
  CHECK(copied_share({std::string(20'000, 'a')}, std::string(1'000'000, 'a'), 30) == 1);
}
