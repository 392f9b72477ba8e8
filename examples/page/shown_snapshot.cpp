#include "examples/page/shown_snapshot.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "examples/page/base64.h"

namespace fledge::page {

namespace {

std::vector<std::string> texts_of(const JsonValue& list) {
  std::vector<std::string> texts;
  list.each_item([&](const JsonValue& text) { texts.push_back(text.string()); });
  return texts;
}

}  // namespace

std::string visible_line_ends(std::string_view text) {
  if (text.starts_with('\n')) text.remove_prefix(1);
  std::string shown;
  for (const char c : text) shown += c == '\n' ? std::string("⏎") : std::string(1, c);
  return shown;
}

Json shown_snapshot(const JsonValue& event, const Axes& axes, const Detail& detail, bool is_last) {
  std::vector<Json> sentences, watch, vectors;
  std::vector<std::string> continuations;
  for (const std::string& text : texts_of(event["continuations"]))
    continuations.push_back(visible_line_ends(text));
  std::size_t count = 0;
  event["sentences"].each_item([&](const JsonValue& sentence) {
    if (count++ < detail.sentences)
      sentences.push_back(Json::object({{"loss", sentence["loss"].number()},
                                        {"attention", sentence["attention"].string()},
                                        {"top", sentence["top"].string()}}));
  });
  const auto number = [](const JsonValue& value) {
    return value.is_null() ? std::optional<double>() : value.number();
  };
  event["watch"].each_item([&](const JsonValue& pair) {
    watch.push_back(Json::object({{"attention", number(pair["attention"])},
                                  {"chance", number(pair["chance"])},
                                  {"cosine", number(pair["cosine"])},
                                  {"control", number(pair["control"])},
                                  {"effect", number(pair["effect"])}}));
  });
  Json::Members members{{"step", event["step"].integer(0, std::int64_t{1} << 53)},
                        {"continuations", continuations},
                        {"sentences", sentences},
                        {"watch", watch}};
  if (!event.has("vectors")) return Json::object(members);
  const std::vector<std::string> all = texts_of(event["vectors"]);
  std::vector<Json> gradients;
  event["gradients"].each_item([&](const JsonValue& one) {
    const std::size_t i = gradients.size();
    const bool is_kept = is_last || (detail.first_vectors && (detail.all_vectors || i == 0));
    if (i >= std::min(all.size(), sentences.size())) return;
    vectors.push_back(is_kept ? Json(all[i]) : Json());
    gradients.push_back(!is_kept || one.is_null()
                            ? Json()
                            : Json::object({{"loss", one["loss"].number()},
                                            {"d_mixed", one["d_mixed"].string()},
                                            {"d_scores", one["d_scores"].string()}}));
  });
  members.emplace_back("vectors", vectors);
  members.emplace_back("gradients", gradients);
  if (!axes.mean.empty())
    members.emplace_back("map", base64(places_on(axes, floats_of_base64(event["map"].string()))));
  members.emplace_back("tensors", Json::object({{"stats", event["tensors"]["stats"].string()},
                                                {"bins", event["tensors"]["bins"].string()}}));
  return Json::object(members);
}

}  // namespace fledge::page
