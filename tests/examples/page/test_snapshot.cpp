// The numbers of a page are those of the model.
#include "examples/page/snapshot.h"

#include <cmath>

#include "engine/autograd.h"
#include "engine/ops.h"
#include "examples/page/base64.h"
#include "examples/page/worked.h"
#include "nn/io/json.h"
#include "tests/support/catch.h"

using namespace fledge;
using namespace fledge::page;

namespace {

const std::string sentences_of_animals =
    "birds walk over there\ncats walk too\nbirds fly\nwho knows birds\n";

const Corpus& animals() {
  static const Corpus read = read_corpus(
      sentences_of_animals, {.reading = Reading::lines, .tokens = Tokens::word, .valid = 0});
  return read;
}

// `padding`: rows of the table that have no token.
LanguageModel model_of(const Recipe& recipe = {}, Dim padding = 0) {
  Rng rng(3);
  LanguageModelSizes sizes{.vocabulary = animals().tokenizer.size() + padding,
                           .context = 8,
                           .layers = 2,
                           .heads = 2,
                           .width = 8};
  sizes.recipe = recipe;
  LanguageModel model(sizes, rng);
  for (const Block& block : model.h) {  // far from an even split
    Real* const w = block.attn.c_attn.weight.write();
    for (Dim i = 0; i < block.attn.c_attn.weight.size(); ++i) w[i] *= Real(20);
  }
  return model;
}

std::vector<double> shares(const std::string& block) {
  const std::string bytes = base64_decoded(block);
  std::vector<double> numbers;
  for (std::size_t at = 0; at + 2 <= bytes.size(); at += 2)
    numbers.push_back(
        (static_cast<unsigned char>(bytes[at]) + 256 * static_cast<unsigned char>(bytes[at + 1])) /
        65535.0);
  return numbers;
}

std::vector<JsonValue> items(const JsonValue& list) {
  std::vector<JsonValue> found;
  list.each_item([&](const JsonValue& item) { found.push_back(item); });
  return found;
}

JsonValue snapshot(const LanguageModel& model, const Plan& plan, bool is_full) {
  return read_json(
      Json::object(snapshot_event(model, animals().tokenizer, plan, 7, is_full, &animals().train))
          .text());
}

}  // namespace

TEST_CASE("snapshot: attention, likeliest words and loss are those of the model") {
  for (const auto& [has_mask, padding] :
       {std::pair{true, Dim{0}}, std::pair{false, Dim{0}}, std::pair{true, Dim{9}}}) {
    Recipe recipe;
    recipe.mask = has_mask ? Masking::causal : Masking::none;
    const LanguageModel model = model_of(recipe, padding);
    const Plan plan = default_plan(animals(), 8);
    const JsonValue event = snapshot(model, plan, false);
    CHECK(event["step"].integer(0, 100) == 7);
    const std::vector<JsonValue> sentences = items(event["sentences"]);
    REQUIRE(sentences.size() == plan.sentences.size());
    for (std::size_t s = 0; s < sentences.size(); ++s) {
      const auto& [ids, next] = plan.sentences[s];
      const auto T = static_cast<Dim>(ids.size());
      const NoGrad no_grad;
      const auto [logits, layers] = model.forward_with_weights({{1, T}, ids});
      const std::vector<double> written = shares(sentences[s]["attention"].string());
      std::size_t at = 0;
      for (const Tensor& layer : layers)
        for (Dim h = 0; h < 2; ++h)
          for (Dim i = 0; i < T; ++i)
            for (Dim j = 0; j < (has_mask ? i + 1 : T); ++j)
              CHECK(std::abs(written.at(at++) - value_of(layer.value().at({0, h, i, j}))) < 8e-6);
      CHECK(at == written.size());
      std::vector<Dim> targets(ids.begin() + 1, ids.end());
      targets.push_back(*next);
      const double loss = cross_entropy(logits, Indices({1, T}, targets)).item();
      CHECK(sentences[s]["loss"].number() == Approx(loss).epsilon(1e-5));
      const Array p = softmax(slice(logits, -1, 0, animals().tokenizer.size())).value();
      const std::vector<double> top = shares(sentences[s]["top"].string());
      REQUIRE(top.size() == static_cast<std::size_t>(T) * 12);
      for (Dim i = 0; i < T; ++i) {
        const auto place = static_cast<std::size_t>(i) * 12;
        for (std::size_t n = 0; n < 6; ++n) {
          const auto token = static_cast<Dim>(std::lround(top[place + 2 * n] * 65535));
          CHECK(std::abs(top[place + 2 * n + 1] - value_of(p.at({0, i, token}))) < 8e-6);
          if (n > 0 && n < 5) CHECK(top[place + 2 * n + 1] <= top[place + 2 * n - 1]);
        }
        CHECK(std::lround(top[place + 10] * 65535) == targets[static_cast<std::size_t>(i)]);
      }
    }
  }
}

TEST_CASE("snapshot: a full one has q, k and v, from which the weights follow") {
  const LanguageModel model = model_of();
  const Plan plan = default_plan(animals(), 8);
  const JsonValue event = snapshot(model, plan, true);
  const auto T = plan.sentences[0].ids.size();
  const std::vector<double> numbers = floats_of_base64(items(event["vectors"])[0].string());
  REQUIRE(numbers.size() == 2 * 3 * T * 8);
  const std::vector<double> written = shares(items(event["sentences"])[0]["attention"].string());
  const std::size_t layer = 1, head = 1, query = T - 1;  // the last row of the last head
  std::vector<double> scores;
  double sum = 0;
  for (std::size_t j = 0; j <= query; ++j) {
    double product = 0;
    for (std::size_t c = 4 * head; c < 4 * head + 4; ++c)
      product +=
          numbers[layer * 3 * T * 8 + query * 8 + c] * numbers[(layer * 3 + 1) * T * 8 + j * 8 + c];
    scores.push_back(std::exp(product / 2));
    sum += scores.back();
  }
  for (std::size_t j = 0; j <= query; ++j)
    CHECK(std::abs(scores[j] / sum - written[written.size() - T + j]) < 2e-5);
  CHECK(floats_of_base64(event["map"].string()).size() == plan.map.size() * 8);
  CHECK(base64_decoded(event["tensors"]["bins"].string()).size() == 24 * parameters(model).size());
}

TEST_CASE("worked: the loss and the gradients are those of the engine") {
  const LanguageModel model = model_of();
  const Plan plan = default_plan(animals(), 8);
  const JsonValue worked = read_json(worked_json(model, plan, 7).text());
  const JsonValue event = snapshot(model, plan, true);
  const JsonValue sentence = items(event["gradients"])[0];
  CHECK(sentence["loss"].number() ==
        Approx(items(event["sentences"])[0]["loss"].number()).epsilon(1e-5));
  const auto T = plan.sentences[0].ids.size();
  const std::vector<double> ds = floats_of_base64(sentence["d_scores"].string());
  const std::vector<double> dy = floats_of_base64(sentence["d_mixed"].string());
  const std::vector<double> numbers = floats_of_base64(items(event["vectors"])[0].string());
  const std::vector<double> written = shares(items(event["sentences"])[0]["attention"].string());
  REQUIRE(ds.size() == 2 * T * T);
  double largest = 0;
  for (std::size_t h = 0; h < 2; ++h)
    for (std::size_t i = 0; i < T; ++i) {
      const std::size_t row = (2 + h) * T * (T + 1) / 2 + i * (i + 1) / 2;  // of layer 1
      std::vector<double> vdy(i + 1);
      double mean = 0;
      for (std::size_t j = 0; j <= i; ++j) {
        for (std::size_t c = 4 * h; c < 4 * h + 4; ++c)
          vdy[j] += numbers[5 * T * 8 + j * 8 + c] * dy[i * 8 + c];
        mean += written[row + j] * vdy[j];
      }
      for (std::size_t j = 0; j < T; ++j) {
        const double expected = j <= i ? written[row + j] * (vdy[j] - mean) : 0;
        CHECK(std::abs(ds[(h * T + i) * T + j] - expected) < 1e-5);
        largest = std::max(largest, std::abs(expected));
      }
    }
  CHECK(largest > 1e-4);
  for (const Tensor& parameter : parameters(model)) CHECK_FALSE(parameter.has_grad());
  CHECK(worked["weights"].is_object());
  CHECK(read_json(worked_json(model, plan, 7, false).text())["weights"].is_null());
}
