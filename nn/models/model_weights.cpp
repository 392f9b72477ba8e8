#include "nn/models/model_weights.h"

#include <algorithm>

namespace fledge::inline FLEDGE_BUILD {

namespace {

// The name without what a model with a head puts in front.
std::string_view plain(std::string_view name) {
  constexpr std::string_view prefix = "transformer.";
  return name.substr(0, prefix.size()) == prefix ? name.substr(prefix.size()) : name;
}

// h.N.attn.bias and h.N.attn.masked_bias hold the causal mask and its minus infinity.
bool is_mask(std::string_view name) {
  if (name.substr(0, 2) != "h.") return false;
  const std::size_t digits = name.find_first_not_of("0123456789", 2);
  if (digits == 2 || digits == std::string_view::npos) return false;
  const std::string_view rest = name.substr(digits);
  return rest == ".attn.bias" || rest == ".attn.masked_bias";
}

std::string quoted(std::string_view name) { return "'" + shown_name(name) + "'"; }

// What a file says, compared with what a model needs.
class Comparison {
 public:
  explicit Comparison(std::string_view file) : file_(file), header_(stored_header(file)) {
    for (const StoredTensor& tensor : header_.tensors) {
      const std::string_view name = plain(tensor.name);
      if (name == "lm_head.weight")
        head_ = &tensor;
      else if (!is_mask(name) && !tensors_.emplace(name, &tensor).second)
        differs(quoted(name) + " stands twice, once behind 'transformer.'");
    }
  }

  // The numbers for this parameter; no array when there are none.
  Array numbers_for(const std::string& name, const Shape& shape) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      differs(quoted(name) + " of shape " + to_string(shape) + " is missing");
      return {};
    }
    const StoredTensor& tensor = *found->second;
    tensors_.erase(found);
    Array array = read(tensor, shape);
    if (name == "wte.weight" && head_ != nullptr) compare_head(array, shape);
    return array;
  }

  void require_no_difference() {
    for (const auto& [name, tensor] : tensors_)
      differs(quoted(name) + " of shape " + to_string(shape_of(*tensor)) + " is not in the model");
    if (differences_.empty()) return;
    constexpr std::size_t most = 20;
    std::string message = "load_weights: the file must hold the model's tensors";
    for (std::size_t i = 0; i < std::min(most, differences_.size()); ++i)
      message += (i == 0 ? ": " : "; ") + differences_[i];
    if (differences_.size() > most)
      message += "; and " + std::to_string(differences_.size() - most) + " more differences";
    throw WeightsError(message);
  }

 private:
  void differs(std::string what) { differences_.push_back(std::move(what)); }

  Array read(const StoredTensor& tensor, const Shape& shape) {
    if (!(shape_of(tensor) == shape)) {
      differs(quoted(tensor.name) + " has shape " + to_string(shape_of(tensor)) +
              ", in the model " + to_string(shape));
      return {};
    }
    Array array;
    try {
      array = stored_array(file_, header_, tensor);
    } catch (const StoredError& error) {
      differs(error.what());
      return {};
    }
    for (Dim i = 0; i < array.size(); ++i)
      if (!isfinite(array[i])) {
        differs(quoted(tensor.name) + " holds a number that is not finite, at " +
                std::to_string(i));
        return {};
      }
    return array;
  }

  // The output projection is the word table itself.
  void compare_head(const Array& table, const Shape& shape) {
    const Array head = read(*head_, shape);
    if (!table.exists() || !head.exists()) return;
    for (Dim i = 0; i < table.size(); ++i)
      if (!(head[i] == table[i]))
        return differs(quoted(head_->name) +
                       " is not wte.weight, as it must be here: they differ at " +
                       std::to_string(i));
  }

  std::string_view file_;
  StoredHeader header_;
  std::map<std::string, const StoredTensor*, std::less<>> tensors_;  // yet to be asked for
  const StoredTensor* head_ = nullptr;
  std::vector<std::string> differences_;
};

}  // namespace

std::string weights_bytes(const LanguageModel& model,
                          const std::map<std::string, std::string>& metadata) {
  std::vector<NamedArray> arrays;
  for (const auto& [name, tensor] : named_parameters(model))
    arrays.push_back({name, tensor.value()});
  return stored_bytes(std::move(arrays), metadata);
}

void load_weights(const LanguageModel& model, std::string_view file) {
  Comparison comparison(file);
  const auto parameters = named_parameters(model);
  std::vector<Array> arrays;
  for (const auto& [name, tensor] : parameters)
    arrays.push_back(comparison.numbers_for(name, tensor.shape()));
  comparison.require_no_difference();
  std::vector<Real*> places;  // all of them before the first number moves: write() may refuse
  for (const auto& entry : parameters) places.push_back(entry.second.write());
  for (std::size_t i = 0; i < places.size(); ++i)
    std::copy_n(arrays[i].data(), arrays[i].size(), places[i]);
}

Bias bias_in(const StoredHeader& header) {
  const bool found = std::any_of(
      header.tensors.begin(), header.tensors.end(),
      [](const StoredTensor& tensor) { return plain(tensor.name) == "h.0.attn.c_attn.bias"; });
  return found ? Bias::with : Bias::without;
}

}  // namespace fledge::inline FLEDGE_BUILD
