// What fledge inspect shows is what the model has, and what the library computes.
#include <cmath>

#include "engine/autograd.h"
#include "examples/fledge/inspect/what_if.h"
#include "examples/support/text.h"
#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

/// A desk with a model of words in "run".
struct ModelDesk : Desk {
  ModelDesk() { trained({poems(), "-o", folder(), "--tokens", "word"}); }
  std::string folder() const { return *this / "run"; }
};

}  // namespace

TEST_CASE("fledge inspect: tensors and heads are those of the weights") {
  const ModelDesk desk;
  const fledge::TrainedModel trained = fledge::load_trained(desk.folder());
  const StrictJson all = strict_json(fledge_says({"inspect", desk.folder(), "--json"}).out);
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
  const StrictJson json =
      strict_json(fledge_says({"inspect", desk.folder(), "--what-if", "birds sometimes walk",
                               "--row", "walk=birds:1", "--json"})
                      .out);
  CHECK(json["row"][0].number() == 1);
  CHECK(json["next"].array().size() == static_cast<std::size_t>(trained.tokenizer().size()));
  CHECK(json["next"][0]["after"].number() != json["next"][0]["before"].number());
}
