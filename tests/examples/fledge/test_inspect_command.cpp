// fledge inspect: what it shows is what the model has, and what the model computes.
#include <cmath>

#include "engine/autograd.h"
#include "examples/fledge/inspect/what_if.h"
#include "examples/support/text.h"
#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

const Words of_words{"--tokens", "word", "--watch", "walk:birds"};

Result inspected(const Words& arguments, const Environment& extra = {}) {
  return run(with_program(Words{"inspect"} + arguments), extra);
}

/// A desk with a model of words in "run".
struct ModelDesk : Desk {
  ModelDesk() { trained(Words{poems(), "-o", folder()} + of_words); }
  std::string folder() const { return *this / "run"; }
};

}  // namespace

TEST_CASE("fledge inspect: tensors and heads are those of the weights") {
  const ModelDesk desk;
  const fledge::TrainedModel trained = fledge::load_trained(desk.folder());
  const StrictJson all = strict_json(inspected({desk.folder(), "--json"}).out);
  const auto named = fledge::named_parameters(trained.model);
  REQUIRE(all["model"]["tensors"].array().size() == named.size());
  double squares = 0;
  for (std::size_t i = 0; i < named.size(); ++i) {
    const StrictJson& tensor = all["model"]["tensors"][i];
    CHECK(tensor["name"].string() == named[i].first);
    double sum = 0;
    for (const double w : fledge::to_vector(named[i].second.value())) sum += w * w;
    CHECK_THAT(tensor["norm"].number(), WithinRel(std::sqrt(sum), 1e-12));
    if (named[i].first == "h.0.attn.c_attn.weight") squares = sum;
  }
  // One head: its query, key and value columns are all of c_attn.
  const StrictJson& head = all["model"]["head_norms"][0];
  double parts = 0;
  for (const char* part : {"query", "key", "value"}) parts += std::pow(head[part].number(), 2);
  CHECK_THAT(parts, WithinRel(squares, 1e-12));
  CHECK(all["model"]["parameters"].number() ==
        static_cast<double>(fledge::count_parameters(trained.model)));
}

TEST_CASE("fledge inspect: every line fits into 80 columns, with UTF-8 and without") {
  const ModelDesk desk;
  for (const char* language : {"C", "C.UTF-8"})
    for (const Words& what : {Words{}, Words{"--near", "birds"},
                              Words{"--what-if", "birds walk", "--row", "walk=birds:1"}}) {
      const Result shown = inspected(Words{desk.folder()} + what, {{"LC_ALL", language}});
      INFO(shown.err);
      CHECK(shown.status == 0);
      for (const std::string& line : lines_of(shown.out)) CHECK(support::display_width(line) <= 80);
      const Words line = with_program(Words{"inspect", desk.folder()} + what);
      for (const std::string& row : lines_of(run_on_terminal(line, {{"LC_ALL", language}}, 40).out))
        CHECK(support::display_width(without_colours(row)) <= 40);
    }
}

TEST_CASE("fledge inspect --what-if: the model's own row changes nothing, another one does") {
  const ModelDesk desk;
  const fledge::TrainedModel trained = fledge::load_trained(desk.folder());
  const std::vector<fledge::Dim> ids = trained.tokenizer().encode("birds sometimes walk");
  const fledge::NoGrad no_grad;
  const auto own = trained.model.forward_with_weights(fledge::Indices({1, 3}, ids)).weights[0];
  const auto weight = [&](fledge::Dim key) {
    return static_cast<double>(own.value().at({0, 0, 2, key}));
  };
  const auto request = [&](const std::string& row) {
    return fledge::what_if(trained, "birds sometimes walk", fledge::parse_row(row), 0, {});
  };
  const std::string birds = support::formatted("%.17g", weight(0));
  const auto same = request("walk=birds:" + birds);
  for (fledge::Dim key = 0; key < 3; ++key) {
    CHECK_THAT(same.own[static_cast<std::size_t>(key)], WithinAbs(weight(key), 1e-12));
    CHECK_THAT(same.row.weights[static_cast<std::size_t>(key)], WithinAbs(weight(key), 1e-7));
  }
  for (const fledge::Choice& choice : same.before)
    for (const fledge::Choice& other : same.after)
      if (choice.token == other.token)
        CHECK_THAT(other.probability, WithinAbs(choice.probability, 1e-6));
  const auto alone = request("walk=birds:1");
  CHECK(alone.row.weights == std::vector<double>{1, 0, 0});
  const auto half = request("walk=sometimes:0.5");
  CHECK_THAT(half.row.weights[0] / half.row.weights[2], WithinRel(weight(0) / weight(2), 1e-6));
  const StrictJson json = strict_json(inspected({desk.folder(), "--what-if", "birds sometimes walk",
                                                 "--row", "walk=birds:1", "--json"})
                                          .out);
  CHECK(json["row"][0].number() == 1);
  CHECK(json["next"].array().size() == static_cast<std::size_t>(trained.tokenizer().size()));
  CHECK(json["next"][0]["after"].number() != json["next"][0]["before"].number());
}

TEST_CASE("fledge inspect --what-if: --row takes the label of a line end; the heads are named") {
  const Desk desk;
  const std::string run = desk / "run";
  Words line = Words{"train", desk.poems(), "-o", run, "-q", "--lines"} + of_words + tiny;
  *(std::find(line.begin(), line.end(), "--heads") + 1) = "2";
  REQUIRE(fledge_says(line).status == 0);
  for (const char* end : {"\n", "⏎", "\\n"}) {
    const Words row{"--what-if", "birds walk", "--row", std::string("walk=") + end + ":1"};
    CHECK(strict_json(inspected(Words{run, "--json"} + row).out)["row"][0].number() == 1);
    CHECK_THAT(inspected(Words{run} + row).out,
               StartsWith("Layer 0, all 2 heads. \"as it is\": the mean of the heads.\n"));
    CHECK_THAT(inspected(Words{run, "--head", "1"} + row).out, StartsWith("Layer 0, head 1.\n"));
  }
  const Result wrong =
      inspected({run, "--what-if", "birds walk", "--row", "walk=birds:1", "--head", "2"});
  CHECK_THAT(wrong.err, ContainsSubstring("--head must be a number from 0 to 1: this model has 2 "
                                          "heads in each layer (got 2)\n"));
}

TEST_CASE("fledge inspect: refusals") {
  const ModelDesk desk;
  const std::string run = desk.folder();
  const auto refused = [&](const Words& arguments) { return inspected(Words{run} + arguments); };
  for (const char* row : {"walk", "walk=", "walk=birds", "walk=birds:2", "walk=birds:0.6,walk:0.6",
                          "walk=birds:-1", "walk=birds:1x", "walk=birds:.5 ", "=birds:1"})
    CHECK(refused({"--what-if", "birds walk", "--row", row}).status == 2);
  CHECK(refused({"--what-if", "birds walk", "--row", "walk=birds:0.5,birds:0.2"}).status == 2);
  CHECK(refused({"--what-if", "birds", "--row", "birds=birds:0.5"}).status == 2);
  CHECK(refused({"--row", "walk=birds:1"}).status == 2);
  CHECK(refused({"--what-if", "birds walk", "--row", "walk=birds:1", "--layer", "1"}).status == 2);
  const Result missing = refused({"--what-if", "birds walk", "--row", "walk=lake:1"});
  CHECK(missing.status == 3);
  CHECK_THAT(missing.err, ContainsSubstring("'lake' is not among the tokens of the text\n"));
  CHECK_THAT(missing.err, ContainsSubstring("use one of: birds walk\n"));
  const Result later = refused({"--what-if", "birds walk", "--row", "birds=walk:1"});
  CHECK_THAT(later.err, ContainsSubstring("'walk' is not among the tokens up to 'birds'\n"));
  CHECK_THAT(later.err, ContainsSubstring("use one of: birds\n"));
  CHECK(refused({"--what-if", "dragons walk", "--row", "walk=walk:1"}).status == 3);
  CHECK(refused({"--near", "birds walk"}).status == 3);
  CHECK(refused({"--layer", "0"}).status == 2);
  CHECK(refused({"--near", "birds", "--what-if", "birds", "--row", "birds=birds:1"}).status == 2);
  CHECK(inspected({desk / "nothing"}).status == 3);
}
