#include "examples/page/page_data.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "examples/page/base64.h"
#include "nn/io/utf8.h"

namespace fledge::page {

namespace {

/// At most some 600 points of a curve, evenly spaced, and the last.
Curve thinned(const Curve& points) {
  const std::size_t every = points.size() / 600 + 1;
  Curve some;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (i % every == 0 || i + 1 == points.size()) some.push_back(points[i]);
  return some;
}

void read_event(const JsonValue& event, Dim parameters, Page& page) {
  const std::string type = event["type"].string();
  const auto add_to = [&](Curve& curve, const char* loss) {
    const double rounded = std::round(event[loss].number() * 1e4) / 1e4;
    curve.push_back({event["step"].number(), rounded});
  };
  if (type == "start") {
    const JsonValue losses = event["baselines"];
    std::vector<double> tables;
    losses.each_member([&](const std::string& name, const JsonValue& loss) {
      if (name != "uniform") tables.push_back(loss.number());
    });
    page.baselines = Json::object(
        {{"guessing", losses["uniform"].number()}, {"tables", tables}, {"floor", nullptr}});
  } else if (type == "step") {
    add_to(page.losses, "loss");
  } else if (type == "eval") {
    add_to(page.held_out, "held_out_loss");
  } else if (type == "snapshot") {
    std::string weights = event["bf16"].string();
    if (base64_decoded(weights).size() != static_cast<std::size_t>(2 * parameters))
      event["bf16"].fail("must have the weights of this model");
    page.kept.push_back({event["step"].integer(0, std::int64_t{1} << 53), std::move(weights)});
  }
}

}  // namespace

Json page_json(const Page& page) {
  std::vector<Json> kept;
  for (const Kept& one : page.kept) {
    Json::Members members{{"step", one.step}};
    if (!one.bf16.empty()) members.emplace_back("bf16", one.bf16);
    kept.push_back(Json::object(members));
  }
  const bool is_text = first_not_utf8(page.text) == std::string::npos;
  const Json bytes = Json::object({{"base64", base64(page.text)}});
  return Json::object({{"title", page.title},
                       {"text", is_text ? Json(page.text) : bytes},
                       {"settings", page.settings},
                       {"run", page.run.empty() ? Json() : Json(base64(page.run))},
                       {"baselines", page.baselines},
                       {"notices", page.notices},
                       {"story", Json::object({{"title", page.story.title},
                                               {"lede", page.story.lede},
                                               {"sentence", page.story.sentence},
                                               {"goes_on", page.story.goes_on},
                                               {"pairs", page.story.pairs}})},
                       {"book", page.book},
                       {"losses", thinned(page.losses)},
                       {"held_out", thinned(page.held_out)},
                       {"kept", kept}});
}

std::size_t most_earlier(Dim parameters) {
  // base64 has four letters for three bytes; the kept model has four bytes a weight, the others
  // two.
  const Dim bytes = Dim{8'000'000} / 4 * 3 - 4 * parameters;
  return static_cast<std::size_t>(std::clamp<Dim>(bytes / std::max<Dim>(2 * parameters, 1), 0, 60));
}

std::vector<std::int64_t> recorded_steps(std::int64_t steps, Dim parameters) {
  const std::size_t count = most_earlier(parameters);
  std::vector<std::int64_t> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = i == 0 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
    chosen.push_back(std::llround(static_cast<double>(steps) * share * share));
  }
  return chosen;
}

Json::Members snapshot_event(const LanguageModel& model, std::int64_t step) {
  std::string halves;
  for (const auto& [name, parameter] : named_parameters(model))
    for (const double weight : to_vector(parameter.value())) {
      // The upper half of a float, rounded to nearest, ties to even.
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(weight));
      const std::uint32_t half = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
      halves += {static_cast<char>(half & 0xff), static_cast<char>(half >> 8)};
    }
  return {{"type", "snapshot"}, {"step", step}, {"bf16", base64(halves)}};
}

void read_events(const std::vector<std::string>& lines, Dim parameters, Page& page) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    constexpr std::string_view first = "line 1,";
    try {
      read_event(read_json(lines[i]), parameters, page);
    } catch (const FormatError& error) {
      const std::string what = error.what();
      throw FormatError("line " + std::to_string(i + 1) +
                        (what.starts_with(first) ? what.substr(first.size() - 1) : ": " + what));
    }
  }
}

void add_kept(std::int64_t step, Dim parameters, Page& page) {
  std::vector<Kept>& all = page.kept;
  std::erase_if(all, [&](const Kept& one) { return one.step == step; });
  if (const std::size_t most = most_earlier(parameters); all.size() > most) {
    std::vector<Kept> some;
    for (std::size_t i = 0; i < most; ++i) some.push_back(std::move(all[i * all.size() / most]));
    all = std::move(some);
  }
  const auto later =
      std::find_if(all.begin(), all.end(), [&](const Kept& one) { return one.step > step; });
  all.insert(later, {step, ""});
}

}  // namespace fledge::page
