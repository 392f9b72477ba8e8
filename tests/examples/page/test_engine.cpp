// The engine of a page, compiled for this machine, beside the programs that have the same numbers.
// make page-bits compares it with the module.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "examples/birds/text_model.h"
#include "examples/fledge/train/train_config.h"
#include "examples/fledge/trained_model.h"
#include "examples/page/engine/interface.h"
#include "examples/page/engine/settings.h"
#include "examples/support/built_in_text.h"
#include "nn/inspect/ngram_losses.h"
#include "nn/inspect/word_vectors.h"
#include "tests/support/folder.h"
#include "tests/support/given.h"
#include "tests/support/refuses.h"

using namespace fledge;
using tests::refusal;

namespace {

std::uint32_t length(const std::string& bytes) { return static_cast<std::uint32_t>(bytes.size()); }
/// Gives the engine these bytes; returns how many they are.
std::uint32_t put(const std::string& bytes) {
  bytes.copy(fledge_input(length(bytes)), bytes.size());
  return length(bytes);
}

std::string output(std::uint32_t bytes) { return {fledge_output(), bytes}; }
template <class Number>
std::vector<Number> numbers(std::uint32_t bytes) {
  std::vector<Number> list(bytes / sizeof(Number));
  std::memcpy(list.data(), fledge_output(), bytes);
  return list;
}

JsonValue begin_run(const std::string& text, const std::string& settings) {
  put(text + settings);
  return read_json(output(fledge_new(length(text), length(settings))));
}

void read_sentence(const std::string& words) { fledge_read(put(words)); }

std::string birds_settings(const Corpus& corpus) {
  return settings_json(
             {birds::reading_options, birds::model_sizes(corpus), birds::training_options(1)}, "")
      .text();
}

std::vector<float> weights_in(const LanguageModel& model) {
  std::vector<float> weights;
  for (const Tensor& tensor : parameters(model))
    for (const double weight : to_vector(tensor.value()))
      weights.push_back(static_cast<float>(weight));
  return weights;
}

std::vector<double> losses_of(const std::vector<double>& steps) {
  std::vector<double> losses;
  for (std::size_t i = 1; i < steps.size(); i += 4) losses.push_back(steps[i]);
  return losses;
}

JsonValue head(const std::string& json) { return read_json(output(fledge_head(put(json)))); }
/// The numbers of a list; null, which is what is hidden, is 1e9.
std::vector<double> list(const JsonValue& json) {
  std::vector<double> found;
  json.each_item([&](const JsonValue& x) { found.push_back(x.is_null() ? 1e9 : x.number()); });
  return found;
}
std::vector<double> row(const JsonValue& rows, std::size_t which) {
  std::vector<std::vector<double>> all;
  rows.each_item([&](const JsonValue& one) { all.push_back(list(one)); });
  return all.at(which);
}
bool is_near(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return std::abs(x - y) < 1e-5; });
}

}  // namespace

TEST_CASE("page: the birds have the losses, the weights and the next words of the program") {
  const Corpus corpus = birds::read_text();
  const LanguageModel model = birds::new_model(corpus, 1);
  const std::vector<double> losses = birds::train(model, corpus, 1);
  begin_run(std::string(support::built_in_text()), birds_settings(corpus));
  CHECK(losses_of(numbers<double>(fledge_step(1000))) == losses);
  CHECK(numbers<float>(fledge_weights()) == weights_in(model));
  for (const std::string words : {"birds", "birds sometimes walk", "but birds are good at"}) {
    const birds::Completion expected = birds::complete(model, corpus, words);
    read_sentence(words);
    const auto last = static_cast<std::uint32_t>(std::count(words.begin(), words.end(), ' ') + 1);
    read_json(output(fledge_next(-1, 0, last, 1))).each_item([&](const JsonValue& next) {
      CHECK(next["word"].string() == expected.next);
      CHECK(next["p"].number() == expected.probability);
    });
  }
}

TEST_CASE("page: what is not given is chosen as fledge train chooses it") {
  const std::string text(support::built_in_text());
  for (const auto& [settings, given] : std::vector<std::pair<std::string, std::string>>{
           {R"({"tokens":"character","valid":0.1})", ""},
           {R"({"tokens":"character","valid":0.1,"rate":0.5,"width":24})", "--lr --width"},
           {R"({"tokens":"character","valid":0.1,"heads":3,"warmup":900})", "--heads --warmup"}}) {
    INFO(settings);
    train::TrainConfig config;
    config.corpus.tokens = Tokens::character;
    config.texts = {"text"};
    config.training.schedule.rate = 0.5, config.sizes.width = 24;
    config.sizes.heads = 3, config.training.schedule.warmup = 900;
    for (const char* option : {"--lr", "--width", "--heads", "--warmup"})
      if (given.find(option) != given.npos) config.given.insert(option);
    const Corpus corpus = read_corpus(text, config.corpus);
    config.sizes.vocabulary = corpus.tokenizer.size();
    config.minutes = 1000;  // so that the passes over the text end both runs
    train::choose_for_text(config, corpus);

    const JsonValue run = begin_run(text, settings);
    const auto is = [&](const char* name, double expected) {
      INFO(name);
      CHECK(run["settings"][name].number() == expected);
    };
    is("layers", static_cast<double>(config.sizes.layers));
    is("heads", static_cast<double>(config.sizes.heads));
    is("width", static_cast<double>(config.sizes.width));
    is("context", static_cast<double>(config.sizes.context));
    is("batch", static_cast<double>(config.training.batch));
    is("steps", static_cast<double>(config.training.schedule.steps));
    is("rate", config.training.schedule.rate);
    Rng rng(config.training.seed);
    Trainer trainer(LanguageModel(config.sizes, rng), corpus.train, config.training);
    std::vector<double> losses;
    for (int step = 0; step < 12; ++step) losses.push_back(trainer.step().loss);
    CHECK(losses_of(numbers<double>(fledge_step(12))) == losses);
  }
}

TEST_CASE("page: fledge opens a run that the page has saved, and the page goes on with it") {
  const std::string text(support::built_in_text()),
      settings = R"({"tokens":"character","steps":8,"without":["scale"],)"
                 R"("forms":{"tied_qk":true},"freeze":["v"],"seed":7,"name":"100% birds.txt",)"
                 R"("optimizer":"muon","decay":0.3,"clip":2,"dropout":0.05,"warmup":2})";
  const JsonValue begun = begin_run(text, settings);
  fledge_step(3);
  const std::string file = output(fledge_save());
  const std::vector<float> weights = numbers<float>(fledge_weights());
  const std::vector<double> rest = numbers<double>(fledge_step(100));

  const testing::Folder folder;
  testing::write_file(folder / "run.safetensors", file);
  const TrainedModel opened = load_trained(folder.path());
  CHECK(opened.has_run());
  CHECK(opened.step == 3);
  CHECK(opened.run.settings.texts == std::vector<std::string>{"100% birds.txt"});
  CHECK(opened.run.settings.training.seed == 7);
  CHECK(opened.run.settings.training.schedule.steps == 8);
  CHECK(words_of_none(opened.model.sizes.recipe) == std::vector<std::string>{"scale"});
  CHECK(words_of_none(opened.run.settings.sizes.recipe.learned) == std::vector<std::string>{"v"});
  CHECK(opened.run.settings.sizes.recipe.tie_qk);
  CHECK(weights_in(opened.model) == weights);

  put(file + text);
  const JsonValue loaded = read_json(output(fledge_load(length(file), length(text))));
  CHECK(loaded["step"].number() == 3);
  // The page can begin such a run again.
  CHECK(loaded["settings"]["optimizer"].string() == "muon");
  begun["settings"].each_member([&](const std::string& name, const JsonValue& value) {
    INFO(name);
    if (name != "symbols") CHECK(loaded["settings"][name].shown() == value.shown());
  });
  CHECK(numbers<double>(fledge_step(100)) == rest);
  CHECK(rest.size() == 4 * 5);

  // Another text trains nothing, and is what the model is compared with.
  const std::string part = text.substr(0, 500);
  put(file + part);
  CHECK_FALSE(read_json(output(fledge_load(length(file), length(part))))["trains"].boolean());
  read_sentence("b");
  CHECK_THAT(output(fledge_said()), ContainsSubstring("count"));

  // A step of this batch is too large for a page, and its seed for JavaScript; the model is shown.
  train::RunConfig large = opened.run;
  large.settings.training.batch = 1'000'000;
  large.settings.training.seed = ~std::uint64_t{0};
  const Trainer trainer(opened.model, {std::vector<Dim>(1000), {}}, large.settings.training);
  const std::string shown = checkpoint_bytes(trainer, {}, {}, train::config_text(large));
  put(shown + text);
  CHECK_FALSE(read_json(output(fledge_load(length(shown), length(text))))["trains"].boolean());
  CHECK(numbers<float>(fledge_weights()) == weights);
  std::string older = train::config_text(large);
  older.replace(older.find("\"version\": 8"), 12, "\"version\": 7");
  const std::string of_older = checkpoint_bytes(trainer, {}, {}, older);
  put(of_older);
  CHECK_THAT(refusal<FormatError>([&] { fledge_load(length(of_older), 0); }),
             ContainsSubstring("must be 8"));
  // One token has no next one.
  read_sentence("b");
  CHECK(std::isnan(fledge_sentence_loss(-1)));
  CHECK(numbers<float>(fledge_gradient(-1)) ==
        std::vector<float>(
            static_cast<std::size_t>(opened.model.sizes.layers * opened.model.sizes.heads)));
}

TEST_CASE("page: what the text says behind a sentence is counted in its tokens") {
  const auto said = [](const std::string& sentence) {
    read_sentence(sentence);
    std::string all;
    read_json(output(fledge_said())).each_item([&](const JsonValue& next) {
      const std::string word = next["word"].string();
      all += (word == "\n" ? "end" : word) + next["count"].shown() + " ";
    });
    return all;
  };
  const std::string lines = "birds fly\r\nbirds walk slowly\n\nhow birds walk\nbirds walk\n";
  const JsonValue run = begin_run(lines, R"({"lines":true,"tokens":"word","steps":2,"valid":0})");
  CHECK(said("birds") == "walk2 fly1 ");  // a sentence begins its line
  CHECK(said("birds walk") == "end1 slowly1 ");
  CHECK(said("slowly").empty());
  Dim all = 0;
  run["counts"].each_item([&](const JsonValue& count) { all += count.integer(0, 10); });
  CHECK(all == 10 + 5);  // words and line ends
  begin_run("abcabdab", R"({"tokens":"character","valid":0})");
  CHECK(said("ab") == "c1 d1 ");  // the last one has nothing behind it
  CHECK(said("b") == "c1 d1 ");
  CHECK(said("cb").empty());
}

TEST_CASE("page: a wrong call is refused with a sentence") {
  CHECK(refusal<ValueError>([] { begin_run("", "{}"); }) == "read_corpus: the text is empty");
  CHECK(refusal<FormatError>([] { begin_run("a b", R"({"colour":1})"); }).find("colour") !=
        std::string::npos);
  CHECK(refusal<FormatError>([] { begin_run("a b", R"({"without":["wheel"]})"); }).find("wheel") !=
        std::string::npos);
  begin_run(std::string(support::built_in_text()), R"({"lines":true,"tokens":"word","steps":2})");
  CHECK(refusal<ValueError>([] { fledge_attention(); }) == "page: needs a sentence");
  read_sentence("birds walk");
  CHECK(refusal<ValueError>([] { fledge_cell(0, 0, 1, 3); }) ==
        "cell: needs a layer, head, query and key that exist");
  put("{}");
  CHECK(refusal<ValueError>([] { fledge_new(1, 2); }) ==
        "page: needs 2 bytes of input from byte 1 on: got 2");
}

TEST_CASE("page: one head has the numbers that a pen finds") {
  // q = (1, 0), (0, 1)   k = (2, 0), (0, 4)   v = x   without a scale
  const JsonValue two = head(
      R"({"x":[[1,0],[0,1]],"wk":[[2,0],[0,4]],"scale":false,"causal":true,"goal":{"row":1,"with":[0,3]}})");
  CHECK(is_near(row(two["k"], 1), {0, 4}));
  CHECK(is_near(row(two["scores"], 0), {2, 1e9}));  // hidden
  CHECK(is_near(row(two["scores"], 1), {0, 4}));
  const double a = 1 / (1 + std::exp(4)), b = 1 - a;
  CHECK(is_near(row(two["weights"], 0), {1, 0}));
  CHECK(is_near(row(two["weights"], 1), {a, b}));
  CHECK(is_near(row(two["output"], 1), {a, b}));
  CHECK(std::abs(two["goal"].number() - 3 * b) < 1e-5);
  // ds_j = a_j (u_j - G) with u = (0, 3); dq = ds_1 k_1 + ds_2 k_2; row r of dW_Q is x_r dq.
  const std::vector<double> ds{-3 * a * b, b * (3 - 3 * b)};
  CHECK(is_near(row(two["gradient"]["scores"], 1), ds));
  CHECK(is_near(row(two["gradient"]["wq"], 0), {0, 0}));
  CHECK(is_near(row(two["gradient"]["wq"], 1), {2 * ds[0], 4 * ds[1]}));
  CHECK(is_near(row(two["gradient"]["wk"], 0), {0, ds[0]}));
  CHECK(is_near(row(two["gradient"]["wv"], 0), {0, 3 * a}));

  // Queries of another input, and the scale 1/sqrt(4): scores 1, 0 and the mean of two values.
  const JsonValue cross = head(R"({"x":[[0,0,0,0],[1,1,1,1]],"from":[[5,5]],)"
                               R"("wq":[[0,0,0,0],[0,0,0,0]],"v":[[1],[3]]})");
  CHECK(is_near(row(cross["output"], 0), {2}));
  CHECK(cross.find("goal").is_null());
  const JsonValue given =
      head(R"({"q":[[2,0,0,0]],"k":[[1,0,0,0]],"v":[[7]],"goal":{"row":0,"with":[1]}})");
  CHECK(is_near(row(given["scores"], 0), {1}));
  CHECK(given["gradient"]["wq"].is_null());

  // Without softmax, weights are scores. y − (y·v̂)v̂ of y = (1.5, 1) and v = (2, 0) is (0, 1).
  const JsonValue linear =
      head(R"({"q":[[2,1]],"k":[[1,0],[0,3]],"v":[[1],[10]],"scale":false,"linear":true})");
  CHECK(is_near(row(linear["weights"], 0), {2, 3}));
  CHECK(is_near(row(linear["output"], 0), {32}));
  const JsonValue others =
      head(R"({"x":[[1,2],[2,0]],"q":[[0],[0]],"k":[[0],[0]],"exclusive":true})");
  CHECK(is_near(row(others["output"], 1), {0, 1}));
}

TEST_CASE("page: a head whose sizes do not fit is refused with a sentence") {
  testing::check_given(
      FLEDGE_SOURCE_DIR "/tests/examples/page/heads.txt",
      {{"head", [](auto& json) { return refusal<ValueError>([&] { head(json); }); }}});
  for (const auto& [json, part] :
       {std::pair{R"({"x":[[1]],"goal":{"row":1,"with":[1]}})", "goal.row"}, {R"({"y":1})", "y"}})
    CHECK_THAT(refusal<FormatError>([&, text = json] { head(text); }), ContainsSubstring(part));
}

TEST_CASE("page: every number of a cell, and what changes do to attention") {
  const std::string text = "abcdabdcabcadbca";
  const std::string settings =
      R"("tokens":"character","valid":0.25,"layers":2,"heads":2,"width":8,"context":6,"seed":3})";
  const auto change = [](const std::string& json) { fledge_change(put(json)); };
  const auto next = [](int layer, std::uint32_t part) {
    return output(fledge_next(layer, part, 3, 4));
  };
  for (const bool is_scaled : {true, false}) {
    begin_run(text, (is_scaled ? "{" : R"({"without":["scale"],)") + settings);
    const std::vector<float> own = numbers<float>(fledge_weights());
    std::vector<float> large = own;
    for (float& weight : large)
      if (weight != 1) weight *= 9;  // all but the gains of the norms
    const auto bytes = static_cast<std::uint32_t>(large.size() * sizeof(float));
    std::memcpy(fledge_input(bytes), large.data(), bytes);
    fledge_show(bytes);
    CHECK(numbers<float>(fledge_weights()) == large);
    CHECK_THAT(refusal<ValueError>([&] { fledge_show(bytes - 4); }), ContainsSubstring("weights"));
    read_sentence("abcd");
    const std::vector<float> all = numbers<float>(fledge_attention());  // (2, 2, 4, 4)
    const auto cell = [](std::uint32_t head, std::uint32_t query, std::uint32_t key) {
      return read_json(output(fledge_cell(1, head, query, key)));
    };
    std::vector<double> mixed(4);
    for (std::uint32_t key = 0; key < 4; ++key) {
      const JsonValue at = cell(1, 3, key);
      const std::vector<double> q = list(at["q"]), k = list(at["k"]), v = list(at["v"]),
                                products = list(at["products"]), weights = list(at["weights"]);
      double dot = 0;
      for (std::size_t d = 0; d < 4; ++d) {
        CHECK(std::abs(products[d] - q[d] * k[d]) < 1e-5);
        dot += products[d];
        CHECK(std::abs(list(at["part"])[d] - weights[key] * v[d]) < 1e-5);
        mixed[d] += weights[key] * v[d];
        CHECK(static_cast<float>(weights[key]) == all[((1 * 2 + 1) * 4 + 3) * 4 + key]);
      }
      CHECK(std::abs(at["dot"].number() - dot) < 1e-5);
      CHECK(at["divisor"].number() == (is_scaled ? 2 : 1));  // √4
      CHECK(std::abs(at["score"].number() - dot / at["divisor"].number()) < 1e-4);
      CHECK(at["score"].number() == list(at["scores"])[key]);
    }
    CHECK(is_near(list(cell(1, 3, 0)["output"]), mixed));
    if (!is_scaled) continue;

    const double score = cell(0, 3, 1)["score"].number();
    change(R"({"nudges":[{"layer":1,"head":0,"query":3,"key":1,"by":0.5}]})");
    CHECK(std::abs(cell(0, 3, 1)["score"].number() - score - 0.5) < 1e-5);
    CHECK(numbers<float>(fledge_attention()) != all);
    change(R"({"rows":[{"layer":0,"head":1,"query":2,"weights":[0,1,0,0]}]})");
    std::vector<float> changed = numbers<float>(fledge_attention());
    CHECK(std::vector<float>(changed.begin() + 24, changed.begin() + 28) ==
          std::vector<float>{0, 1, 0, 0});
    change(R"({"hidden":[1]})");
    changed = numbers<float>(fledge_attention());
    for (std::size_t row = 0; row < 16; ++row)
      for (std::size_t key = 0; key < 4; ++key)
        CHECK((changed[row * 4 + key] > 0) == (key <= row % 4 && (key != 1 || row % 4 == 1)));
    for (const auto& [wrong, what] :
         {std::pair{R"({"hidden":[4]})", "hidden[0]"},
          {R"({"off":[{"layer":2,"head":0}]})", "off[0].layer"},
          {R"({"rows":[{"layer":0,"head":1,"query":2,"weights":[1]}]})", "rows[0].weights"}})
      CHECK_THAT(refusal<FormatError>([&, json = wrong] { change(json); }),
                 ContainsSubstring(what));
    // Without both heads a layer adds nothing before its MLP; its output is that of the model.
    change(R"({"off":[{"layer":1,"head":0},{"layer":1,"head":1}]})");
    CHECK(list(cell(0, 3, 1)["output"]) == std::vector<double>(4));
    CHECK(next(1, 1) == next(1, 0));
    CHECK(next(1, 2) != next(1, 1));
    CHECK(next(-1, 0) == next(1, 2));
    CHECK_THAT(refusal<ValueError>([&] { next(2, 0); }), ContainsSubstring("fledge_next"));

    change(R"({"hidden":[1]})");
    // Its last six tokens, without changes.
    CHECK(read_json(output(fledge_read(put("abcdabcd"))))["cut"].number() == 2);
    read_sentence("abcd");
    CHECK(numbers<float>(fledge_attention()) == all);
    // The mean over four places is that over three and the loss of one more.
    const double three = fledge_sentence_loss(-1), four = fledge_sentence_loss(2);
    double p = 0;
    read_json(next(-1, 0)).each_item([&](const JsonValue& choice) {
      if (choice["token"].number() == 2) p = choice["p"].number();
    });
    CHECK(std::abs(4 * four - 3 * three + std::log(p)) < 1e-4);
    const auto write = [](double temperature, std::uint32_t seed) {
      return output(fledge_write(20, temperature, seed));
    };
    CHECK(write(0, 1) == write(0, 2));
    CHECK(write(1, 1) != write(1, 2));
    const TokenMap map = token_map(Array({4, 8}, {large.begin(), large.begin() + 32}));
    std::vector<double> plane{map.share};
    plane.insert(plane.end(), map.x.begin(), map.x.end());
    plane.insert(plane.end(), map.y.begin(), map.y.end());
    CHECK(numbers<double>(fledge_map()) == plane);
    fledge_show(0);
    CHECK(numbers<float>(fledge_weights()) == own);
  }
}

TEST_CASE("page: losses and what to compare them with; limits of a page") {
  const CorpusOptions options{.reading = Reading::lines, .tokens = Tokens::word, .valid = 2};
  const std::string text = "birds fly\nbirds walk\nhow birds walk\nbirds fly\ncats walk\n";
  const std::string settings =
      R"({"lines":true,"tokens":"word","valid":2,"layers":1,"heads":1,"width":8,"context":4,)"
      R"("batch":1000000000,"seed":18446744073709551615})";
  const JsonValue run = begin_run(text, settings);
  CHECK(run["settings"]["seed"].shown() == "9007199254740992");
  CHECK(run["settings"]["batch"].number() < 1e8);
  CorpusOptions split = options;
  split.seed = ~std::uint64_t{0};
  const Corpus corpus = read_corpus(text, split);
  Rng rng(split.seed);
  const LanguageModel model(
      {.vocabulary = corpus.tokenizer.size(), .context = 4, .layers = 1, .heads = 1, .width = 8},
      rng);
  CHECK(fledge_loss(0, 0) == mean_loss(model, corpus.train, 16, 0, 2));
  CHECK(fledge_loss(1, 0) == mean_loss(model, corpus.valid, 16, 0, 2));
  const JsonValue rivals = read_json(output(fledge_baselines()));
  CHECK(std::abs(rivals["floor"].number() - least_loss(corpus.valid)) < 1e-9);
  const auto V = corpus.tokenizer.size();
  const int history = best_history(corpus.train, V, 8);
  CHECK(rivals["tables"].shown() ==
        read_json(Json(ngram_losses(corpus.train, corpus.valid, V, history)).text()).shown());
  read_sentence("birds");
  for (std::uint32_t seed = 1; seed < 9; ++seed)
    CHECK_THAT(output(fledge_write(50, 1, seed)), !ContainsSubstring("\\u000a"));
  begin_run("abcabdab", R"({"tokens":"character","valid":0})");
  CHECK(std::isnan(fledge_loss(1, 0)));
  CHECK(read_json(output(fledge_baselines()))["floor"].is_null());
}

TEST_CASE("page: a sink takes a part of the attention") {
  begin_run("abcdabdcabcadbca",
            R"({"tokens":"character","valid":0,"context":4,"forms":{"sink":"learned"}})");
  read_sentence("abc");
  const std::vector<float> all = numbers<float>(fledge_attention());
  CHECK(all[0] < 0.9);  // one key and the sink
}
