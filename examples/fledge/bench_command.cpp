#include "examples/fledge/commands.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <functional>
#include <iterator>
#include <sstream>
#include <vector>

#include "examples/fledge/bench/bench.h"
#include "examples/fledge/step_cost.h"
#include "examples/support/options.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

namespace fledge {

namespace {

using bench::Row, bench::best_share, bench::median_share;
using support::formatted, support::pad_left, support::pad_right;
/// A measurement that is still to be made.
using Work = std::function<std::vector<Row>()>;
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

// The sizes behind the first word, which names what is measured.
Sizes sizes_of(const std::vector<std::string>& words, std::size_t count) {
  if (words.size() != 1 + count)
    support::refuse_usage(
        support::quoted(words[0]) +
            (count == 0 ? " takes no sizes" : " needs " + std::to_string(count) + " sizes") +
            ": got " + std::to_string(words.size() - 1),
        std::string("use: ") + kinds);
  Sizes sizes;
  for (std::size_t i = 1; i < words.size(); ++i) {
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

bool is_one_of(const std::vector<std::string>& known, const std::string& word) {
  return std::find(known.begin(), known.end(), word) != known.end();
}

/// What is measured at sizes that the command line gives.
struct SizedKind {
  std::string name;
  std::size_t sizes;
  std::function<double(const std::vector<double>& n)> numbers;  // of all arrays
  std::function<Row(const Sizes& n, const std::string& word)> measure;
};
std::vector<SizedKind> sized_kinds() {
  return {
      {"gemm", 3, [](const auto& n) { return n[0] * n[1] + n[0] * n[2] + n[1] * n[2]; },
       [](const Sizes& n, const std::string& kind) {
         return bench::gemm(n[0], n[1], n[2], kind.empty() ? "NN" : kind);
       }},
      {"attention", 4, [](const auto& n) { return 11 * n[0] * n[1] * n[2] * n[3]; },
       [](const Sizes& n, const std::string&) { return bench::attention(n[0], n[1], n[2], n[3]); }},
      {"cross", 5, [](const auto& n) { return n[0] * n[1] * n[4] * (6 * n[2] + 6 * n[3]); },
       [](const Sizes& n, const std::string&) {
         return bench::cross_attention(n[0], n[1], n[2], n[3], n[4]);
       }},
      {"op", 2, [](const auto& n) { return 7 * n[0] * n[1]; },
       [](const Sizes& n, const std::string& name) { return bench::op(name, n[0], n[1]); }}};
}

/// What the words name, all but steps and generation.
Work sized_work(const std::vector<std::string>& words) {
  const std::string& what = words[0];
  const std::string first = words.size() > 1 ? words[1] : "";
  if (what == "overhead") {
    sizes_of(words, 0);
    return bench::overhead;
  }
  if (what == "op" && !is_one_of(op_names, first))
    support::refuse_usage(
        "op needs the name of an op that is measured: got " + support::quoted(first),
        "use softmax, layernorm, gelu or gelu_tanh, then ROWS and COLS");
  if (what == "gemm" && words.size() == 5 && support::is_letter(words[4][0]) &&
      !is_one_of(gemm_kinds, words[4]))
    support::refuse_usage(
        "the layout of a product is NN, NT or TN: got " + support::quoted(words[4]),
        std::string("use: ") + kinds);
  for (const auto& [name, count, numbers, measure] : sized_kinds()) {
    if (what != name) continue;
    std::vector<std::string> sizes_alone = words;
    std::string word;  // beside the sizes
    if (what == "op") word = first, sizes_alone.erase(sizes_alone.begin() + 1);
    if (what == "gemm" && is_one_of(gemm_kinds, words.back()))
      word = words.back(), sizes_alone.pop_back();
    const Sizes n = sizes_of(sizes_alone, count);
    require_memory(numbers({n.begin(), n.end()}));
    return [n, word, measure = measure] { return std::vector{measure(n, word)}; };
  }
  const std::string meant = support::closest(what, kind_names);
  support::refuse_usage(
      "there is no measurement " + support::quoted(what),
      meant.empty() ? std::string("use: ") + kinds : "did you mean '" + meant + "'?");
}

std::vector<Work> everything(const bench::StepSizes& sizes) {
  std::vector<Work> list;
  for (const bench::StepSizes& of_step : {sizes,
                                          {1, 4, 16, 16, 1, 27, sizes.bias, sizes.steps},
                                          {1, 4, 16, 16, 16, 27, sizes.bias, sizes.steps},
                                          {6, 6, 384, 256, 8, 65, sizes.bias, sizes.steps}})
    list.emplace_back([=] { return std::vector{bench::step(of_step)}; });
  for (const char* words :
       {"gemm 32 32 32", "gemm 64 64 64", "gemm 128 128 128", "gemm 256 256 256",
        "gemm 512 512 512", "gemm 1024 1024 1024", "gemm 2048 2048 2048",
        // Of the MLP of two steps: y = x·W, dx = dy·Wᵀ, dW = xᵀ·dy.
        "gemm 768 512 128", "gemm 768 128 512 NT", "gemm 128 512 768 TN", "gemm 2048 1536 384",
        "gemm 2048 384 1536 NT", "gemm 384 1536 2048 TN", "attention 1 8 4096 64",
        "cross 1 8 512 4096 64", "op softmax 4096 1024", "op layernorm 4096 1024",
        "op gelu 4096 1024", "op gelu_tanh 4096 1024", "overhead"}) {
    std::istringstream stream{words};
    list.push_back(sized_work({std::istream_iterator<std::string>(stream), {}}));
  }
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
  if (what != "step" && what != "generate") {
    refuse({"--layers", "--heads", "--width", "--context", "--vocab", "--no-bias", "--steps"},
           "a step");
    return {sized_work(words)};
  }
  if (!words.empty()) sizes_of(words, 0);
  if (what == "step")
    require_step_sizes(sizes);
  else
    require_generate_sizes(sizes);
  if (words.empty()) return everything(sizes);
  if (what == "generate") return {[=] { return bench::generate(sizes); }};
  return {[=] { return std::vector{bench::step(sizes)}; }};
}

constexpr int table_columns = 80, name_width = 21;

/// Three digits and the unit: "1.23 us".
std::string time_text(double seconds) {
  const char* const units[] = {"ns", "us", "ms", "s"};
  double value = seconds * 1e9;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit < 3; ++unit) value /= 1000;
  const int places = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return formatted("%.*f", places, value) + " " + units[unit];
}

/// Columns of fixed width: a line is printed before the next row is known. A wide name has a line
/// of its own.
std::string row_of_cells(const std::string& name, const std::array<std::string, 6>& columns) {
  constexpr int widths[] = {7, 7, 9, 5, 6};
  const bool is_wide = support::display_width(name) > name_width;
  std::string text = is_wide ? name + "\n" : "";
  text += pad_right(is_wide ? "" : name, name_width);
  for (std::size_t i = 0; i < 5; ++i) text += "  " + pad_left(columns[i], widths[i]);
  text += "  " + columns[5];
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

void print_now(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

/// 10⁹ operations, or bytes, a second: of one run that took `seconds`.
double rate(const Row& row, double seconds) {
  return (row.flops > 0 ? row.flops : row.bytes) / seconds * 1e-9;
}

std::string row_line(const Row& row) {
  const bool has_limit = !row.limit.empty();
  const auto percent = [&](double share) {
    return has_limit ? formatted("%.0f %%", 100 * share) : "";
  };
  const std::string best_rate =
      formatted(row.flops > 0 ? "%.1f" : "%.1f GB/s", rate(row, row.time.best));
  return row_of_cells(
      row.name + " " + (row.short_sizes.empty() ? row.sizes : row.short_sizes),
      {time_text(row.time.best), time_text(row.time.median), has_limit ? best_rate : "",
       percent(best_share(row)), percent(median_share(row)), row.limit});
}

/// What a row with tokens says beside its time; "" for other rows.
std::string tokens_text(const Row& row) {
  if (row.tokens == 0) return "";
  std::string text = row.name + ": " +
                     formatted("%.1f tokens/s, at best %.1f.", row.tokens / row.time.median,
                               row.tokens / row.time.best);
  if (row.bytes > 0)
    text += formatted(
        " A token reads %.1f MB of weights. A loop that only reads them takes %s, at "
        "best %s.",
        row.bytes * 1e-6, time_text(row.least.median).c_str(), time_text(row.least.best).c_str());
  return support::wrapped(text, table_columns) + "\n";
}

Json row_json(const Row& row) {
  Json::Members members{{"name", row.name},
                        {"sizes", row.sizes},
                        {"best_us", row.time.best * 1e6},
                        {"median_us", row.time.median * 1e6},
                        {"threads", threads()},
                        {"peak_mb", row.peak_mb}};
  const auto add = [&](const char* name, const Json& value) { members.emplace_back(name, value); };
  if (!row.limit.empty()) {
    add("limit", row.limit);
    add("limit_best_us", row.least.best * 1e6);
    add("limit_median_us", row.least.median * 1e6);
    add("best_share", best_share(row));
    add("median_share", median_share(row));
    const bool computes = row.flops > 0;
    add(computes ? "best_gflops" : "best_gigabytes", rate(row, row.time.best));
    add(computes ? "limit_best_gflops" : "limit_best_gigabytes", rate(row, row.least.best));
  }
  if (row.tokens > 0) {
    add("best_tokens_per_second", row.tokens / row.time.best);
    add("median_tokens_per_second", row.tokens / row.time.median);
  }
  return Json::object(members);
}

/// A table of at most 80 columns on stdout. Rows are measured one after the other, and each is printed as
/// soon as it is known.
void print_table(const std::vector<Work>& list) {
  const support::Paint paint{support::colour_wanted(stdout)};
  print_now(paint.bold(
      row_of_cells("", {"", "time", "best", "", "share", "of"}) +
      row_of_cells("what", {"best", "median", "GFLOP/s", "best", "median", "the limit"})));
  double peak_mb = 0, gflops = 0;
  bool has_step = false;
  std::string below;
  for (const Work& work : list)
    for (const Row& row : work()) {
      print_now(row_line(row));
      below += tokens_text(row);
      peak_mb = row.peak_mb;
      if (row.flops > 0) gflops = std::max(gflops, rate(row, row.least.best));
      has_step = has_step || row.name == "step";
      if (std::ferror(stdout)) return;  // the output is closed: the rest is not measured
    }
  std::string summary = formatted("%d thread%s; ", threads(), threads() == 1 ? "" : "s");
  if (gflops > 0) summary += formatted("at best %.0f GFLOP/s of multiply-adds; ", gflops);
  print_now("\n" + below +
            support::wrapped(summary + formatted("peak %.0f MB", peak_mb), table_columns) + "\n");
  if (has_step)
    print_now("step: layers x heads x width, batch x context, vocabulary; wall time of a step\n");
}

/// One array of objects, when all rows are measured.
void print_json(const std::vector<Work>& list) {
  std::vector<Json> objects;
  for (const Work& work : list)
    for (const Row& row : work()) objects.push_back(row_json(row));
  std::printf("%s\n", Json(objects).indented().c_str());
}

}  // namespace

int bench_command(int argc, char** argv) {
  Settings settings;
  support::Options options = bench_options(settings);
  options.parse(argc, argv);
  const std::vector<Work> list = work_of(options, settings.sizes);
  if (settings.json)
    print_json(list);
  else
    print_table(list);
  return 0;
}

}  // namespace fledge
