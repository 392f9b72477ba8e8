#include "nn/gpt/weights.h"

namespace fledge {

namespace {

// GPT-2's models with an output head put "transformer." before all names but that of the head,
// DistributedDataParallel and torch.compile put theirs before all names.
std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : {"module.", "_orig_mod.", "module.", "transformer."})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  return name;
}

// h.N.attn.bias and h.N.attn.masked_bias hold the causal mask and its minus infinity; older files of
// Llama hold the frequencies of rotary positions.
bool is_constant(std::string_view name) {
  if (name.ends_with(".rotary_emb.inv_freq")) return true;
  const std::size_t digits = name.starts_with("h.") ? name.find('.', 2) : std::string::npos;
  const std::string_view rest = digits == std::string::npos ? "" : name.substr(digits);
  return rest == ".attn.bias" || rest == ".attn.masked_bias";
}

// The name of the bias beside a weight of a linear layer; "" for other parameters.
std::string bias_beside(const std::string& name) {
  constexpr std::string_view weight = ".weight";
  const bool is_linear =
      (name.find(".c_") != std::string::npos || name.find("_proj.") != std::string::npos) &&
      name.ends_with(weight);
  return is_linear ? name.substr(0, name.size() - weight.size()) + ".bias" : "";
}

// Removes the biases of a model without biases from the tensors. They must be zeros.
void remove_zero_biases(const ByteSource& file, NamedTensors& tensors,
                        const NamedShapes& expected) {
  for (const auto& [name, shape] : expected) {
    const auto bias = tensors.find(bias_beside(name));
    if (bias == tensors.end()) continue;
    const Array numbers = read_array(file, *bias->second);
    for (Dim i = 0; i < numbers.size(); ++i)
      require<FormatError>(numbers[i] == Real(0), "its tensors", in_quotes(bias->first),
                           " must be zeros, because config.json says that there are no biases: "
                           "number ",
                           i, " is ", value_of(numbers[i]));
    tensors.erase(bias);
  }
}

void require_tied_head(const Array& head, const StoredPart& words) {
  const Array table = words.parameter.value();
  for (Dim i = 0; i < head.size(); ++i)
    require<FormatError>(head[i] == table[i], "its tensors", "lm_head.weight must be ", words.name,
                         " here: they differ at ", i);
}

NamedTensors tensors_of(const StoredHeader& header) {
  NamedTensors tensors;
  for (const StoredTensor& tensor : header.tensors)
    if (const std::string_view name = without_prefix(tensor.name); !is_constant(name))
      require<FormatError>(tensors.emplace(name, &tensor).second, "its tensors", in_quotes(name),
                           " occurs twice, with and without a prefix");
  return tensors;
}

// What modules are called in files of Llama and Starcoder2, with those of a block in its place:
// h.N.ln_1 and model.layers.N.input_layernorm.
enum class Range { all, queries, keys, values };
struct OtherName {
  std::string_view own, other;
  Range range = Range::all;
  Family only = Family::none;  // none: both
};
constexpr OtherName other_names[] = {{"wte", "model.embed_tokens"},
                                     {"ln_1", "input_layernorm"},
                                     {"attn.c_attn", "self_attn.q_proj", Range::queries},
                                     {"attn.c_attn", "self_attn.k_proj", Range::keys},
                                     {"attn.c_attn", "self_attn.v_proj", Range::values},
                                     {"attn.c_proj", "self_attn.o_proj"},
                                     {"ln_2", "post_attention_layernorm"},
                                     {"mlp.c_gate", "mlp.gate_proj"},
                                     {"mlp.c_fc", "mlp.up_proj", Range::all, Family::llama},
                                     {"mlp.c_proj", "mlp.down_proj", Range::all, Family::llama},
                                     {"mlp.c_fc", "mlp.c_fc", Range::all, Family::starcoder2},
                                     {"mlp.c_proj", "mlp.c_proj", Range::all, Family::starcoder2},
                                     {"ln_f", "model.norm"},
                                     {"lm_head", "lm_head"}};

}  // namespace

Shape StoredPart::shape() const {
  return is_transposed ? Shape{count, parameter.dim(0)} : parameter.shape().with(-1, count);
}

Array StoredPart::of(const Array& x) const {
  if (is_whole()) return x;
  const Tensor columns = slice(Tensor(x), -1, first, first + count);
  return (is_transposed ? transpose(columns) : columns).value();
}

void StoredPart::read(const ByteSource& file, const StoredTensor& tensor) const {
  Real* const to = parameter.write();
  if (is_whole()) return read_numbers(file, tensor, to);
  const Array part = read_array(file, tensor);
  const Array columns = is_transposed ? transpose(Tensor(part)).value() : part;
  for (Dim row = 0; row * count < columns.size(); ++row)
    std::copy_n(columns.data() + row * count, count, to + row * parameter.dim(-1) + first);
}

std::vector<StoredPart> stored_parts(const LanguageModel& model, StoredFor place) {
  const Family family = place == StoredFor::folder ? model.sizes.family() : Family::none;
  const bool is_renamed = family == Family::llama || family == Family::starcoder2;
  const HeadCount heads = model.sizes.head_count();
  const Dim C = model.sizes.width, keys = C / heads.queries * heads.keys;
  std::vector<StoredPart> parts;
  for (const auto& [name, p] : named_parameters(model)) {
    if (!is_renamed) {
      parts.push_back({name, p, 0, p.dim(-1), false});
      continue;
    }
    const bool is_in_block = name.starts_with("h.");
    const std::size_t begin = is_in_block ? name.find('.', 2) + 1 : 0,  // behind "h.N."
        end = name.rfind('.');                                          // before ".weight"
    const std::string block = is_in_block ? "model.layers." + name.substr(2, begin - 2) : "",
                      kind = name.substr(end);
    const bool is_transposed = name.find(".c_") != std::string::npos && p.rank() == 2;
    const std::pair<Dim, Dim> ranges[] = {{0, p.dim(-1)}, {0, C}, {C, keys}, {C + keys, keys}};
    for (const auto& [own, other, range, only] : other_names) {
      if (name.substr(begin, end - begin) != own) continue;
      if (only != Family::none && only != family) continue;
      const auto [first, count] = ranges[static_cast<int>(range)];
      parts.push_back({block + std::string(other) + kind, p, first, count, is_transposed});
    }
  }
  return parts;
}

std::vector<NamedArray> named_weights(const LanguageModel& model) {
  std::vector<NamedArray> arrays;
  for (const StoredPart& part : stored_parts(model)) {
    arrays.push_back({part.name, part.of(part.parameter.value())});
    if (const std::string bias = bias_beside(part.name);
        model.sizes.bias == Bias::without && model.sizes.family() == Family::gpt2 && !bias.empty())
      arrays.push_back({bias, Array::zeros({part.count})});
  }
  return arrays;
}

LanguageModel read_weights(const WeightFile& file, const LanguageModelSizes& sizes,
                           StoredFor place) {
  if (parameter_count(sizes) > static_cast<double>(file.bytes.size()))
    throw FormatError("the model has " + json_number(parameter_count(sizes)) +
                      " numbers, and the file has " + std::to_string(file.bytes.size()) + " bytes");
  LanguageModel model(sizes, InitialWeights::none());
  NamedShapes expected;
  const std::vector<StoredPart> parts = stored_parts(model, place);
  for (const StoredPart& part : parts) expected.emplace_back(part.name, part.shape());
  NamedTensors tensors = tensors_of(file.header);
  if (sizes.bias == Bias::without) remove_zero_biases(file.bytes, tensors, expected);
  // save_model() of safetensors keeps one name of the two of a tied table.
  const StoredPart& words = parts[0];
  const bool is_tied = sizes.recipe.head == OutputHead::tied;
  if (is_tied && !tensors.contains(words.name))
    if (auto head = tensors.extract("lm_head.weight")) {
      head.key() = words.name;
      tensors.insert(std::move(head));
    }
  const bool has_head = is_tied && tensors.contains("lm_head.weight");
  if (has_head) expected.emplace_back("lm_head.weight", model.wte.weight.shape());
  const auto found = find_tensors(std::move(tensors), expected);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i].read(file.bytes, *found[i]);
  if (has_head) require_tied_head(read_array(file.bytes, *found.back()), words);
  return model;
}

Bias stored_bias(const WeightFile& file) {
  return tensors_of(file.header).contains("h.0.attn.c_attn.bias") ? Bias::with : Bias::without;
}

}  // namespace fledge
