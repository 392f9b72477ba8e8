#include "nn/generate/sampler.h"

#include <algorithm>
#include <map>

#include "tests/nn/modules.h"

using namespace tests;

namespace {

Array logits_of(const std::vector<double>& z) { return Array({static_cast<Dim>(z.size())}, z); }

std::vector<Dim> tokens_of(const std::vector<Choice>& list) {
  std::vector<Dim> tokens;
  for (const Choice& choice : list) tokens.push_back(choice.token);
  return tokens;
}

using Ids = std::vector<Dim>;
const double none = -infinity;

// choices() as its formula says it, with a stable sort. How many tokens top_p keeps is looked
// up in the table of all sums.
std::vector<Choice> naive_choices(const Array& logits, const SampleOptions& options) {
  std::vector<Choice> tokens;
  for (Dim i = 0; i < logits.size(); ++i) tokens.push_back({i, value_of(logits[i])});
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](Choice a, Choice b) { return a.probability > b.probability; });
  if (options.temperature == 0) return {{tokens[0].token, 1}};
  const double top = tokens[0].probability;
  for (Choice& token : tokens)
    token.probability = std::exp((token.probability - top) / options.temperature);
  while (tokens.back().probability == 0) tokens.pop_back();
  if (const auto k = static_cast<std::size_t>(options.top_k))
    tokens.resize(std::min(k, tokens.size()));
  std::vector<double> sums;  // of the first token, of two, of three ...
  for (const Choice& token : tokens)
    sums.push_back((sums.empty() ? 0 : sums.back()) + token.probability);
  const auto enough = std::partition_point(
      sums.begin(), sums.end(), [&](double sum) { return !(sum >= options.top_p * sums.back()); });
  if (options.top_p < 1) tokens.resize(static_cast<std::size_t>(enough - sums.begin()) + 1);
  double total = 0;
  for (const Choice& token : tokens) total += token.probability;
  for (Choice& token : tokens) token.probability /= total;
  return tokens;
}

LanguageModel sampled_model() {
  return drawn_model({.vocabulary = 11, .context = 12, .layers = 2, .heads = 2, .width = 8}, 2);
}

}  // namespace

TEST_CASE("choices: temperature, then top_k, then top_p of what is left") {
  // 8 : 4 : 2 : 1 : 1 of 16
  const double two = std::log(2.0);
  const Array z = logits_of({0, 3 * two, two, 2 * two, 0});
  for (const auto& [options, tokens, first] : std::vector<std::tuple<SampleOptions, Ids, double>>{
           {{1, 0, 1}, {1, 3, 2, 0, 4}, 8. / 16},
           {{1, 4, 1}, {1, 3, 2, 0}, 8. / 15},  // of equals the first
           {{1, 0, 0.7}, {1, 3}, 8. / 12},
           {{1, 0, 0.8}, {1, 3, 2}, 8. / 14},
           {{1, 2, 0.6}, {1}, 1},         // of 8 : 4, though 8 of 16 is less than 0.6
           {{0.5, 3, 0.8}, {1, 3}, 0.8},  // 64 : 16 : 4
           {{5, 0, 1e-9}, {1}, 1},
           {{1e-300, 0, 1}, {1}, 1}}) {
    const std::vector<Choice> found = choices(z, options);
    CHECK(tokens_of(found) == tokens);
    CHECK_THAT(found[0].probability, WithinAbs(first, rounding));
  }
}

TEST_CASE("choices: ties go by number, the impossible is no choice, large logits are harmless") {
  CHECK(tokens_of(choices(logits_of({1, 2, 2, none, 2}), {.temperature = 1})) == Ids{1, 2, 4, 0});
  CHECK(tokens_of(choices(logits_of({1, 2, 2}), {.temperature = 0})) == Ids{1});
  CHECK(tokens_of(choices(logits_of({1, 2, 2}), {.top_k = 1})) == Ids{1});
  const std::vector<Choice> found =
      choices(logits_of({-3e38, 3e38, 3e38, 0}), {.temperature = 1e-3});
  CHECK(tokens_of(found) == Ids{1, 2});
  CHECK(found[0].probability == 0.5);
  for (const Choice& choice : choices(uniform({100}, 1, -5, 5), {.temperature = 1e9}))
    CHECK_THAT(choice.probability, WithinAbs(0.01, 1e-9));
}

TEST_CASE("choices: a sum that is exactly top_p is enough") {
  for (const Dim tokens : {1, 2, 4, 8, 64})  // weights of 1, whose sums are exact
    for (Dim kept = 1; kept <= tokens; ++kept)
      for (const Dim top_k : {Dim{0}, tokens}) {
        const double share = static_cast<double>(kept) / static_cast<double>(tokens);
        const Array z = logits_of(
            std::vector<double>(static_cast<std::size_t>(tokens + (top_k > 0 ? 3 : 0)), 2));
        const SampleOptions options{.temperature = 0.7, .top_k = top_k, .top_p = share};
        CAPTURE(tokens, kept, top_k);
        CHECK(std::ssize(choices(z, options)) == kept);
        CHECK(std::ssize(naive_choices(z, options)) == kept);
        const double above = std::nextafter(share, 2);
        if (kept < tokens)
          CHECK(std::ssize(choices(z, {.temperature = 1, .top_k = top_k, .top_p = above})) ==
                kept + 1);
      }
}

TEST_CASE("choices: of many tokens, with equals and zeros of both signs, to the bit") {
  Array z = uniform({50'007}, 3, -9, 9);
  const Dim V = z.size();
  for (Dim i = 0; i < V; i += 5) z.write()[i] = Real(i % 7 - 3);  // equals
  for (Dim i = 1; i < V; i += 50) z.write()[i] = i % 3 == 0 ? Real(-0.0) : Real(0);
  for (Dim i = 2; i < V; i += 100) z.write()[i] = Real(none);
  for (const SampleOptions& options :
       std::vector<SampleOptions>{{.temperature = 1},
                                  {.temperature = 0},
                                  {.temperature = 0.01},
                                  {.temperature = 0.8, .top_k = 1},
                                  {.temperature = 0.8, .top_k = 12'345, .top_p = 0.9},
                                  {.temperature = 0.8, .top_k = 10 * V},
                                  {.temperature = 3, .top_p = 0.5}}) {
    const std::vector<Choice> expected = naive_choices(z, options);
    const std::vector<Choice> found = choices(z, options);
    CAPTURE(options.temperature, options.top_k, options.top_p);
    REQUIRE(found.size() == expected.size());
    Dim wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      wrong +=
          found[i].token != expected[i].token || found[i].probability != expected[i].probability;
    CHECK(wrong == 0);
  }
}

TEST_CASE("most_likely: the first n of softmax") {
  const std::vector<Choice> found = most_likely(logits_of({0, std::log(3.0), none, 0}), 2);
  CHECK(tokens_of(found) == Ids{1, 0});
  CHECK_THAT(found[0].probability, WithinAbs(0.6, rounding));
  CHECK_THAT(found[1].probability, WithinAbs(0.2, rounding));
  CHECK(most_likely(logits_of({1, 2}), 9).size() == 2);
  CHECK(most_likely(logits_of({1, 2}), 0).empty());
}

TEST_CASE("sample: a number from 0 to 1 falls on the token whose share of the line it meets") {
  const Array z = logits_of({0.3, -1, 2, 1.2, 0.3, none});
  const std::vector<SampleOptions> rows{
      {.temperature = 1}, {.temperature = 1.5, .top_k = 3}, {.temperature = 1, .top_p = 0.7}};
  for (const SampleOptions& options : rows) {
    const std::vector<Choice> all = choices(z, options);
    std::map<Dim, int> counts;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      Rng rng(seed), same(seed);
      double left = same.uniform();
      std::size_t i = 0;
      while (i + 1 < all.size() && left >= all[i].probability) left -= all[i++].probability;
      const Dim token = sample(z, options, rng);
      // On a border the sum from the left and the difference may round apart.
      const double border = std::min(std::abs(left), std::abs(all[i].probability - left));
      CHECK((token == all[i].token || border < 1e-12));
      CHECK(rng.bits() == same.bits());  // one number, no more
      ++counts[token];
    }
    CHECK(counts.size() == all.size());
    for (const Choice& choice : all) {
      const double p = choice.probability;
      CHECK_THAT(counts[choice.token], WithinAbs(2000 * p, 5 * std::sqrt(2000 * p * (1 - p))));
    }
  }
}

TEST_CASE("sample: greedy takes no random number") {
  const Array z = uniform({9}, 4);
  Rng rng(5), other(5);
  CHECK(sample(z, {.temperature = 0}, rng) == choices(z, {}).front().token);
  CHECK(rng.bits() == other.bits());
}

TEST_CASE("sample refuses options and logits that mean nothing") {
  const Array z = uniform({4}, 6);
  Rng rng(1);
  const auto with = [&](const SampleOptions& options) {
    return [&z, &rng, options] { sample(z, options, rng); };
  };
  for (const double wrong : {-1.0, static_cast<double>(NAN), infinity})
    CHECK(refuses<ValueError>(with({.temperature = wrong}), "temperature", "got "));
  CHECK(refuses<ValueError>(with({.top_k = -2}), "top_k", "got -2"));
  for (const double wrong : {0.0, 1.5, static_cast<double>(NAN)})
    CHECK(refuses<ValueError>(with({.top_p = wrong}), "top_p", "got "));
  CHECK(refuses<ValueError>([&] { most_likely(z, -1); }, "most_likely", "got -1"));
  const auto of = [&](const std::vector<double>& numbers) {
    return [&rng, numbers] { sample(logits_of(numbers), {.temperature = 0}, rng); };
  };
  CHECK(refuses<NumericError>(of({1, NAN, 2}), "token 1", "nan"));
  CHECK(refuses<NumericError>(of({1, 1, infinity}), "token 2", "inf"));
  CHECK(refuses<NumericError>(of({none, none}), "no token"));
  for (const Shape& shape : {Shape{2, 3}, Shape{0}})
    CHECK(refuses<ShapeError>([&] { choices(Array(shape), {}); }, "(V)", to_string(shape)));
}

TEST_CASE("generate: each token is drawn from the full pass over what was read before it") {
  const LanguageModel model = sampled_model();
  const Ids prompt{3, 1, 4};
  for (const double temperature : {0.0, 1.0}) {
    const SampleOptions options{.temperature = temperature};
    Decoder decoder(model);
    Rng rng(7), again(7);
    Ids text = prompt;
    const Dim drawn = generate(decoder, prompt, 9, options, rng, [&](Dim token, const Array& z) {
      const NoGrad no_grad;
      const Dim T = static_cast<Dim>(text.size());
      const Array all = model(Indices({1, T}, text)).value().with_shape({T, 11});
      const Array last = part(all, 0, T - 1, T).with_shape({11});
      CHECK(same_bits(z, last));
      CHECK(token == sample(last, options, again));
      CHECK(decoder.window() == text);
      text.push_back(token);
      return true;
    });
    CHECK(drawn == 9);
    CHECK(text.size() == 12);
    CHECK(decoder.window() == Ids(text.begin(), text.end() - 1));
  }
}

TEST_CASE("generate: ends when told, runs on past the context, and goes on where it was") {
  const LanguageModel model = sampled_model();
  const auto text_of = [&](Decoder& decoder, const Ids& prompt, Dim count, Rng& rng) {
    Ids text;
    generate(decoder, prompt, count, {}, rng, [&](Dim token, const Array&) {
      text.push_back(token);
      return true;
    });
    return text;
  };
  Decoder decoder(model), other(model);
  Rng rng(8), again(8), stopping(8);
  const Ids whole = text_of(decoder, {5}, 40, rng);
  REQUIRE(whole.size() == 40);
  Ids parts = text_of(other, {5}, 15, again);
  for (const Dim token : text_of(other, {parts.back()}, 25, again)) parts.push_back(token);
  CHECK(parts == whole);

  Decoder third(model);
  int left = 6;
  CHECK(generate(third, {5}, 40, {}, stopping, [&](Dim, const Array&) { return --left > 0; }) == 6);
  CHECK(text_of(third, {1}, 0, rng).empty());
}

TEST_CASE("generate refuses an empty prompt and a negative count, and reads nothing") {
  Decoder decoder(sampled_model());
  Rng rng(1);
  const auto drawn = [&](const Ids& prompt, Dim count, const SampleOptions& options) {
    return [&decoder, &rng, prompt, count, options] {
      generate(decoder, prompt, count, options, rng, [](Dim, const Array&) { return true; });
    };
  };
  CHECK(refuses<ValueError>(drawn({}, 3, {}), "generate", "prompt is empty"));
  CHECK(refuses<ValueError>(drawn({1}, -1, {}), "generate", "got -1"));
  CHECK(refuses<ValueError>(drawn({1}, 1, {.top_p = 2}), "top_p", "got 2"));
  CHECK(decoder.length() == 0);
}
