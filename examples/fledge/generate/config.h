// The options of `fledge generate`.
#pragma once

#include <cstdint>
#include <string>

#include "examples/fledge/attention/attention_weights.h"
#include "examples/fledge/trained_model.h"
#include "nn/generate/sampler.h"

namespace fledge {

struct GenerateConfig {
  TextForm form = TextForm::text;
  std::string folder, prompt;  // the prompt "-": standard input
  std::int64_t tokens_out = 200, samples = 1;
  bool is_numbered = false;  // --samples was given: JSON objects and rows of CSV are numbered
  bool skip_unknown = false;
  bool null = false;      // a NUL after each text
  std::string stop, why;  // "": not given
  SampleOptions choice;
  std::uint64_t seed = 0;
  bool is_random_seed = false;  // --seed was not given
  bool probs = false, attention = false;
  HeadChoice heads;  // of --attention
  bool json = false, csv = false, raw = false;
  std::string svg;  // "": not given
};

/// Reads the options. Throws UsageError for options that exclude each other.
GenerateConfig generate_config(int argc, char** argv);

}  // namespace fledge
