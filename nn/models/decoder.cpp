#include "nn/models/decoder.h"

#include <algorithm>

#include "engine/autograd.h"

namespace fledge::inline FLEDGE_BUILD {

Decoder::Decoder(const LanguageModel& model) : model_(model), caches_(model.h.size()) {}

void Decoder::restart() {
  window_.clear();
  for (KeyValueCache& cache : caches_) {
    cache.length = 0;
    cache.keys.clear();
    cache.values.clear();
  }
}

Array Decoder::read(const std::vector<Dim>& ids) {
  require<ValueError>(!ids.empty(), "Decoder", "needs at least one token to read: got none");
  for (const Dim id : ids)
    require<ValueError>(id >= 0 && id < model_.sizes.vocabulary, "Decoder", "token ", id,
                        " is outside a vocabulary of ", model_.sizes.vocabulary);

  const Dim kept = std::max<Dim>(1, model_.sizes.context / 2);
  for (const Dim id : ids) {
    if (length() == model_.sizes.context) {
      const std::vector<Dim> last(window_.end() - (kept - 1), window_.end());
      restart();
      window_ = last;
    }
    window_.push_back(id);
  }

  const NoGrad no_grad;
  const Dim first = caches_[0].length, count = length() - first;
  const Indices fresh({count}, {window_.end() - count, window_.end()});
  Tensor x = embedding(model_.wte.weight, model_.wpe.weight, fresh, first);  // (count, C)
  for (std::size_t layer = 0; layer < caches_.size(); ++layer)
    x = model_.h[layer](x, caches_[layer]);
  const Tensor logits = model_.guess(slice(x, 0, count - 1, count));  // (1, V)
  return logits.value().shaped({model_.sizes.vocabulary});
}

}  // namespace fledge::inline FLEDGE_BUILD
