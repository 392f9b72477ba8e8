#include "examples/page/shown_snapshot.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "examples/page/base64.h"
#include "examples/page/snapshot.h"
#include "examples/support/text.h"
#include "nn/module.h"

namespace fledge::page {

namespace {

constexpr Dim numbers_of_top = 12;  // five likely tokens and the true one, with their probabilities

/// A block of numbers with so many bytes.
std::string block(const JsonValue& value, Dim bytes) {
  std::string text = value.string();
  const auto characters = static_cast<std::size_t>((bytes + 2) / 3 * 4);
  if (text.size() != characters)
    value.fail("must have " + std::to_string(characters) + " characters of base64: got " +
               std::to_string(text.size()));
  base64_decoded(text);
  return text;
}

std::vector<JsonValue> items(const JsonValue& list, std::size_t count) {
  std::vector<JsonValue> found;
  list.each_item([&](const JsonValue& item) { found.push_back(item); });
  if (found.size() != count)
    list.fail("must have " + std::to_string(count) + " items: got " + std::to_string(found.size()));
  return found;
}

Json watch_json(const JsonValue& event, std::size_t pairs) {
  const auto number = [](const JsonValue& value) {
    return value.is_null() ? std::optional<double>() : value.number();
  };
  std::vector<Json> watch;
  event["watch"].each_item([&](const JsonValue& pair) {
    if (watch.size() == pairs) pair.fail("must not be there: the plan has fewer pairs");
    watch.push_back(Json::object({{"attention", number(pair["attention"])},
                                  {"chance", number(pair["chance"])},
                                  {"cosine", number(pair["cosine"])},
                                  {"control", number(pair["control"])},
                                  {"effect", number(pair["effect"])}}));
  });
  return watch;
}

}  // namespace

std::string shown_text(std::string_view text) {
  constexpr int most = 200;
  if (text.starts_with('\n')) text.remove_prefix(1);
  std::string shown;
  for (const char c : text) shown += c == '\n' ? std::string("⏎") : std::string(1, c);
  return support::cut(shown, most);
}

Json shown_snapshot(const JsonValue& event, const Recorded& of, const Detail& detail,
                    const JsonValue* kept_watch) {
  const LanguageModelSizes& sizes = of.model->sizes;
  const std::vector<Plan::Sentence>& planned = of.plan->sentences;
  const auto length = [&](std::size_t i) { return static_cast<Dim>(planned[i].ids.size()); };
  std::vector<Json> sentences, vectors, gradients;
  std::vector<std::string> continuations;
  for (const JsonValue& text : items(event["continuations"], of.plan->prompts.size()))
    continuations.push_back(shown_text(text.string()));
  const std::vector<JsonValue> stored = items(event["sentences"], planned.size());
  for (std::size_t i = 0; i < std::min(stored.size(), detail.sentences); ++i) {
    const Dim T = length(i), keys = sizes.recipe.mask == Masking::none ? T * T : T * (T + 1) / 2;
    sentences.push_back(Json::object(
        {{"loss", stored[i]["loss"].number()},
         {"attention", block(stored[i]["attention"], 2 * sizes.layers * sizes.heads * keys)},
         {"top", block(stored[i]["top"], 2 * numbers_of_top * T)}}));
  }
  Json::Members members{
      {"step", event["step"].integer(0, std::int64_t{1} << 53)},
      {"continuations", continuations},
      {"sentences", sentences},
      {"watch", watch_json(kept_watch ? *kept_watch : event, of.plan->watch.size())}};
  if (!event.has("vectors")) return Json::object(members);
  const std::vector<JsonValue> all = items(event["vectors"], planned.size()),
                               slopes = items(event["gradients"], planned.size());
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const Dim T = length(i), floats = T * sizes.width;
    const bool is_kept = kept_watch || (detail.first_vectors && (detail.all_vectors || i == 0));
    vectors.push_back(is_kept ? Json(block(all[i], 4 * 3 * sizes.layers * floats)) : Json());
    gradients.push_back(
        !is_kept || slopes[i].is_null()
            ? Json()
            : Json::object({{"loss", slopes[i]["loss"].number()},
                            {"d_mixed", block(slopes[i]["d_mixed"], 4 * floats)},
                            {"d_scores", block(slopes[i]["d_scores"], 4 * sizes.heads * T * T)}}));
  }
  members.emplace_back("vectors", vectors);
  members.emplace_back("gradients", gradients);
  if (!of.axes->mean.empty())
    members.emplace_back("map",
                         base64(places_on(*of.axes, floats_of_base64(event["map"].string()))));
  const auto count = static_cast<Dim>(parameters(*of.model).size());
  members.emplace_back(
      "tensors", Json::object({{"stats", block(event["tensors"]["stats"], 4 * 4 * count)},
                               {"bins", block(event["tensors"]["bins"], histogram_bins * count)}}));
  return Json::object(members);
}

}  // namespace fledge::page
