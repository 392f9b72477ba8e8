#include <array>

#include "examples/birds/story.h"
#include "nn/io/json.h"

namespace fledge::birds {

namespace {

// The engine computes in float: prints the fewest digits that give the same float back.
float digits(double x) { return static_cast<float>(x); }

Json digits(const std::array<double, 3>& numbers) {
  return std::vector<float>(numbers.begin(), numbers.end());
}

Json as_json(const ByHand& part) {
  return Json::object({{"before", digits(part.before)},
                       {"v_hat", digits(part.v_hat)},
                       {"association", digits(part.association)},
                       {"row_sum", digits(part.row_sum)},
                       {"normalised", digits(part.normalised)},
                       {"as_labelled", digits(part.as_labelled)}});
}

Json as_json(const Learned& part) {
  const Json ceiling = part.ceiling ? Json(digits(*part.ceiling)) : Json();
  return Json::object({{"learns", part.learns},
                       {"objective", part.objective == Objective::product ? "product" : "cosine"},
                       {"before", digits(part.before.association)},
                       {"after", digits(part.after.association)},
                       {"ceiling", ceiling},
                       {"attention_before", digits(part.before.attention)},
                       {"attention", digits(part.after.attention)},
                       {"steps", part.steps}});
}

Json as_json(const TextStory::Seen& seen) {
  return Json::object({{"word", seen.pair.word},
                       {"looks_at", seen.pair.looks_at},
                       {"sentence", seen.pair.sentence},
                       {"attention_before", digits(seen.before.attention)},
                       {"attention_after", digits(seen.after.attention)},
                       {"association_before", digits(seen.before.association)},
                       {"association_after", digits(seen.after.association)},
                       {"next", seen.effect.next},
                       {"p_visible", digits(seen.effect.visible)},
                       {"p_hidden", digits(seen.effect.hidden)}});
}

Json as_json(const TextStory::Completed& completed) {
  return Json::object({{"prompt", completed.prompt},
                       {"next", completed.after.next},
                       {"probability", digits(completed.after.probability)},
                       {"next_before", completed.before.next},
                       {"probability_before", digits(completed.before.probability)}});
}

template <class Parts>
Json array_of(const Parts& parts) {
  std::vector<Json> items;
  for (const auto& part : parts) items.push_back(as_json(part));
  return items;
}

Json as_json(const TextStory& text) {
  return Json::object({{"sentences", text.sentence_count},
                       {"words", text.vocabulary - 1},  // the line end is a token, not a word
                       {"loss_of_guessing", digits(text.loss_of_guessing)},
                       {"least_loss", digits(text.least_loss)},
                       {"loss_before", digits(text.loss_before)},
                       {"loss", digits(text.loss_after)},
                       {"watch", array_of(text.watched)},
                       {"completions", array_of(text.completed)}});
}

}  // namespace

std::string json(const ByHand& by_hand, const std::vector<Learned>& learning, const TextStory& text,
                 const report::ModelProof& proof) {
  const Json gradcheck = Json::object({{"parameters", text.parameters},
                                       {"finite_difference", proof.differences.max_error},
                                       {"dual", proof.dual.max_error},
                                       {"ok", proof.differences.ok && proof.dual.ok}});
  return Json::object({{"by_hand", as_json(by_hand)},
                       {"learning", array_of(learning)},
                       {"text", as_json(text)},
                       {"gradcheck", gradcheck}})
      .indented();
}

}  // namespace fledge::birds
