// What a page records of a run: which steps and sentences, and the numbers of the model in them.
#include "examples/page/snapshot.h"

#include <cmath>

#include "engine/autograd.h"
#include "engine/ops.h"
#include "examples/page/base64.h"
#include "examples/page/worked.h"
#include "nn/io/errors.h"
#include "nn/io/json.h"
#include "tests/support/catch.h"

using namespace fledge;
using namespace fledge::page;

namespace {

Corpus words_in(const std::string& text, Reading reading) {
  return read_corpus(text, {.reading = reading, .tokens = Tokens::word, .valid = 0});
}
const Corpus& animals() {
  static const Corpus read = words_in(
      "birds walk over there\ncats walk too\nbirds fly\nwho knows birds\n", Reading::lines);
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

TEST_CASE("SnapshotSteps: the first steps are dense, the last is full") {
  const SnapshotSteps steps{500}, few{3};
  for (const int step : {0, 1, 2, 5, 10, 20, 50, 100, 200, 500}) CHECK(steps.is_full(step));
  for (const int step : {3, 300}) CHECK_FALSE(steps.is_full(step));
  int count = 0;
  for (int step = 0; step <= 500; ++step) count += steps.has(step);
  CHECK((count > 30 && count < 40));
  for (int step = 0; step <= 3; ++step) CHECK(few.has(step));
}

TEST_CASE("default_plan: sentences of the text, and what follows them; as an event, and refused") {
  const std::string text_of_lines = "birds walk\ncats walk too\nbirds fly\n";
  const Corpus lines = words_in(text_of_lines, Reading::lines);
  Plan plan = default_plan(lines, 10);
  const Dim size = lines.tokenizer.size();
  REQUIRE(plan.sentences.size() == 3);
  CHECK(lines.tokenizer.decode(plan.sentences[0].ids) == "\nbirds walk");
  CHECK(lines.tokenizer.decode(plan.sentences[2].ids) == "\nbirds fly");
  for (const Plan::Sentence& sentence : plan.sentences)
    CHECK(sentence.next == lines.tokenizer.find("\n"));  // the end of the document
  CHECK(plan.end == lines.tokenizer.find("\n"));
  CHECK(plan.map.size() == static_cast<std::size_t>(size));
  CHECK(lines.tokenizer.symbols()[static_cast<std::size_t>(plan.map[0])] == "\n");  // most frequent

  const Plan other = default_plan(words_in(text_of_lines, Reading::stream), 4);
  for (const Plan::Sentence& sentence : other.sentences) CHECK(sentence.ids.size() == 4);
  CHECK_FALSE(other.end);
  CHECK_FALSE(other.sentences.back().next);  // the text is over

  const std::string poem = "a cat sat\na dog ran\nthe bird sang\na fish swam\nthe owl slept\nend";
  const Corpus letters =
      read_corpus(poem, {.reading = Reading::stream, .tokens = Tokens::character, .valid = 0});
  for (const Plan::Sentence& sentence : default_plan(letters, 8).sentences) {
    const std::string excerpt = letters.tokenizer.decode(sentence.ids);
    CHECK(("\n" + poem).find("\n" + excerpt) != std::string::npos);  // it begins a line
  }

  plan.sentences[1].next.reset();
  plan.watch.push_back({"walk", "birds", "cats", 5, 1, 2});
  const std::string text = Json::object(plan_event(plan)).text();
  CHECK(Json::object(plan_event(read_plan(read_json(text), size, 10))).text() == text);
  CHECK_THROWS_AS(read_plan(read_json(text), 2, 10), FormatError);
  CHECK_THROWS_AS(read_plan(read_json(text), size, 2), FormatError);
  for (const char* part : {"sentences", "prompts", "watch", "map", "continued"}) {
    std::string changed = text;
    changed.replace(changed.find(part), 4, "none");
    CHECK_THROWS_AS(read_plan(read_json(changed), size, 10), FormatError);
  }
}
