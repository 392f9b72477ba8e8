#include "examples/fledge/generate/config.h"

#include <random>
#include <set>

#include "examples/support/options.h"
#include "examples/support/picture_file.h"

namespace fledge {

namespace {

using support::refuse_usage;

void require_one_form(const GenerateConfig& config, const std::set<std::string>& given) {
  if (config.json && config.csv)
    refuse_usage("--json and --csv are two forms of the same", "use one of them");
  const int tables = config.attention + config.probs + !config.why.empty();
  if (config.csv && tables != 1)
    refuse_usage(
        "--csv writes one table: " + std::string(tables == 0 ? "none" : "several") + " asked for",
        "add one of --attention, --probs and --why WORD");
  if (config.null && (config.json || config.csv))
    refuse_usage("--null is for texts, and a line ends each object of --json and row of --csv",
                 "leave out --null");
  for (const char* name : {"--layer", "--head", "--svg"})
    if (given.contains(name) && !config.attention)
      refuse_usage(std::string(name) + " is about attention", "add --attention");
  if (!config.svg.empty() && config.samples > 1)
    refuse_usage("--svg draws the attention of one text, and --samples asks for several",
                 "leave out --samples");
}

}  // namespace

GenerateConfig generate_config(int argc, char** argv) {
  constexpr double many = 1e9;
  GenerateConfig config;
  std::optional<std::uint64_t> seed;
  support::Options options("fledge generate", "A trained model continues a text.");
  options.arguments("DIR [PROMPT]", 1, 2, true);
  options.example("fledge generate run", "from nothing");
  options.example("fledge generate run \"birds sometimes\"",
                  "from a prompt; the prompt - reads it from stdin");
  options.example("fledge generate run --temperature 0", "always the likeliest token");
  options.example("fledge generate run \"but birds are good at\" --why flying",
                  "which words flying rests on");

  options.group("Text");
  options.add("--skip-unknown", "", config.skip_unknown,
              "leave out of PROMPT what was not in the training text");
  options.add("--tokens-out", "N", config.tokens_out, "how many tokens to write", {0, many});
  options.also_known_as("--length --max-length --max-tokens --max-new-tokens");
  options.add("-n, --samples", "N", config.samples,
              "how many texts; a line such as \"--- 2 of 3\" stands above each", {1, many});
  options.also_known_as("--num-samples --num-return-sequences");
  options.add("-0, --null", "", config.null,
              "a NUL byte after each text instead of the line above it, for xargs -0");
  options.add("--stop", "TEXT", config.stop, "end a text before the first TEXT in it");
  options.is_text();

  options.group("Choice");
  options.add("--temperature", "X", config.choice.temperature,
              "0: always the likeliest token; 1: the probabilities that the model learned; above "
              "1: unlikely tokens come more often",
              {0, 1000});
  options.also_known_as("--temp");
  options.add("--top-k", "N", config.choice.top_k,
              "choose among the N likeliest tokens only; 0: among all", {0, many});
  options.add("--top-p", "X", config.choice.top_p,
              "choose among the likeliest tokens only: as few as have probability X together",
              {1e-9, 1});
  options.add("--seed", "N", seed,
              "the same seed gives the same text; without it a random seed is used and printed");

  options.group("Inside");
  options.add("--attention", "", config.attention,
              "which tokens each head of attention looked at in the last step: all heads as "
              "small pictures, with what each head does");
  options.add("--layer", "N", config.heads.layer,
              "show only this layer of --attention, counted from 0", {0, many});
  options.add("--head", "N", config.heads.head,
              "show only this head of each layer, counted from 0; a head alone is shown large",
              {0, many});
  options.add("--probs", "", config.probs,
              "for each token the five likeliest, with their probabilities at the temperature in "
              "use, and the one that was drawn");
  options.add("--why", "WORD", config.why,
              "how the probability of the first WORD that was drawn changes when one token before "
              "it is hidden, and where each head looked; at temperature 1. Hidden means: masked "
              "in every layer for all later tokens");

  options.group("Output");
  options.add("--json", "", config.json,
              "one JSON object a text, with what --attention, --probs and --why found");
  options.add("--csv", "", config.csv,
              "what --attention, --probs or --why found, as a table with commas");
  options.add("--svg", "FILE", config.svg,
              "draw --attention into this file, too; one head with arcs and a map");
  options.add("--raw", "", config.raw, "write control characters as they are, also to a terminal");
  add_text_form(options, config.form);
  options.threads();
  options.exit_statuses("0 done, 1 failed, 2 wrong usage, 3 unusable input");
  options.parse(argc, argv);
  config.folder = options.arguments()[0];
  if (options.arguments().size() > 1) config.prompt = options.arguments()[1];
  config.is_numbered = options.given().contains("--samples");
  require_one_form(config, options.given());
  if (!config.svg.empty()) support::require_picture_place(config.svg);
  config.is_random_seed = !seed;
  config.seed = seed ? *seed : std::random_device()() % 1'000'000;
  return config;
}

}  // namespace fledge
