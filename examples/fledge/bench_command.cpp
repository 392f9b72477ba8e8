#include "examples/fledge/commands.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "examples/fledge/bench/print.h"
#include "examples/fledge/step_cost.h"
#include "examples/support/options.h"
#include "examples/support/text.h"

namespace fledge {

namespace {

using bench::Row;
using bench::Work;
using Sizes = std::vector<std::int64_t>;

constexpr std::int64_t largest_size = 1 << 16;  // of one size
constexpr double most_numbers = 1 << 29;        // of all arrays together: 2 GB of floats
const std::vector<std::string> op_names{"softmax", "layernorm", "gelu", "gelu_tanh"};
const std::vector<std::string> kind_names{"step",  "generate", "gemm",    "attention",
                                          "cross", "op",       "overhead"};
const std::vector<std::string> gemm_kinds{"NN", "NT", "TN"};
constexpr const char* kinds =
    "step, generate, gemm M N K [NN|NT|TN], attention B H T D, cross B H QUERIES KEYS D, "
    "op NAME ROWS COLS, overhead";

struct Settings {
  bench::StepSizes sizes;
  bool json = false;
};

// The table of options, which set these settings.
support::Options bench_options(Settings& settings) {
  bench::StepSizes& sizes = settings.sizes;
  support::Options options("fledge bench",
                           "Measures how fast this machine trains, beside its limits.");
  options.arguments("WHAT", 0, 6);
  options.add("--layers", "N", sizes.layers, "of the model that is measured", {1, 1000});
  options.add("--heads", "N", sizes.heads, "of each layer; they divide the width", {1, 1000});
  options.add("--width", "N", sizes.width, "numbers per token (embedding size)", {1, 16384});
  options.add("--context", "N", sizes.context, "tokens a sequence", {1, largest_size});
  options.add("--batch", "N", sizes.batch, "sequences a step", {1, largest_size});
  options.add("--vocab", "N", sizes.vocab, "different tokens", {1, 1e6});
  options.add("--no-bias", "", sizes.bias, "linear layers without bias");
  options.threads();
  options.add("--steps", "N", sizes.steps,
              "steps or tokens to measure; 0: about 1 s of steps, 3 s of tokens", {0, 1e6});
  options.add("--prompt", "N", sizes.prompt,
              "tokens of the prompt; 0: 64, at most half the context", {0, largest_size});
  options.add("--json", "", settings.json, "one array of objects on stdout instead of the table");
  options.example("fledge bench", "a table of all");
  options.example("fledge bench step --layers 6", "one step of training");
  options.example("fledge bench generate --layers 12 --heads 12 --width 768",
                  "tokens a second, beside the speed of memory");
  options.example("fledge bench gemm 512 512 512",
                  "one matrix product: rows, columns, terms of a sum");
  options.example("fledge bench gemm 768 128 512 NT", "NT: B is transposed; TN: A is");
  options.example("fledge bench attention 1 8 4096 64", "batch, heads, tokens, width of a head");
  options.example("fledge bench cross 1 8 512 4096 64", "batch, heads, queries, keys, width");
  options.example("fledge bench op softmax 4096 1024", "or layernorm, gelu, gelu_tanh");
  options.example("fledge bench overhead", "nanoseconds per recorded op");
  return options;
}

// The sizes behind the first words, which name what is measured.
Sizes sizes_of(const std::vector<std::string>& words, std::size_t first, std::size_t count) {
  if (words.size() != first + count)
    support::refuse_usage(
        support::quoted(words[0]) +
            (count == 0 ? " takes no sizes" : " needs " + std::to_string(count) + " sizes") +
            ": got " + std::to_string(words.size() - first),
        std::string("use: ") + kinds);
  Sizes sizes;
  for (std::size_t i = first; i < words.size(); ++i) {
    const char* const end = words[i].data() + words[i].size();
    const bool is_number = std::from_chars(words[i].data(), end, sizes.emplace_back()).ptr == end;
    if (!is_number || sizes.back() < 1 || sizes.back() > largest_size)
      support::refuse_usage("a size must be a whole number from 1 to " +
                                std::to_string(largest_size) + ": got " + support::quoted(words[i]),
                            std::string("use: ") + kinds);
  }
  return sizes;
}

void require_memory(double numbers) {
  if (numbers > most_numbers)
    support::refuse_usage("sizes like these need more than 2 GB of memory", "use smaller sizes");
}

void require_heads_of_width(const bench::StepSizes& sizes) {
  if (sizes.width % sizes.heads != 0)
    support::refuse_usage(std::to_string(sizes.heads) + " heads do not divide a width of " +
                              std::to_string(sizes.width),
                          "use a width that is a multiple of the heads");
}

double as_double(std::int64_t n) { return static_cast<double>(n); }

void require_step_sizes(const bench::StepSizes& sizes) {
  require_heads_of_width(sizes);
  require_memory(numbers_of_step(as_double(sizes.layers), as_double(sizes.width),
                                 as_double(sizes.context), as_double(sizes.batch),
                                 as_double(sizes.vocab)));
}

void require_generate_sizes(const bench::StepSizes& sizes) {
  require_heads_of_width(sizes);
  const std::int64_t least = std::max<std::int64_t>(1, sizes.prompt) + 1;
  if (sizes.context < least)
    support::refuse_usage("a token is generated behind the prompt: a context of " +
                              std::to_string(sizes.context) + " has no room for it",
                          "use a context of " + std::to_string(least) + " or more");
  require_memory(numbers_of_generation(as_double(sizes.layers), as_double(sizes.width),
                                       as_double(sizes.context), as_double(sizes.vocab)));
}

std::vector<Work> everything(const bench::StepSizes& sizes) {
  std::vector<Work> list;
  const auto add = [&](auto measure) {
    list.push_back([measure] { return std::vector<Row>{measure()}; });
  };
  const bool bias = sizes.bias;
  const std::int64_t steps = sizes.steps;
  add([=] { return bench::step(sizes); });
  for (const std::int64_t batch : {1, 16})
    add([=] { return bench::step({1, 4, 16, 16, batch, 27, bias, steps}); });
  add([=] { return bench::step({6, 6, 384, 256, 8, 65, bias, steps}); });
  for (const std::int64_t n : {32, 64, 128, 256, 512, 1024, 2048})
    add([=] { return bench::gemm(n, n, n); });
  // Of the MLP of both steps: y = x·W, dx = dy·Wᵀ, dW = xᵀ·dy.
  const auto add_products = [&](std::int64_t rows, std::int64_t wide, std::int64_t width) {
    add([=] { return bench::gemm(rows, wide, width); });
    add([=] { return bench::gemm(rows, width, wide, "NT"); });
    add([=] { return bench::gemm(width, wide, rows, "TN"); });
  };
  add_products(768, 512, 128);
  add_products(2048, 1536, 384);
  add([] { return bench::attention(1, 8, 4096, 64); });
  add([] { return bench::cross_attention(1, 8, 512, 4096, 64); });
  for (const std::string& name : op_names) add([=] { return bench::op(name, 4096, 1024); });
  list.emplace_back(bench::overhead);
  return list;
}

// What the arguments name. They are checked before any array is allocated.
std::vector<Work> work_of(const support::Options& options, const bench::StepSizes& sizes) {
  const std::vector<std::string>& words = options.arguments();
  const std::string what = words.empty() ? "step" : words[0];
  const auto refuse = [&](std::initializer_list<const char*> names, const char* instead) {
    for (const char* option : names)
      if (options.given().contains(option))
        support::refuse_usage(std::string(option) + " says nothing about " + support::quoted(what),
                              std::string("leave it out, or measure ") + instead);
  };
  if (what != "generate") refuse({"--prompt"}, "generation");
  if (what != "step") refuse({"--batch"}, "a step");
  if (what != "step" && what != "generate")
    refuse({"--layers", "--heads", "--width", "--context", "--vocab", "--no-bias", "--steps"},
           "a step");
  if (what == "step") {
    if (!words.empty()) sizes_of(words, 1, 0);
    require_step_sizes(sizes);
    if (words.empty()) return everything(sizes);
    return {[=] { return std::vector{bench::step(sizes)}; }};
  }
  if (what == "generate") {
    sizes_of(words, 1, 0);
    require_generate_sizes(sizes);
    return {[=] { return bench::generate(sizes); }};
  }
  if (what == "overhead") {
    sizes_of(words, 1, 0);
    return {bench::overhead};
  }
  const auto size = as_double;
  if (what == "gemm") {
    std::vector<std::string> numbers = words;
    const bool has_kind =
        std::find(gemm_kinds.begin(), gemm_kinds.end(), words.back()) != gemm_kinds.end();
    if (has_kind) numbers.pop_back();
    const std::string kind = has_kind ? words.back() : "NN";
    if (!has_kind && words.size() == 5 && support::is_letter(words[4][0]))
      support::refuse_usage(
          "the layout of a product is NN, NT or TN: got " + support::quoted(words.back()),
          std::string("use: ") + kinds);
    const Sizes n = sizes_of(numbers, 1, 3);
    require_memory(size(n[0]) * size(n[1]) + size(n[0]) * size(n[2]) + size(n[1]) * size(n[2]));
    return {[=] { return std::vector{bench::gemm(n[0], n[1], n[2], kind)}; }};
  }
  if (what == "attention") {
    const Sizes n = sizes_of(words, 1, 4);
    require_memory(11 * size(n[0]) * size(n[1]) * size(n[2]) * size(n[3]));
    return {[=] { return std::vector{bench::attention(n[0], n[1], n[2], n[3])}; }};
  }
  if (what == "cross") {
    const Sizes n = sizes_of(words, 1, 5);
    require_memory(size(n[0]) * size(n[1]) * size(n[4]) * (6 * size(n[2]) + 6 * size(n[3])));
    return {[=] { return std::vector{bench::cross_attention(n[0], n[1], n[2], n[3], n[4])}; }};
  }
  if (what == "op") {
    const std::string name = words.size() > 1 ? words[1] : "";
    if (std::find(op_names.begin(), op_names.end(), name) == op_names.end())
      support::refuse_usage(
          "op needs the name of an op that is measured: got " + support::quoted(name),
          "use softmax, layernorm, gelu or gelu_tanh, then ROWS and COLS");
    const Sizes n = sizes_of(words, 2, 2);
    require_memory(7 * size(n[0]) * size(n[1]));
    return {[=] { return std::vector{bench::op(name, n[0], n[1])}; }};
  }
  const std::string meant = support::closest(what, kind_names);
  support::refuse_usage(
      "there is no measurement " + support::quoted(what),
      meant.empty() ? std::string("use: ") + kinds : "did you mean '" + meant + "'?");
}

}  // namespace

int bench_command(int argc, char** argv) {
  Settings settings;
  support::Options options = bench_options(settings);
  options.parse(argc, argv);
  const std::vector<Work> list = work_of(options, settings.sizes);
  if (settings.json)
    bench::print_json(list);
  else
    bench::print_table(list);
  return 0;
}

}  // namespace fledge
