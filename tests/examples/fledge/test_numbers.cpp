// The numbers that generate, train, eval and inspect show are those that the library computes.
#include <cmath>
#include <cstdlib>

#include "engine/autograd.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/trained_model.h"
#include "examples/support/text.h"
#include "nn/generate/sampler.h"
#include "nn/gpt/decoder.h"
#include "nn/text/corpus.h"
#include "tests/examples/fledge/training.h"

using namespace testing;
using fledge::Dim;

namespace {

StrictJson json_of(const Words& line) { return strict_json(done(line + Words{"--json"}).out); }

/// The characters of the desk's text.
const fledge::Corpus& corpus() {
  static const fledge::Corpus read = fledge::read_corpus(small_text(), {});
  return read;
}

void check_window(const StrictJson& begin, const StrictJson& ids, const StrictJson& tokens,
                  const std::vector<Dim>& window, std::size_t end) {
  CHECK(begin.number() == static_cast<double>(end - window.size()));
  REQUIRE(ids.array().size() == window.size());
  for (std::size_t t = 0; t < window.size(); ++t) {
    CHECK(ids[t].number() == static_cast<double>(window[t]));
    CHECK(tokens[t].string() == corpus().tokenizer.decode({window[t]}));
  }
}

/// The likeliest tokens of a step of --probs, the drawn one among them, from these logits.
void check_step(const StrictJson& step, std::size_t position, Dim token,
                const fledge::Array& logits, const fledge::SampleOptions& options) {
  const std::vector<fledge::Choice> all = choices(logits, options);
  const auto& likeliest = step["likeliest"].array();
  CHECK(step["position"].number() == static_cast<double>(position));
  CHECK(step["id"].number() == static_cast<double>(token));
  REQUIRE(likeliest.size() == std::min<std::size_t>(5, all.size()));
  int drawn = 0;
  for (std::size_t i = 0; i < likeliest.size(); ++i) {
    const StrictJson& likely = likeliest[i];
    const auto rank = static_cast<std::size_t>(likely["rank"].number());
    const fledge::Choice& choice = all.at(rank - 1);
    CHECK((rank == i + 1 || (i == 4 && choice.token == token)));
    CHECK(likely["id"].number() == static_cast<double>(choice.token));
    CHECK(likely["token"].string() == corpus().tokenizer.decode({choice.token}));
    CHECK(likely["probability"].number() == choice.probability);
    if (choice.token != token) continue;
    ++drawn;
    CHECK(step["probability"].number() == choice.probability);
    CHECK(step["rank"].number() == static_cast<double>(rank));
  }
  CHECK(drawn == 1);
}

}  // namespace

TEST_CASE("fledge generate: probabilities, attention and --why are those of the step that drew") {
  const Desk desk;
  const std::string deep = desk / "deep";
  done(Words{"train", desk.poems(), "-o", deep, "-q"} +
       words("--layers 2 --heads 2 --width 16 --context 40 --batch 2 --steps 5 --lr 0.03"));
  const std::pair<Words, fledge::SampleOptions> ways[] = {
      {{}, {}},
      {{"--temperature", "1.7"}, {.temperature = 1.7}},
      {{"--top-k", "3"}, {.top_k = 3}},
      {{"--top-p", "0.5"}, {.top_p = 0.5}},
      {{"--temperature", "0"}, {.temperature = 0}}};
  std::size_t way = 0, whys = 0;
  for (const std::string& run : {desk.run("chars"), deep}) {
    const fledge::LanguageModel model = fledge::load_trained(run).model;
    for (const std::size_t count : {1U, 12U, 13U, 36U, 37U, 60U, 130U}) {
      const auto& [how, options] = ways[way++ % 5];
      const Words line = Words{"generate", run, "the "} +
                         words("--seed 1 --probs --attention --tokens-out") +
                         Words{std::to_string(count)} + how;
      CAPTURE(line);
      const std::string text = "the " + json_of(line)["text"].string();
      // A word is explained at its first token after the prompt.
      const std::string word = text.substr(text.size() - std::min<std::size_t>(count, 6));
      const StrictJson found = json_of(line + Words{"--why", word}), &why = found["why"];
      const std::size_t at = text.find(word, 4);
      const std::vector<Dim> ids = corpus().tokenizer.encode(text);
      REQUIRE(ids.size() == 4 + count);
      REQUIRE(found["probs"].array().size() == count);
      fledge::Decoder decoder(model);
      fledge::Array logits = decoder.read({ids.begin(), ids.begin() + 4});
      for (std::size_t n = 4; n < ids.size(); ++n) {
        const std::vector<Dim> window = decoder.window();
        const auto T = static_cast<Dim>(window.size());
        check_step(found["probs"][n - 4], n, ids[n], logits, options);
        const bool is_explained = n == at && word.find_first_not_of(" \n") != word.npos;
        if (!is_explained && n + 1 < ids.size()) {
          logits = decoder.read({ids[n]});
          continue;
        }
        const fledge::NoGrad no_grad;
        const auto weights = model.forward_with_weights({{1, T}, window}).weights;
        const auto weight = [&](const StrictJson& head, Dim query, Dim key) {
          return fledge::value_of(
              weights.at(static_cast<std::size_t>(head["layer"].number()))
                  .value()
                  .at({0, static_cast<Dim>(head["head"].number()), query, key}));
        };
        if (is_explained) {
          ++whys;
          check_window(why["begin"], why["read_ids"], why["read"], window, n);
          for (const fledge::Choice& choice : choices(logits, {.temperature = 1}))
            if (choice.token == ids[n])
              CHECK(why["probability"].number() == Approx(choice.probability).epsilon(1e-5));
          CHECK(why["probability"].number() == Approx(std::exp(why["ln_p"].number())));
          for (const StrictJson& head : why["heads"].array()) {
            std::vector<double> row;
            for (Dim key = 0; key < T; ++key) row.push_back(weight(head, T - 1, key));
            const auto& most = head["most"].array();
            REQUIRE(most.size() == std::min<std::size_t>(3, row.size()));
            std::sort(row.rbegin(), row.rend());
            for (std::size_t i = 0; i < most.size(); ++i) {
              const Dim key = static_cast<Dim>(most[i]["position"].number()) -
                              static_cast<Dim>(why["begin"].number());
              CHECK(std::abs(most[i]["weight"].number() - weight(head, T - 1, key)) < 1e-5);
              CHECK(std::abs(most[i]["weight"].number() - row[i]) < 1e-5);
            }
          }
          REQUIRE(why["left_out"].array().size() + 1 == window.size());
          for (std::size_t i = 0; i + 1 < window.size(); ++i) {
            const StrictJson& effect = why["left_out"][i];
            CHECK(effect["position"].number() == why["begin"].number() + static_cast<double>(i));
            CHECK(effect["id"].number() == static_cast<double>(window[i]));
            CHECK(effect["change"].number() != 0);
            CHECK(effect["change"].number() ==
                  Approx(effect["ln_p"].number() - why["ln_p"].number()).margin(1e-9));
          }
        }
        if (n + 1 == ids.size()) {
          const StrictJson& shown = found["attention"];
          check_window(shown["begin"], shown["ids"], shown["tokens"], window, n);
          CHECK(shown["heads"].array().size() ==
                static_cast<std::size_t>(model.sizes.layers * model.sizes.heads));
          bool same = true;
          for (const StrictJson& head : shown["heads"].array())
            for (Dim query = 0; query < T; ++query)
              for (Dim key = 0; key < T; ++key)
                same = same && std::abs(head["weights"][static_cast<std::size_t>(query)]
                                            [static_cast<std::size_t>(key)]
                                                .number() -
                                        weight(head, query, key)) < 1e-5;
          CHECK(same);
        }
        logits = decoder.read({ids[n]});
      }
    }
  }
  CHECK(whys >= 8);
}

TEST_CASE("fledge train: the losses that are shown are those of the model, with and without -o") {
  const Desk desk;
  for (const Words& how : {Words{"--eval-every", "5"}, {"--valid", "0"}}) {
    const std::string run = desk / how[0];
    const Result result = trained(Words{desk.poems(), "-o", run, "--json"} + how);
    const std::vector<StrictJson> events = json_lines(result.out);
    const bool holds_out = how[0] != "--valid";
    const fledge::Corpus read = fledge::read_corpus(small_text(), {.valid = holds_out ? 0.1 : 0});
    const double loss = fledge::mean_loss(fledge::load_trained(run).model, read.train, 2, 120, 8);
    CHECK(events.back()["train_loss"].number() == Approx(loss).epsilon(1e-12));
    CHECK(events.back()["model_step"].number() == 20);
    int evaluations = 0;
    for (const StrictJson& event : events) {
      const bool is_last = event.contains("step") && event["step"].number() == 20;
      if (event["type"].string() == "step" && (is_last || event["step"].number() == 1))
        CHECK_THAT(result.err, ContainsSubstring(support::formatted("\nstep=%.0f of=20 loss=%.4f ",
                                                                    event["step"].number(),
                                                                    event["loss"].number())));
      if (event["type"].string() != "eval") continue;
      ++evaluations;
      if (is_last) CHECK(event["train_loss"].number() == Approx(loss).epsilon(1e-6));
    }
    CHECK(evaluations == (holds_out ? 4 : 0));
    if (!holds_out)
      CHECK_THAT(result.err, ContainsSubstring(support::formatted(
                                 "\nTraining loss %.4f nats per character", loss)));
  }
}

TEST_CASE("fledge train: the last report is about the model that is kept, and eval agrees") {
  const Desk desk;
  const std::string run = desk / "run";
  const Result result = done(  // a rate that is too high: the best is not the last
      Words{"train", desk.poems(), "-o", run} +
      words("--eval-every 1 --lr 3 --warmup 0 --layers 1 --width 16 --heads 1 --context 16 "
            "--steps 200 --patience 2 --json"));
  const std::vector<StrictJson> events = json_lines(result.out);
  const StrictJson& end = events.back();
  const double best = end["best_held_out_loss"].number();
  REQUIRE(end["model_step"].number() < end["step"].number());
  CHECK(best < end["held_out_loss"].number());
  CHECK_THAT(result.err, ContainsSubstring(support::formatted(
                             " at step %.0f. This model is saved in", end["model_step"].number())));
  CHECK_THAT(result.err, ContainsSubstring("last step scores "));
  CHECK_THAT(result.err, !ContainsSubstring("--resume"));  // more steps would not help
  const std::string loss = support::formatted("Held-out loss %.4f ", best);
  CHECK_THAT(result.err, ContainsSubstring("\n" + loss));
  CHECK_THAT(fledge_says({"eval", run}).out, StartsWith(loss));
  CHECK(json_of({"eval", run})["loss"].number() == best);
  for (const std::string& line : lines_of(result.err))
    if (line.starts_with("  counting table, ")) {
      const double table = std::atof(&line[line.find_first_of("0123456789", 40)]);
      CHECK(line.ends_with(best < table ? "  beaten" : "not beaten"));
    }
  const fledge::LanguageModel model = fledge::load_trained(run).model;
  const auto first = fledge::train::first_token(corpus().tokenizer, false);
  for (std::int64_t i = 1; i <= 3; ++i) {
    fledge::Rng rng = fledge::Rng(1).stream(3).stream(static_cast<std::uint64_t>(-i));
    fledge::Decoder decoder(model);
    std::vector<Dim> drawn;
    generate(decoder, {first.id}, 200, {}, rng, [&](Dim id, const fledge::Array&) {
      drawn.push_back(id);
      return true;
    });
    CHECK(events[events.size() - 5 + static_cast<std::size_t>(i)]["text"].string() ==
          corpus().tokenizer.decode(drawn));
  }
}

TEST_CASE("fledge inspect: tensors and heads are those of the weights") {
  const Desk desk;
  const std::string run = desk.run("run", {"--tokens", "word"});
  const fledge::TrainedModel trained = fledge::load_trained(run);
  const StrictJson all = json_of({"inspect", run});
  const auto named = fledge::named_parameters(trained.model);
  REQUIRE(all["model"]["tensors"].array().size() == named.size());
  double squares = 0, parts = 0;
  for (std::size_t i = 0; i < named.size(); ++i) {
    const StrictJson& tensor = all["model"]["tensors"][i];
    CHECK(tensor["name"].string() == named[i].name);
    double sum = 0;
    for (const double w : fledge::to_vector(named[i].tensor.value())) sum += w * w;
    CHECK_THAT(tensor["norm"].number(), WithinRel(std::sqrt(sum), 1e-12));
    if (named[i].name == "h.0.attn.c_attn.weight") squares = sum;
  }
  // One head: its query, key and value columns are all of c_attn.
  for (const char* part : {"query", "key", "value"})
    parts += std::pow(all["model"]["head_norms"][0][part].number(), 2);
  CHECK_THAT(parts, WithinRel(squares, 1e-12));
  CHECK(all["model"]["parameters"].number() ==
        static_cast<double>(fledge::count_parameters(trained.model)));
}
