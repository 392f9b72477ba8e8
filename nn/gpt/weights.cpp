#include "nn/gpt/weights.h"

#include <algorithm>

#include "nn/gpt/config.h"

namespace fledge {

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

std::string quoted(std::string_view name) { return "'" + escaped_name(name) + "'"; }

// A file's tensors, compared with the parameters that a model needs.
class Comparison {
 public:
  explicit Comparison(const StoredHeader& header) {
    for (const StoredTensor& tensor : header.tensors) {
      const std::string_view name = plain(tensor.name);
      if (name == "lm_head.weight")
        head_ = &tensor;
      else if (!is_mask(name) && !tensors_.emplace(name, &tensor).second)
        differs(quoted(name) + " stands twice, once behind 'transformer.'");
    }
  }

  // The tensor of this parameter; null when there is none of this shape.
  const StoredTensor* take(const std::string& name, const Shape& shape) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      differs(quoted(name) + " of shape " + to_string(shape) + " is missing");
      return nullptr;
    }
    const StoredTensor& tensor = *found->second;
    tensors_.erase(found);
    if (name == "wte.weight" && head_ != nullptr) require_shape(*head_, shape);
    return require_shape(tensor, shape) ? &tensor : nullptr;
  }

  void differs(const std::string& what) {
    constexpr int most = 20;
    if (++count_ <= most) message_ += (count_ == 1 ? ": " : "; ") + what;
    more_ = count_ > most ? "; and " + std::to_string(count_ - most) + " more differences" : "";
  }

  void require_no_difference() {
    for (const auto& [name, tensor] : tensors_)
      differs(quoted(name) + " of shape " + to_string(shape_of(*tensor)) + " is not in the model");
    tensors_.clear();
    if (count_ > 0)
      throw WeightsError("load_weights: the file must hold the model's tensors" + message_ + more_);
  }

  const StoredTensor* head() const { return head_; }

 private:
  bool require_shape(const StoredTensor& tensor, const Shape& shape) {
    const bool same = shape_of(tensor) == shape;
    if (!same)
      differs(quoted(tensor.name) + " has shape " + to_string(shape_of(tensor)) +
              ", in the model " + to_string(shape));
    return same;
  }

  std::map<std::string_view, const StoredTensor*> tensors_;  // that no parameter has taken yet
  const StoredTensor* head_ = nullptr;
  std::string message_, more_;
  int count_ = 0;
};

// Whether all numbers of a tensor can be read and are finite.
bool has_numbers(std::string_view file, const StoredHeader& header, const StoredTensor& tensor,
                 Comparison& comparison) {
  try {
    const auto at = first_not_finite(file, header, tensor);
    if (at)
      comparison.differs(quoted(tensor.name) + " holds a number that is not finite, at " +
                         std::to_string(*at));
    return !at;
  } catch (const StoredError& error) {
    comparison.differs(error.what());
    return false;
  }
}

// The output projection is the word table itself.
void compare_head(std::string_view file, const StoredHeader& header, const StoredTensor& head,
                  const StoredTensor& table, Comparison& comparison) {
  const Array a = stored_array(file, header, head), b = stored_array(file, header, table);
  for (Dim i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i]))
      return comparison.differs(quoted(head.name) +
                                " is not wte.weight, as it must be here: they differ at " +
                                std::to_string(i));
}

}  // namespace

std::string weights_bytes(const LanguageModel& model,
                          const std::map<std::string, std::string>& metadata) {
  std::vector<NamedArray> arrays;
  for (const auto& [name, tensor] : named_parameters(model))
    arrays.push_back({name, tensor.value()});
  return stored_bytes(std::move(arrays), metadata);
}

std::vector<std::pair<std::string, Shape>> weight_shapes(const LanguageModelSizes& sizes) {
  const Dim C = sizes.width, hidden = sizes.hidden > 0 ? sizes.hidden : 4 * C;
  std::vector<std::pair<std::string, Shape>> shapes{{"wte.weight", {sizes.vocabulary, C}},
                                                    {"wpe.weight", {sizes.context, C}}};
  const auto linear = [&](const std::string& name, Dim in, Dim out) {
    shapes.emplace_back(name + ".weight", Shape{in, out});
    if (sizes.bias == Bias::with) shapes.emplace_back(name + ".bias", Shape{out});
  };
  const auto norm = [&](const std::string& name) {
    shapes.emplace_back(name + ".weight", Shape{C});
    shapes.emplace_back(name + ".bias", Shape{C});
  };
  for (Dim layer = 0; layer < sizes.layers; ++layer) {
    const std::string block = "h." + std::to_string(layer);
    norm(block + ".ln_1");
    linear(block + ".attn.c_attn", C, 3 * C);
    linear(block + ".attn.c_proj", C, C);
    norm(block + ".ln_2");
    linear(block + ".mlp.c_fc", C, hidden);
    linear(block + ".mlp.c_proj", hidden, C);
  }
  norm("ln_f");
  return shapes;
}

void require_weights(const StoredHeader& header, const LanguageModelSizes& sizes) {
  Comparison comparison(header);
  for (const auto& [name, shape] : weight_shapes(sizes)) comparison.take(name, shape);
  comparison.require_no_difference();
}

std::uint64_t most_weights_bytes(const LanguageModelSizes& sizes) {
  const auto number = [](Dim size) { return static_cast<double>(size); };
  const double V = number(sizes.vocabulary), C = number(sizes.width), T = number(sizes.context);
  const double bytes = 8 * (parameter_count(sizes) + V * C + number(sizes.layers) * (T * T + 1)) +
                       static_cast<double>(most_header_bytes);
  return static_cast<std::uint64_t>(std::min(bytes, 1e15));
}

void load_weights(const LanguageModel& model, std::string_view file) {
  load_weights(model, file, stored_header(file));
}

void load_weights(const LanguageModel& model, std::string_view file, const StoredHeader& header) {
  Comparison comparison(header);
  const auto parameters = named_parameters(model);
  std::vector<const StoredTensor*> stored;
  for (const auto& [name, tensor] : parameters) {
    const StoredTensor* const found = comparison.take(name, tensor.shape());
    const bool good = found != nullptr && has_numbers(file, header, *found, comparison);
    if (good && name == "wte.weight" && comparison.head() != nullptr &&
        shape_of(*comparison.head()) == tensor.shape() &&
        has_numbers(file, header, *comparison.head(), comparison))
      compare_head(file, header, *comparison.head(), *found, comparison);
    stored.push_back(found);
  }
  comparison.require_no_difference();
  std::vector<Real*> places;  // all of them before the first number moves: write() may refuse
  for (const auto& entry : parameters) places.push_back(entry.second.write());
  for (std::size_t i = 0; i < places.size(); ++i) read_numbers(file, header, *stored[i], places[i]);
}

Bias bias_in(const StoredHeader& header) {
  const bool found = std::any_of(
      header.tensors.begin(), header.tensors.end(),
      [](const StoredTensor& tensor) { return plain(tensor.name) == "h.0.attn.c_attn.bias"; });
  return found ? Bias::with : Bias::without;
}

}  // namespace fledge
