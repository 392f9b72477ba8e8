#include "nn/gpt/config_keys.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace fledge {

namespace {

// Keys of GPT-2's configurations that must have this value, as JSON, if they are there: this model
// computes nothing else.
constexpr std::pair<std::string_view, std::string_view> only_values[] = {
    {"model_type", "\"gpt2\""},
    {"model_type", "\"fledge\""},
    {"scale_attn_weights", "true"},
    {"scale_attn_weights", "false"},
    {"scale_attn_by_inverse_layer_idx", "false"},
    {"tie_word_embeddings", "true"},
    {"add_cross_attention", "false"},
    {"is_encoder_decoder", "false"},
    {"pruned_heads", "{}"}};

// Keys of other models that change the mathematics and leave no trace in the names and shapes of the
// tensors. They must be null or false.
// clang-format off
constexpr std::string_view keys_of_other_models[] = {
    "alibi", "attn_logit_softcapping", "final_logit_softcapping", "logit_scale", "n_experts",
    "num_experts", "num_local_experts", "parallel_attn", "qk_norm", "quantization_config",
    "rope_scaling", "rope_theta", "rotary_dim", "rotary_pct", "sliding_window", "use_alibi",
    "use_parallel_residual", "use_rotary", "window_size"};

// Keys of GPT-2's configurations that change no number of the model: notes, what other classes of the
// library use, how it generates, and how exactly it rounds (GPT2Config and PretrainedConfig of
// transformers 4).
constexpr std::string_view ignored_keys[] = {
    "_attn_implementation_autoset", "_commit_hash", "_name_or_path", "_num_labels", "architectures",
    "attn_implementation", "bad_words_ids", "begin_suppress_tokens", "bos_token_id",
    "chunk_size_feed_forward", "cross_attention_hidden_size", "decoder_start_token_id",
    "diversity_penalty", "do_sample", "dtype", "early_stopping", "encoder_no_repeat_ngram_size",
    "eos_token_id", "exponential_decay_length_penalty", "finetuning_task", "forced_bos_token_id",
    "forced_eos_token_id", "gradient_checkpointing", "id2label", "initializer_range", "is_decoder",
    "label2id", "length_penalty", "max_length", "min_length", "n_ctx", "n_special",
    "no_repeat_ngram_size", "num_beam_groups", "num_beams", "num_labels", "num_return_sequences",
    "output_attentions", "output_hidden_states", "output_past", "output_scores", "pad_token_id",
    "predict_special_tokens", "prefix", "problem_type", "remove_invalid_values",
    "reorder_and_upcast_attn", "repetition_penalty", "return_dict", "return_dict_in_generate",
    "sep_token_id", "summary_activation", "summary_first_dropout", "summary_proj_to_labels",
    "summary_type", "summary_use_proj", "suppress_tokens", "task_specific_params", "temperature",
    "tf_legacy_loss", "tie_encoder_decoder", "tokenizer_class", "top_k", "top_p", "torch_dtype",
    "torchscript", "transformers_version", "typical_p", "use_bfloat16", "use_cache"};

// Keys that config.cpp reads.
constexpr std::string_view read_keys[] = {
    "vocab_size", "n_positions", "max_position_embeddings", "n_embd", "hidden_size", "n_layer",
    "num_hidden_layers", "n_head", "num_attention_heads", "n_inner", "bias", "resid_pdrop",
    "embd_pdrop", "attn_pdrop", "layer_norm_epsilon", "activation_function", "fledge"};
// clang-format on

}  // namespace

std::vector<std::string> check_config_keys(const JsonValue& config) {
  std::set<std::string_view> known(std::begin(read_keys), std::end(read_keys));
  known.insert(std::begin(ignored_keys), std::end(ignored_keys));
  known.insert(std::begin(keys_of_other_models), std::end(keys_of_other_models));
  for (const auto& only : only_values) known.insert(only.first);
  std::vector<std::string> unknown;
  config.each_member([&](const std::string& key, const JsonValue&) {
    if (!known.contains(key)) unknown.push_back(key);
  });
  for (const std::string_view key : keys_of_other_models)
    if (const JsonValue found = config.find(key); !found.is_null() && found.shown() != "false")
      found.fail("must be null or false, because GPT-2's model has no such part: got " +
                 found.shown());
  for (const auto& only : only_values) {
    const JsonValue found = config.find(only.first);
    const bool fits = std::any_of(
        std::begin(only_values), std::end(only_values),
        [&](const auto& one) { return one.first == only.first && one.second == found.shown(); });
    if (config.has(only.first) && !fits)
      found.fail("must be " + std::string(only.second) + ": got " + found.shown());
  }
  return unknown;
}

}  // namespace fledge
