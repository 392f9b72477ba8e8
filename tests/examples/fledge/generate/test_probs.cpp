// fledge generate --probs: the probabilities that were used to draw, and the drawn token among them.
#include "examples/fledge/generate/probs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "examples/support/text.h"
#include "tests/examples/fledge/generate/recorded.h"

using namespace testing;
using fledge::DrawnToken;

TEST_CASE("drawn_token: five likeliest, and always the drawn one, with its rank") {
  const fledge::Array logits({8}, {0, 1, 2, 3, 4, 5, 6, 7});
  const DrawnToken rare = fledge::drawn_token(logits, {.temperature = 1}, 0, 4);
  CHECK(rare.drawn.token == 0);
  CHECK(rare.drawn.rank == 8);
  REQUIRE(rare.likeliest.size() == 5);
  CHECK(rare.likeliest[3].token == 4);
  CHECK(rare.likeliest[4].token == 0);
  CHECK(rare.likeliest[4].rank == 8);
  double sum = 0;
  for (int i = 0; i < 8; ++i) sum += std::exp(i);
  CHECK(rare.drawn.probability == Approx(1 / sum));
  CHECK(rare.surprise() == Approx(std::log2(sum)));
  const DrawnToken usual = fledge::drawn_token(logits, {.temperature = 1}, 6, 0);
  CHECK(usual.drawn.rank == 2);
  CHECK(usual.likeliest[4].token == 3);
  const DrawnToken few = fledge::drawn_token(logits, {.temperature = 1, .top_k = 2}, 6, 0);
  REQUIRE(few.likeliest.size() == 2);
  CHECK(few.drawn.probability == Approx(1 / (1 + std::exp(1))));
}

TEST_CASE("fledge generate --probs: the probabilities of the temperature, top-k and top-p in use") {
  const fledge::LanguageModel model = fledge::load_trained(models().chars()).model;
  for (const Words& how : {Words{}, Words{"--temperature", "1.7"}, Words{"--top-k", "3"},
                           Words{"--top-p", "0.5"}, Words{"--temperature", "0"}}) {
    CAPTURE(how);
    const Words line = Words{models().chars(), "the ", "--tokens-out", "12"} + how;
    const StrictJson found = read_line(text(line + Words{"--probs", "--json"}));
    fledge::SampleOptions options;
    if (how.size() > 0 && how[0] == "--temperature")
      options.temperature = std::strtod(how[1].c_str(), nullptr);
    if (how.size() > 0 && how[0] == "--top-k") options.top_k = 3;
    if (how.size() > 0 && how[0] == "--top-p") options.top_p = 0.5;
    // The text itself, read step by step.
    const std::vector<Dim> ids = characters().encode("the " + found["text"].string());
    REQUIRE(found["probs"].array().size() == 12);
    fledge::Decoder decoder(model);
    fledge::Array logits = decoder.read({ids.begin(), ids.begin() + 4});
    std::string csv = "position,rank,id,token,probability,drawn\n";
    for (std::size_t n = 0; n < 12; ++n) {
      const StrictJson& step = found["probs"][n];
      const Dim token = ids[4 + n];
      CHECK(step["position"].number() == static_cast<double>(4 + n));
      CHECK(step["token"].string() == characters().decode({token}));
      CHECK(step["id"].number() == static_cast<double>(token));
      const std::vector<fledge::Choice> all = choices(logits, options);
      CHECK(step["likeliest"].array().size() == std::min<std::size_t>(5, all.size()));
      bool has_drawn = false;
      for (const StrictJson& likely : step["likeliest"].array()) {
        const auto rank = static_cast<std::size_t>(likely["rank"].number());
        const fledge::Choice& choice = all.at(rank - 1);
        CHECK(likely["token"].string() == characters().decode({choice.token}));
        CHECK(likely["id"].number() == static_cast<double>(choice.token));
        CHECK(likely["probability"].number() == choice.probability);
        has_drawn = has_drawn || choice.token == token;
        if (choice.token == token) CHECK(step["probability"].number() == choice.probability);
        const std::string name = likely["token"].string();
        csv += std::to_string(4 + n) + "," + std::to_string(rank) + "," +
               std::to_string(choice.token) + "," + (name == "\n" ? "\"\n\"" : name) + "," +
               fledge::json_number(choice.probability) + "," +
               (choice.token == token ? "1\n" : "0\n");
      }
      CHECK(has_drawn);
      logits = decoder.read({token});
    }
    CHECK(text(line + Words{"--probs", "--csv"}) == csv);
  }
}
