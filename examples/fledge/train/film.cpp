#include "examples/fledge/train/film.h"

#include <algorithm>

#include "examples/support/attention_map.h"
#include "examples/support/line_plot.h"
#include "examples/support/text.h"
#include "examples/support/token_label.h"

namespace fledge::train {

namespace {

constexpr std::int64_t most_frames = 60;
constexpr int film_rows = 8;

/// The last place of a token among the first `end`; `end` if it is not there.
std::size_t last_place(const std::vector<Dim>& ids, Dim token, std::size_t end) {
  for (std::size_t place = end; place > 0; --place)
    if (ids[place - 1] == token) return place - 1;
  return end;
}

}  // namespace

Film::Film(const Probe& sentence, const std::vector<WordPair>& pairs, const Tokenizer& tokenizer,
           std::int64_t steps, bool is_causal)
    : ids_(sentence.ids),
      target_(sentence.begin),
      steps_(steps),
      every_(std::max<std::int64_t>(steps / most_frames, 1)),
      is_causal_(is_causal) {
  for (const Dim id : ids_) labels_.push_back(support::token_label(tokenizer.decode({id})));
  query_ = ids_.size() - 1;
  for (const WordPair& pair : pairs) {
    const std::size_t query = last_place(ids_, pair.word_token, ids_.size());
    if (query == ids_.size()) continue;
    const std::size_t target = last_place(ids_, pair.looks_at_token, query);
    if (target == query) continue;
    query_ = query;
    target_ = target;
    break;
  }
  for (std::size_t place = query_; place > 0 && !control_; --place)
    if (place - 1 != target_) control_ = place - 1;
}

bool Film::has_frame(std::int64_t step) const {
  return step == 1 || step == steps_ || step % every_ == 0;
}

FilmFrame Film::frame(const LanguageModel& model, const Tokenizer& tokenizer,
                      std::int64_t step) const {
  Decoder decoder(model);
  decoder.read(ids_);
  const AttentionWeights attention = attention_weights(decoder, tokenizer);
  const std::size_t T = ids_.size();
  const auto layers = static_cast<Dim>(attention.layers.size()), heads = attention.heads();
  FilmFrame frame{step, std::vector<double>(T * T), 0, 0};
  for (std::size_t i = 0; i < T; ++i)
    for (std::size_t j = 0; j < keys_of(i); ++j) {
      double& mean = frame.weights[i * T + j];
      for (Dim layer = 0; layer < layers; ++layer)
        for (Dim head = 0; head < heads; ++head)
          mean += attention.weight({layer, head}, static_cast<Dim>(i), static_cast<Dim>(j));
      mean /= static_cast<double>(layers * heads);
    }
  frame.target = frame.weights[query_ * T + target_];
  if (control_) frame.control = frame.weights[query_ * T + *control_];
  return frame;
}

Json::Members Film::event(const FilmFrame& frame) const {
  const auto T = static_cast<std::ptrdiff_t>(ids_.size());
  std::vector<std::vector<double>> rows;
  for (auto row = frame.weights.begin(); row != frame.weights.end(); row += T)
    rows.emplace_back(row, row + T);
  return {{"type", "film"},      {"step", frame.step},  {"query", query_},
          {"looks_at", target_}, {"control", control_}, {"attention", rows}};
}

std::string Film::picture(int columns, bool unicode, support::Paint paint) const {
  if (frames_.empty()) return "";
  support::MapStyle style;
  style.columns = columns;
  style.causal = is_causal_;
  style.unicode = unicode;
  style.paint = paint;
  const std::string arrow = unicode ? " → " : " -> ";
  support::LinePlot plot{.x_name = "steps"};
  plot.levels = {{"even split", even_split()}};
  using Curve = support::LinePlot::Curve;
  Curve target{labels_[query_] + arrow + labels_[target_], "●", "o", {}};
  Curve control{control_ ? labels_[query_] + arrow + labels_[*control_] : "", "·", ".", {}};
  target.name += support::formatted(" %.3f", frames_.back().target);
  if (control_) control.name += support::formatted(" %.3f", frames_.back().control);
  for (const FilmFrame& frame : frames_) {
    target.points.emplace_back(frame.step, frame.target);
    if (control_) control.points.emplace_back(frame.step, frame.control);
  }
  plot.curves = {control, target};
  if (!control_) plot.curves.erase(plot.curves.begin());
  return support::attention_map(labels_, frames_.back().weights, style) + "\n" +
         support::plot_text(plot, columns, film_rows, unicode, paint);
}

}  // namespace fledge::train
