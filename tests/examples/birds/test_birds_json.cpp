// birds --json: one object with its keys, the claims in numbers, the same bytes everywhere.
#include <cmath>
#include <map>

#include "tests/examples/birds/command.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"
#include "tests/support/skipped.h"

using namespace testing;

namespace {

/// Bytes of --json with these arguments; a run with a message or another status than 0 fails.
std::string json_says(std::vector<std::string> arguments, const Environment& extra = {}) {
  arguments.insert(arguments.begin(), "--json");
  const Result result = birds_says(arguments, extra);
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  return result.out;
}

/// With the default seed and with a few others, each computed once.
const std::string& json_of(const std::string& seed) {
  static std::map<std::string, std::string> texts;
  std::string& text = texts[seed];
  if (text.empty())
    text = json_says(seed.empty() ? std::vector<std::string>{}
                                  : std::vector<std::string>{"--seed", seed});
  return text;
}

const StrictJson& found() {
  static const StrictJson whole = strict_json(json_of(""));
  return whole;
}

double share(const StrictJson& number) {
  CHECK(number.number() >= 0);
  CHECK(number.number() <= 1 + 1e-6);
  return number.number();
}

void check_cosine(const StrictJson& number) { CHECK(std::abs(number.number()) <= 1 + 1e-6); }

}  // namespace

TEST_CASE("birds --json: exactly one object, of these four keys, and a line end") {
  CHECK_THAT(json_of(""), StartsWith("{") && EndsWith("}\n"));
  std::vector<std::string> keys;
  for (const auto& member : found().object()) keys.push_back(member.first);
  CHECK(keys == std::vector<std::string>{"by_hand", "learning", "text", "gradcheck"});
}

TEST_CASE("birds --json: by_hand has the example's numbers") {
  const StrictJson& by_hand = found()["by_hand"];
  CHECK_THAT(by_hand["before"].number(), WithinAbs(-0.09, 1e-6));
  REQUIRE(by_hand["v_hat"].array().size() == 3);
  CHECK_THAT(by_hand["v_hat"][0].number(), WithinAbs(0.18, 1e-6));
  CHECK_THAT(by_hand["v_hat"][1].number(), WithinAbs(0.11, 1e-6));
  CHECK_THAT(by_hand["v_hat"][2].number(), WithinAbs(0.01, 1e-6));
  CHECK_THAT(by_hand["association"].number(), WithinAbs(0.043, 1e-6));
  CHECK_THAT(by_hand["row_sum"].number(), WithinAbs(1.1, 1e-6));
}

TEST_CASE("birds --json: learning raises every association, to its ceiling where there is one") {
  const StrictJson& learning = found()["learning"];
  REQUIRE(learning.array().size() == 6);
  std::map<std::string, const StrictJson*> by_name;
  for (const StrictJson& experiment : learning.array()) {
    const std::string name =
        experiment["learns"].string() + ", " + experiment["objective"].string();
    CAPTURE(name);
    CHECK(by_name.emplace(name, &experiment).second);
    CHECK(experiment["after"].number() > experiment["before"].number());
    REQUIRE(experiment["attention"].array().size() == 3);
    double sum = 0;
    for (const StrictJson& weight : experiment["attention"].array()) sum += share(weight);
    CHECK_THAT(sum, WithinAbs(1, 1e-5));
    if (experiment["ceiling"].is_null()) continue;
    CHECK_THAT(experiment["ceiling"].number(), WithinAbs(0.14, 1e-6));
    CHECK(experiment["after"].number() <= experiment["ceiling"].number());
  }
  for (const char* name : {"Q, product", "K, product", "Q and K, product"})
    CHECK_FALSE((*by_name.at(name))["ceiling"].is_null());
  for (const char* name : {"V, cosine", "Q, K and V, cosine"}) {
    CHECK((*by_name.at(name))["ceiling"].is_null());
    CHECK((*by_name.at(name))["after"].number() > 0.99);
  }
  CHECK((*by_name.at("Q and K, product"))["after"].number() >= 0.139);
  const StrictJson& runaway = *by_name.at("Q, K and V, product");
  CHECK(runaway["ceiling"].is_null());
  CHECK(runaway["attention"][0].number() < 0.1);
  CHECK(runaway["attention"][2].number() > 0.9);
}

TEST_CASE("birds --json: text says where walk looks and how the prompts go on") {
  const StrictJson& watch = found()["text"]["watch"];
  REQUIRE(watch.array().size() == 4);
  for (const StrictJson& pair : watch.array()) {
    CHECK_FALSE(pair["word"].string().empty());
    CHECK_FALSE(pair["looks_at"].string().empty());
    share(pair["attention_before"]);
    share(pair["attention_after"]);
    check_cosine(pair["association_before"]);
    check_cosine(pair["association_after"]);
    share(pair["p_hidden"]);
    CHECK(share(pair["p_visible"]) > 0.95);
  }
  CHECK(watch[0]["word"].string() == "walk");
  CHECK(watch[0]["looks_at"].string() == "birds");
  CHECK(watch[0]["attention_after"].number() > watch[0]["attention_before"].number() + 0.3);
  CHECK(watch[0]["association_after"].number() > watch[0]["association_before"].number());
  CHECK(watch[1]["looks_at"].string() == "sometimes");
  CHECK(watch[1]["attention_after"].number() < watch[1]["attention_before"].number());

  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    CHECK(watch[i]["p_hidden"].number() < watch[i]["p_visible"].number() * (i == 0 ? 0.1 : 0.9));
    CHECK(watch[i + 1]["p_hidden"].number() > watch[i + 1]["p_visible"].number() - 0.05);
  }
  CHECK(watch[1]["next"].string() == "slowly");
  CHECK(watch[3]["next"].string() == "flying");

  const StrictJson& completions = found()["text"]["completions"];
  REQUIRE(completions.array().size() == 3);
  CHECK(completions[0]["prompt"].string() == "birds sometimes");
  CHECK(completions[0]["next"].string() == "walk");
  CHECK(completions[1]["prompt"].string() == "birds sometimes walk");
  CHECK(completions[1]["next"].string() == "slowly");
  CHECK(completions[2]["prompt"].string() == "but birds are good at");
  CHECK(completions[2]["next"].string() == "flying");
  for (const StrictJson& completion : completions.array())
    CHECK(share(completion["probability"]) > 0.95);
}

TEST_CASE("birds --json: the loss stands between that of guessing and the least of the text") {
  const StrictJson& text = found()["text"];
  const double least = text["least_loss"].number(), guessing = text["loss_of_guessing"].number();
  CHECK_THAT(text["loss_before"].number(), WithinAbs(guessing, 0.1));
  CHECK(text["loss"].number() > least);
  CHECK(text["loss"].number() < least + 0.05);
}

TEST_CASE("birds --json: every parameter is proved by both oracles, whatever the seed") {
  for (const char* seed : {"", "7", "18446744073709551615"}) {
    CAPTURE(seed);
    if (sanitized && *seed != '\0') break;
    const StrictJson whole = strict_json(json_of(seed));
    const StrictJson& gradcheck = whole["gradcheck"];
    CHECK(gradcheck["parameters"].number() > 3000);
    CHECK(gradcheck["finite_difference"].number() > 0);
    CHECK(gradcheck["finite_difference"].number() <= 1e-8);
    CHECK(gradcheck["dual"].number() > 0);
    CHECK(gradcheck["dual"].number() <= 1e-12);
  }
}

TEST_CASE(
    "birds --json: a seed gives its bytes again, another seed another text, 1 is the default") {
  if (sanitized) {
    testing::report_skipped("a sanitizer has seen birds --json");
    return;
  }
  CHECK(json_of("7") != json_of(""));
  const auto head = [](const std::string& text) { return text.substr(0, text.find("\"text\"")); };
  CHECK(head(json_of("7")) == head(json_of("")));
  CHECK(json_says({"--seed=7"}) == json_of("7"));
  CHECK(json_of("18446744073709551615") != json_of("7"));
  CHECK(json_of("1") == json_of(""));
}

TEST_CASE("birds --json: the same bytes in every language, and in colour on no terminal") {
  if (sanitized) {
    testing::report_skipped("a sanitizer has seen birds --json");
    return;
  }
  CHECK(json_says({}, {{"LC_ALL", "de_DE.UTF-8"}}) == json_of(""));
  const Environment turkish{{"LC_ALL", "tr_TR.UTF-8"}, {"FORCE_COLOR", "1"}};
  CHECK(run_on_terminal(birds_with({"--json"}), turkish).out == json_of(""));
}
