// fledge generate --attention and --why: the weights of the pass that gave the text.
#include <sstream>

#include "engine/autograd.h"
#include "examples/fledge/attention/attention_report.h"
#include "nn/gpt/folder.h"
#include "nn/text/corpus.h"
#include "tests/examples/fledge/models.h"

using namespace testing;
using fledge::Dim;

namespace {

/// Reads a text as the model did when it wrote it, and notes the weights of each part it reads.
class Recorded {
 public:
  explicit Recorded(const fledge::LanguageModel& model) : model_(model) { restart(); }

  void read(const std::vector<Dim>& ids) {
    if (static_cast<Dim>(window.size() + ids.size()) > model_.sizes.context) {
      const Dim kept = std::max<Dim>(1, model_.sizes.context / 2);
      std::vector<Dim> last(window.end() - (kept - 1), window.end());
      last.insert(last.end(), ids.begin(), ids.end());
      restart();
      return read(last);
    }
    const fledge::NoGrad no_grad;
    const auto first = static_cast<Dim>(window.size()), count = static_cast<Dim>(ids.size());
    window.insert(window.end(), ids.begin(), ids.end());
    fledge::Tensor x =
        embedding(model_.wte.weight, model_.wpe.weight, fledge::Indices({count}, ids), first);
    for (std::size_t layer = 0; layer < model_.h.size(); ++layer) {
      const fledge::Block& block = model_.h[layer];
      const fledge::Tensor qkv = block.attn.c_attn(block.ln_1(x));
      x = block(x, caches_[layer]);
      const fledge::Array weights =
          cached_attention_weights(qkv.value(), block.attn.heads, caches_[layer]);
      for (Dim t = 0; t < count; ++t) rows_[layer].emplace_back(weights, t);
    }
  }
  double weight(std::size_t layer, Dim head, std::size_t place, std::size_t key) const {
    const auto& [weights, t] = rows_[layer][place];
    const auto j = static_cast<Dim>(key);
    return j < weights.dim(2) ? fledge::value_of(weights.at({head, t, j})) : 0;
  }
  fledge::AttentionWeights attention(const fledge::Tokenizer& tokenizer) const {
    fledge::AttentionWeights all{window, {}, {}};
    const auto T = static_cast<Dim>(window.size());
    for (const Dim id : window) all.tokens.push_back(tokenizer.decode({id}));
    for (std::size_t layer = 0; layer < rows_.size(); ++layer) {
      std::vector<double> weights;
      for (Dim head = 0; head < model_.sizes.heads; ++head)
        for (std::size_t i = 0; i < window.size(); ++i)
          for (std::size_t j = 0; j < window.size(); ++j)
            weights.push_back(weight(layer, head, i, j));
      all.layers.push_back(fledge::Array({model_.sizes.heads, T, T}, weights));
    }
    return all;
  }
  std::vector<Dim> window;

 private:
  void restart() {
    window.clear();
    caches_.assign(model_.h.size(), {});
    rows_.assign(model_.h.size(), {});
  }
  fledge::LanguageModel model_;
  std::vector<fledge::KeyValueCache> caches_;
  std::vector<std::vector<std::pair<fledge::Array, Dim>>> rows_;  // of each layer and place
};

/// Two layers of two heads, of characters; longer than a map.
std::string deep_model() {
  static const Desk desk;
  static const bool made = [] {
    const Result result = fledge_says({"train", desk.poems(), "-o", desk / "run", "-q", "--layers",
                                       "2", "--heads", "2", "--width", "16", "--context", "40",
                                       "--batch", "2", "--steps", "5", "--lr", "0.03"});
    return result.status == 0;
  }();
  return made ? desk / "run" : "";
}

const fledge::Tokenizer& characters() {
  static const fledge::Corpus corpus = fledge::read_corpus(small_text(), {});
  return corpus.tokenizer;
}

}  // namespace

TEST_CASE("fledge generate --attention: the weights that the text was drawn with") {
  for (const auto& [run, context] : {std::pair{models().chars(), 16}, {deep_model(), 40}})
    for (const int count : {1, 9, 12, 13, 24, 36, 37, 60, 130}) {
      CAPTURE(run, count);
      const Words line{run, "the ", "--tokens-out", std::to_string(count)};
      const std::string written = "the " + read_line(text(line + Words{"--json"}))["text"].string();
      const std::vector<Dim> ids = characters().encode(written);
      REQUIRE(ids.size() == 4 + static_cast<std::size_t>(count));
      Recorded recorded(fledge::read_model(run).model);
      recorded.read({ids.begin(), ids.begin() + 4});
      for (std::size_t t = 4; t + 1 < ids.size(); ++t) recorded.read({ids[t]});

      const auto read = static_cast<int>(recorded.window.size());
      const int begin = 3 + count - read;
      CHECK((begin > 0) == (3 + count > context));
      support::MapStyle style;
      style.unicode = false;
      const fledge::AttentionWeights attention = recorded.attention(characters());
      const std::string map = attention_report(attention, chosen_heads(attention, {}), style);
      CHECK_THAT(text(line + Words{"--attention"}),
                 EndsWith("\n\n" +
                          support::wrapped("Attention over " + std::to_string(read) +
                                               " tokens, numbers " + std::to_string(begin + 1) +
                                               " to " + std::to_string(3 + count) +
                                               " of the text. The last token of the text was "
                                               "drawn, but not read.",
                                           80) +
                          "\n" + map));
    }
}

TEST_CASE("fledge generate --attention: with what is left out, each row of a map adds up") {
  Recorded recorded(fledge::read_model(deep_model()).model);
  recorded.read(characters().encode("the birds sometimes walk over the lake"));
  const fledge::AttentionWeights attention = recorded.attention(characters());
  const Dim T = attention.size();
  REQUIRE(T == 38);
  support::MapStyle style;
  style.unicode = false;
  style.numbers = true;
  style.columns = 36;  // names of two columns, and eleven columns: ten tokens and the earlier ones
  REQUIRE(tokens_of_map(attention, style) == 10);
  style.columns = 200;
  for (const fledge::HeadNumber& head : chosen_heads(attention, {})) {
    const Words lines = lines_of(head_map(attention, head, style));
    const Dim rows = tokens_of_map(attention, style);
    for (Dim row = 0; row < rows; ++row) {
      std::istringstream cells(lines.at(static_cast<std::size_t>(row) + 1).substr(4));
      const Dim query = T - rows + row;
      double sum = 0, printed = 0, expected = 0;
      for (Dim key = 0; key < T - rows; ++key)
        expected += attention.weight(head.layer, head.head, query, key);
      for (Dim column = 0; column <= row + 1; ++column) {
        if (column > 0)
          expected = attention.weight(head.layer, head.head, query, T - rows - 1 + column);
        REQUIRE(cells >> printed);
        CHECK(printed == Approx(expected).margin(0.0051));
        sum += printed;
      }
      CHECK(sum == Approx(1).margin(0.0051 * 26));
    }
  }
}

TEST_CASE("fledge generate --why: the window and the weights of the step that drew the word") {
  for (const std::string& run : {models().chars(), deep_model()}) {
    const Words line{run, "the ", "--tokens-out", "90"};
    const std::string written = "the " + read_line(text(line + Words{"--json"}))["text"].string();
    const std::vector<Dim> ids = characters().encode(written);
    const std::string word = written.substr(60, 6);
    const std::size_t at = written.find(word, 4);
    const StrictJson why = read_line(text(line + Words{"--json", "--why", word}))["why"];
    Recorded recorded(fledge::read_model(run).model);
    recorded.read({ids.begin(), ids.begin() + 4});
    for (std::size_t t = 4; t < at; ++t) recorded.read({ids[t]});
    REQUIRE(why["read"].array().size() == recorded.window.size());
    for (std::size_t t = 0; t < recorded.window.size(); ++t)
      CHECK(why["read"][t].string() == characters().decode({recorded.window[t]}));
    for (const StrictJson& head : why["heads"].array())
      for (const StrictJson& look : head["most"].array())
        CHECK(look["weight"].number() ==
              recorded.weight(static_cast<std::size_t>(head["layer"].number()),
                              static_cast<Dim>(head["head"].number()), recorded.window.size() - 1,
                              static_cast<std::size_t>(look["place"].number())));
  }
}
