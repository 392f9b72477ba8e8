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

// Collects the differences between a file and a model; the message lists the first twenty.
class Differences {
 public:
  void add(const std::string& difference) {
    constexpr int most = 20;
    if (++count_ <= most) list_ += (count_ == 1 ? ": " : "; ") + difference;
    more_ = count_ > most ? "; and " + std::to_string(count_ - most) + " more differences" : "";
  }
  void require_none() const {
    if (count_ > 0)
      throw FormatError(
          "", "its tensors must be those of the model that config.json describes" + list_ + more_);
  }

 private:
  int count_ = 0;
  std::string list_, more_;
};

// The tensors of a file that belong to the parameters of a model, in their order.
struct Match {
  std::vector<const StoredTensor*> tensors;
  const StoredTensor* head = nullptr;  // lm_head.weight, where the file has it
};

Match match(const StoredHeader& header, const LanguageModelSizes& sizes) {
  Match result;
  Differences differences;
  std::map<std::string_view, const StoredTensor*> rest;  // that no parameter has taken yet
  for (const StoredTensor& tensor : header.tensors) {
    const std::string_view name = plain(tensor.name);
    if (name == "lm_head.weight")
      result.head = &tensor;
    else if (!is_mask(name) && !rest.emplace(name, &tensor).second)
      differences.add(in_quotes(name) + " stands twice, once behind 'transformer.'");
  }
  const auto compare = [&](const StoredTensor& tensor, const Shape& shape) {
    if (tensor.shape != shape)
      differences.add(in_quotes(tensor.name) + " has shape " + to_string(tensor.shape) +
                      ", in the model " + to_string(shape));
  };
  for (const auto& [name, shape] : weight_shapes(sizes)) {
    const auto found = rest.find(name);
    if (found == rest.end()) {
      differences.add(in_quotes(name) + " of shape " + to_string(shape) + " is missing");
      continue;
    }
    compare(*found->second, shape);
    result.tensors.push_back(found->second);
    rest.erase(found);
    if (name == "wte.weight" && result.head != nullptr) compare(*result.head, shape);
  }
  for (const auto& [name, tensor] : rest)
    differences.add(in_quotes(name) + " of shape " + to_string(tensor->shape) +
                    " is not in the model");
  differences.require_none();
  return result;
}

// All numbers must be finite, and the output projection must be the word table itself.
void require_numbers(std::string_view file, const Match& match) {
  Differences differences;
  for (const StoredTensor* tensor : match.tensors) try {
      if (const auto at = first_not_finite(file, *tensor))
        differences.add(in_quotes(tensor->name) + " holds a number that is not finite, at " +
                        std::to_string(*at));
    } catch (const FormatError& error) {
      differences.add(error.problem);
    }
  differences.require_none();
  if (match.head == nullptr) return;
  const Array head = stored_array(file, *match.head), table = stored_array(file, *match.tensors[0]);
  for (Dim i = 0; i < head.size(); ++i)
    if (!(head[i] == table[i])) {
      differences.add(in_quotes(match.head->name) +
                      " is not wte.weight, as it must be here: they differ at " +
                      std::to_string(i));
      break;
    }
  differences.require_none();
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
  match(header, sizes);
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
  const Match found = match(header, model.sizes);
  require_numbers(file, found);
  std::vector<Real*> places;  // all of them before the first number moves: write() may refuse
  for (const Tensor& parameter : parameters(model)) places.push_back(parameter.write());
  for (std::size_t i = 0; i < places.size(); ++i) read_numbers(file, *found.tensors[i], places[i]);
}

Bias bias_in(const StoredHeader& header) {
  const bool found = std::any_of(
      header.tensors.begin(), header.tensors.end(),
      [](const StoredTensor& tensor) { return plain(tensor.name) == "h.0.attn.c_attn.bias"; });
  return found ? Bias::with : Bias::without;
}

}  // namespace fledge
