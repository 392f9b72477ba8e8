#include "examples/fledge/known_names.h"

namespace fledge {

namespace {

struct KnownNames {
  std::string option;
  std::vector<std::string> names;
  std::string reason;
};

const std::vector<KnownNames>& known_names() {
  static const std::vector<KnownNames> table = {
      {"--steps",
       {"--epochs", "--num-epochs", "--num-train-epochs", "--max-epochs"},
       "fledge counts steps"},
      {"--steps", {"--max-iters", "--iters", "--iterations", "--max-steps", "--num-steps"}, ""},
      {"--batch", {"--batch-size", "--bs", "--per-device-train-batch-size"}, ""},
      {"--accumulate", {"--gradient-accumulation-steps", "--grad-accum", "--accum"}, ""},
      {"--lr", {"--learning-rate", "--rate"}, ""},
      {"--min-lr", {"--final-lr", "--lr-min"}, "fledge takes a share of --lr"},
      {"--warmup", {"--warmup-iters", "--warmup-steps"}, ""},
      {"--decay", {"--weight-decay", "--wd"}, ""},
      {"--clip", {"--grad-clip", "--max-grad-norm", "--gradient-clip"}, ""},
      {"--context",
       {"--block-size", "--seq-len", "--seq-length", "--sequence-length", "--max-seq-len",
        "--max-seq-length", "--n-ctx", "--n-positions", "--context-length"},
       ""},
      {"--layers",
       {"--n-layer", "--n-layers", "--num-layers", "--depth", "--num-hidden-layers"},
       ""},
      {"--heads", {"--n-head", "--n-heads", "--num-heads", "--num-attention-heads"}, ""},
      {"--width",
       {"--n-embd", "--n-embed", "--d-model", "--dim", "--hidden-size", "--embed-dim",
        "--embedding-size"},
       ""},
      {"--vocab", {"--vocab-size"}, ""},
      {"--symbols", {"--vocab-size"}, "fledge counts the symbols of --tokens bpe"},
      {"--tokens", {"--tokenizer", "--tokenizer-name"}, ""},
      {"--valid", {"--val-split", "--validation-split", "--test-size", "--val"}, ""},
      {"--eval-every", {"--eval-interval", "--eval-steps", "--val-every"}, ""},
      {"--log-every", {"--log-interval", "--logging-steps"}, ""},
      {"--save-every", {"--save-steps", "--save-interval"}, "fledge counts seconds"},
      {"--out", {"--out-dir", "--output-dir", "--output", "--save-dir"}, ""},
      {"--from",
       {"--model", "--model-name-or-path", "--init-from", "--pretrained", "--pretrained-model"},
       ""},
      {"--to", {"--dtype", "--torch-dtype", "--outtype", "--type"}, ""},
      {"--tokens-out",
       {"--length", "--max-new-tokens", "--max-tokens", "--max-length", "--n-predict"},
       ""},
      {"--samples", {"--num-samples", "--num-return-sequences", "--n-samples"}, ""},
      {"--temperature", {"--temp"}, ""},
      {"--stop", {"--stop-sequence", "--stop-sequences", "--stop-string"}, ""},
      {"--seed", {"--random-seed", "--manual-seed"}, ""},
      {"--threads", {"--num-threads", "--num-workers", "--workers"}, ""},
      {"--json", {"--output-format", "--format"}, ""},
      {"--quiet", {"--silent"}, ""},
      {"",
       {"--device", "--gpu", "--cuda", "--no-cuda", "--fp16", "--bf16", "--dtype"},
       "fledge computes with floats on the processor; leave it out"},
  };
  return table;
}

}  // namespace

void add_known_names(support::Options& options) {
  for (const KnownNames& row : known_names()) options.known_as(row.option, row.names, row.reason);
}

}  // namespace fledge
