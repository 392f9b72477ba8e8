#include "nn/module.h"

#include "nn/gpt/language_model.h"
#include "tests/nn/modules.h"

using namespace tests;

namespace {

using NameLines = std::vector<std::string>;

struct Tower {
  std::vector<Linear> floors;
  Tensor scale;
  void visit(auto&& f) const {
    f("floors", floors);
    f("scale", scale);
  }
};

struct City {
  Tower left, right;
  void visit(auto&& f) const {
    f("left", left);
    f("right", right);
  }
};

struct Nothing {
  void visit(auto&&) const {}
};

Tower tower(std::uint64_t seed) {
  Rng rng(seed);
  return {{Linear(2, 3, rng), Linear(3, 1, rng, Bias::without)}, parameter(Array::ones({}))};
}

static_assert(Module<Linear> && Module<City> && Module<Nothing> && Module<LanguageModel>);
static_assert(!Module<Tensor> && !Module<std::vector<Linear>> && !Module<int>);

}  // namespace

TEST_CASE("Module: names are dotted paths, lists are numbered, in the order of declaration") {
  CHECK(listing(City{tower(1), tower(2)}) ==
        NameLines{"left.floors.0.weight (2, 3)", "left.floors.0.bias (3)",
                  "left.floors.1.weight (3, 1)", "left.scale ()", "right.floors.0.weight (2, 3)",
                  "right.floors.0.bias (3)", "right.floors.1.weight (3, 1)", "right.scale ()"});
  CHECK(listing(tower(1).floors) ==
        NameLines{"0.weight (2, 3)", "0.bias (3)", "1.weight (3, 1)"});  // a list on its own
}

TEST_CASE("Module: a part that does not exist has no name") {
  Rng rng(1);
  CHECK(listing(Linear(2, 3, rng, Bias::without)) == NameLines{"weight (2, 3)"});
  CHECK(listing(Tower{{}, Tensor()}).empty());
  CHECK(listing(Nothing{}).empty());
  CHECK(count_parameters(Nothing{}) == 0);
}

TEST_CASE("Module: tied parameters have two names and are one parameter") {
  City city{tower(1), tower(2)};
  city.right.floors[1].weight = city.left.floors[1].weight;
  CHECK(listing(city).size() == 8);
  const auto named = named_parameters(city);
  REQUIRE(named.size() == 7);
  CHECK(named[2].name == "left.floors.1.weight");
  for (const auto& entry : named) CHECK(entry.name != "right.floors.1.weight");
  CHECK(count_parameters(city) == 2 * 13 - 3);
}

TEST_CASE("Module: a copy shares its parameters; a mode hands on the generator it was given") {
  const Tower original = tower(1);
  const Tower copy = original;
  assign(copy.scale, Array::full({}, Real(5)));
  CHECK(original.scale.item() == 5);
  Rng rng(1);
  CHECK(Mode::training(rng).dropout() == &rng);
  CHECK(Mode::evaluation().dropout() == nullptr);
}

TEST_CASE("Module: each lists exactly its parameters, the language model under GPT-2's names") {
  Rng rng(1);
  CHECK(listing(Dropout(0.5)).empty());
  CHECK(listing(CrossAttention(4, 3, 2, rng)) ==
        NameLines{"q_attn.weight (4, 4)", "q_attn.bias (4)", "c_attn.weight (3, 8)",
                  "c_attn.bias (8)", "c_proj.weight (4, 4)", "c_proj.bias (4)"});
  for (const Bias bias : {Bias::with, Bias::without}) {
    const LanguageModel model(
        {.vocabulary = 9, .context = 5, .layers = 2, .heads = 2, .width = 4, .bias = bias}, rng);
    NameLines expected{"wte.weight (9, 4)", "wpe.weight (5, 4)"};
    for (const std::string layer : {"h.0.", "h.1."})
      for (const std::string line :
           {"ln_1.weight (4)", "ln_1.bias (4)", "attn.c_attn.weight (4, 12)",
            "attn.c_attn.bias (12)", "attn.c_proj.weight (4, 4)", "attn.c_proj.bias (4)",
            "ln_2.weight (4)", "ln_2.bias (4)", "mlp.c_fc.weight (4, 16)", "mlp.c_fc.bias (16)",
            "mlp.c_proj.weight (16, 4)", "mlp.c_proj.bias (4)"})
        // Without biases a model keeps those of its layer norms.
        if (bias == Bias::with || line.find(".bias") == line.npos || line.starts_with("ln_"))
          expected.push_back(layer + line);
    expected.insert(expected.end(), {"ln_f.weight (4)", "ln_f.bias (4)"});
    CHECK(listing(model) == expected);
    CHECK(count_parameters(model) ==
          9 * 4 + 5 * 4 + 2 * (244 - (bias == Bias::with ? 0 : 12 + 4 + 16 + 4)) + 8);
  }
}

TEST_CASE("LanguageModel of today: neither position vectors nor biases, and a gate in each MLP") {
  LanguageModelSizes sizes{.vocabulary = 9, .context = 5, .heads = 2, .width = 4};
  sizes.bias = Bias::without, sizes.recipe = today();
  const LanguageModel model = new_model(sizes);
  CHECK(listing(model) == NameLines{"wte.weight (9, 4)", "h.0.ln_1.weight (4)",
                                    "h.0.attn.c_attn.weight (4, 12)",
                                    "h.0.attn.c_proj.weight (4, 4)", "h.0.ln_2.weight (4)",
                                    "h.0.mlp.c_gate.weight (4, 16)", "h.0.mlp.c_fc.weight (4, 16)",
                                    "h.0.mlp.c_proj.weight (16, 4)", "ln_f.weight (4)"});
  for (const auto& [width, hidden] : {std::pair<Dim, Dim>{3, 8}, {4, 16}, {6, 16}, {96, 256}})
    CHECK(LanguageModelSizes{.vocabulary = 1, .context = 1, .width = width, .recipe = today()}
              .hidden_width() == hidden);
}

TEST_CASE("Recipe: the words of its parts, and for which none GPT-2's formula computes it") {
  NameLines words;
  Recipe().each([&]<class Part>(const std::string& word, const Part& part) {
    CHECK(part == Part(1));
    words.push_back(word);
    Recipe recipe;
    recipe.each([&]<class Other>(const std::string& other, Other& value) {
      if (other == word) value = Other::none;
    });
    CHECK(words_of_none(recipe) == NameLines{word});
    CHECK(recipe.is_gpt2() == (word != "mask" && word != "residual" && word != "norm"));
    CHECK(recipe.sees_later_tokens() == (word == "mask"));
  });
  CHECK(words ==
        NameLines{"mask", "positions", "scale", "mlp", "value", "attention", "residual", "norm"});
  std::vector<std::pair<std::string, std::string>> forms;
  Recipe any;
  Recipe::each_form(any, [&](const char* part, auto& member, auto form, const char* word) {
    const auto gpt2 = member;
    member = form;
    CHECK((forms_of(any) == std::vector{std::pair<std::string, std::string>{part, word}}));
    CHECK((!any.is_gpt2() && words_of_none(any).empty()));
    forms.emplace_back(part, word);
    member = gpt2;
  });
  forms.emplace_back("window", "4");
  any.window = 4;
  CHECK((forms_of(any) == std::vector{forms.back()} && !any.is_gpt2()));
  any.key_heads = 2;
  CHECK((forms_of(any).size() == 2 && forms_of(any)[0].second == "2"));
  using Form = std::pair<std::string, std::string>;
  CHECK(forms == std::vector{Form("positions", "rotary"), Form("norm", "rms"),
                             Form("mlp", "swiglu"), Form("mlp", "relu2"), Form("qk_norm", "rms"),
                             Form("sink", "learned"), Form("exclusive", "own_value"),
                             Form("head", "own"), Form("window", "4")});
  CHECK((words_of_none(Recipe()).empty() && Recipe().is_gpt2() && !Recipe().sees_later_tokens()));
  LanguageModelSizes sizes{.vocabulary = 2, .context = 2, .bias = Bias::without, .recipe = llama()};
  CHECK(sizes.family() == Family::llama);
  sizes.recipe.window = 4;
  CHECK(sizes.family() == Family::none);
  CHECK_FALSE(Recipe{.key_heads = 1}.is_gpt2());
  CHECK_FALSE(Recipe{.sink = Sink::learned}.is_gpt2());
  const Recipe blind{.mask = Masking::none, .heads = Heads::none};
  CHECK_FALSE(blind.sees_later_tokens());
  CHECK(words_of_none(Recipe::Learned{.q = Learning::none, .v = Learning::none}) ==
        NameLines{"q", "v"});
}
