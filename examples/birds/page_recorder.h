// --page: the training of part 3 as a page (examples/page/).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/page/page_data.h"
#include "examples/page/plan.h"
#include "nn/gpt/language_model.h"
#include "nn/train/trainer.h"

namespace fledge::birds {

class PageRecorder {
 public:
  /// Before the first step.
  void begin(const LanguageModel& model, const Corpus& corpus, std::uint64_t seed);
  /// After a step.
  void add(const LanguageModel& model, const Corpus& corpus, const Trainer::Step& step);
  /// After the last step.
  void finish(const LanguageModel& model, const Corpus& corpus);

  /// The object RUN of the page, after finish().
  const page::Thinned& data() const { return data_; }
  /// The whole file.
  std::string file() const;

 private:
  void keep(const Json::Members& event) { events_.push_back(Json::object(event).text()); }

  std::uint64_t seed_ = 0;
  page::Plan plan_;
  std::vector<std::string> events_;
  page::Thinned data_;
};

}  // namespace fledge::birds
