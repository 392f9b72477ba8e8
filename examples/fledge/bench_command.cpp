// fledge bench: each piece of work, as a program of a user would call it, runs many times, in turn
// with what limits it. Machines change their speed within seconds, so a row is compared with its
// limit in the same seconds: the best times with each other, and the medians.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <vector>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/simd.h"
#include "engine/ops.h"
#include "examples/fledge/commands.h"
#include "examples/fledge/timing.h"
#include "examples/support/options.h"
#include "examples/support/run_main.h"
#include "examples/support/text.h"
#include "nn/generate/sampler.h"
#include "nn/optim/adamw.h"
#include "nn/train/step_cost.h"

namespace fledge {

namespace {

using bench::Times, bench::Timer;
using kernels::lanes, kernels::Vec;
using support::formatted;

// A run of the multiply-adds takes 0.2 ms. With sixteen tasks a thread, the other threads take over
// those of a thread that is slow for a while, as they do in a product.
constexpr Dim tasks_per_thread = 16, rounds = 5'000;
// Independent sums: a multiply-add takes four or five cycles, and two start in each. With fourteen,
// a core of 2.8 GHz with vectors of 16 numbers reaches 178.5 GFLOP/s, with eight 175.7.
constexpr int chains = 14;

// Multiply-adds on registers alone. The result is returned so that the compiler does not remove
// them.
float multiply_add(float seed) {
  Vec sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = kernels::splat(seed + static_cast<float>(i));
  const Vec a = kernels::splat(0.999f), b = kernels::splat(0.001f);
  for (Dim round = 0; round < rounds; ++round)
    for (Vec& sum : sums) sum = sum * a + b;
  Vec total = sums[0];
  for (int i = 1; i < chains; ++i) total += sums[i];
  return kernels::sum_of(total);
}

// The sum of `size` numbers. Four streams side by side read 8 % faster than one: the processor
// fetches ahead in each.
float sum_of_numbers(const float* x, Dim size) {
  constexpr Dim streams = 4, vectors = 4;
  const Dim part = size / (streams * vectors * lanes) * vectors * lanes;  // of a stream
  Vec sums[streams][vectors] = {};
  for (Dim i = 0; i < part; i += vectors * lanes)
    for (Dim v = 0; v < vectors; ++v)
      for (Dim s = 0; s < streams; ++s) sums[s][v] += kernels::load(x + s * part + i + v * lanes);
  Vec total = kernels::splat(0);
  for (const auto& stream : sums)
    for (const Vec& sum : stream) total += sum;
  float sum = kernels::sum_of(total);
  for (Dim i = streams * part; i < size; ++i) sum += x[i];
  return sum;
}

// What limits this machine: multiply-adds, the traffic of memory, and reading it. A row of the
// table is compared with work on the same threads that takes as little time as this machine allows.

struct Limit {
  std::string name;           // for the table
  std::function<void()> run;  // all threads
  double runs = 1;            // as many take the least time that one run of the row can take
};

/// Multiply-adds on registers, two operations each, as many as the row has operations.
Limit multiply_adds(double flops) {
  const Dim tasks = threads() * tasks_per_thread;
  const auto run = [tasks] {
    Array sums({tasks});
    float* const to = sums.write();
    kernels::parallel_for(tasks, kernels::blocking.serial_work,
                          [&](Dim i) { to[i] = multiply_add(static_cast<float>(i)); });
  };
  return {"multiply-adds", run,
          flops / (2.0 * static_cast<double>(tasks * rounds * chains * lanes))};
}

/// An op that computes almost nothing, forward and backward, on new arrays as the row's: y = x + 1,
/// then dx = dy + y. Caches help it as they help the row.
Limit memory(const Array& x, const Array& dy) {
  return {"memory", [x, dy] {
            const Array y = map(x, [](float number) { return number + 1; });
            const Array dx = dy + y;
          }};
}

/// Bytes that reading() reads: of the table of positions one row.
double bytes_of_token(const LanguageModel& model) {
  const Dim other_positions = (model.sizes.context - 1) * model.sizes.width;
  return static_cast<double>(count_parameters(model) - other_positions) * sizeof(float);
}

/// Reads every weight that a token needs, where it lies, in pieces of at most 2 MB: all but the
/// table of positions, and of that one row.
Limit reading(const LanguageModel& model) {
  constexpr Dim most = Dim{1} << 19;
  std::vector<std::pair<const float*, Dim>> pieces;
  const float* const positions = model.wpe.weight.value().data();
  for (const Tensor& weight : parameters(model)) {
    const float* const numbers = weight.value().data();
    const Dim size = numbers == positions ? model.sizes.width : weight.size();
    for (Dim i = 0; i < size; i += most) pieces.emplace_back(numbers + i, std::min(most, size - i));
  }
  const Dim work = static_cast<Dim>(bytes_of_token(model)) / Dim{sizeof(float)};
  return {"reading", [model, pieces, work] {
            const Dim count = std::ssize(pieces);
            Array sums({count});
            float* const to = sums.write();
            kernels::parallel_for(count, work, [&](Dim i) {
              const auto& [first, size] = pieces[static_cast<std::size_t>(i)];
              to[i] = sum_of_numbers(first, size);
            });
          }};
}

struct Row {
  std::string name{}, sizes{};
  double flops = 0;     // of one run; 0: memory is the limit
  double bytes = 0;     // that one run must move at least
  double tokens = 0;    // that one run reads; 0: no row of generation
  Times time{};         // of one run
  std::string limit{};  // "": none
  Times least{};        // what the limit alone would take
  double peak_mb = 0;   // of the process until here
};

/// The least time as a share of the time. It cannot be more than 1; the noise of two measurements
/// can make it look so by a hair.
double share(double least, double time) { return std::min(1.0, least / time); }

/// The row with the times of both.
Row with_times(Row row, const Limit& limit, const bench::Turns& times) {
  row.time = times.work;
  row.limit = limit.name;
  row.least = {times.limit.best * limit.runs, times.limit.median * limit.runs};
  row.peak_mb = support::peak_megabytes();
  return row;
}

/// The same as the only row of a measurement; `work` is measured here, in turn with the limit.
std::vector<Row> measured(Row row, std::function<void()> work, const Limit& limit,
                          double budget = 0.6, std::int64_t count = 0) {
  return {with_times(std::move(row), limit,
                     bench::in_turn(Timer(std::move(work)), Timer(limit.run), budget, count))};
}

constexpr double least_seconds = 3;  // of all that is measured of generation
constexpr Dim tokens_a_prompt = 32;  // then the prompt is read again, by a new decoder

/// "4x4x128"
std::string by(std::initializer_list<std::int64_t> sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

/// "4x4x128 context 64 tokens 32 vocab 65"; `with` is what is said beside the model.
std::string sizes_of(const LanguageModelSizes& sizes, const std::string& with = "") {
  return by({sizes.layers, sizes.heads, sizes.width}) + " context " +
         std::to_string(sizes.context) + with + " vocab " + std::to_string(sizes.vocabulary);
}

std::vector<Dim> random_tokens(Dim count, Dim vocab, Rng& rng) {
  std::vector<Dim> tokens(static_cast<std::size_t>(count));
  for (Dim& token : tokens) token = rng.below(vocab);
  return tokens;
}

double as_double(std::int64_t n) { return static_cast<double>(n); }

Tensor drawn(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  return parameter(random_normal(shape, 0, 1, rng));
}

// Forward and backward with a fixed cotangent.
std::function<void()> both_ways(const std::vector<Tensor>& inputs, const Array& dy,
                                const std::function<Tensor()>& f) {
  return [=] {
    for (const Tensor& input : inputs) input.zero_grad();
    backward(f(), dy);
  };
}

/// One step of training a language model: forward, backward, clipping, AdamW. `steps` are measured,
/// after two that warm up; 0: as many as a second holds.
std::vector<Row> step_row(const LanguageModelSizes& sizes, Dim batch, std::int64_t steps) {
  Rng rng(1);
  const LanguageModel model(sizes, rng);
  const std::vector<Tensor> learned = parameters(model);
  AdamW optimizer(learned, {.rate = 1e-3, .beta2 = 0.99, .decay = 0.1});
  const double flops = operations_of_step(sizes, as_double(batch));
  const auto random_ids = [&]() -> Indices {
    return {{batch, sizes.context}, random_tokens(batch * sizes.context, sizes.vocabulary, rng)};
  };
  return measured(
      {.name = "step", .sizes = sizes_of(sizes, " batch " + std::to_string(batch)), .flops = flops},
      [&] {
        const Indices ids = random_ids(), next = random_ids();
        optimizer.zero_grad();
        backward(cross_entropy(model(ids), next));
        clip_gradients(learned, 1);
        optimizer.step();
      },
      multiply_adds(flops), 1.2, steps);
}

/// C (m, n) = A·B. `kind` says how A and B lie in memory: "NN" as they are, "NT" as A and Bᵀ, as in
/// dx = dy·Wᵀ, "TN" as Aᵀ and B, as in dW = xᵀ·dy.
std::vector<Row> gemm_row(Dim m, Dim n, Dim k, const std::string& kind) {
  const bool swap_a = kind[0] == 'T', swap_b = kind[1] == 'T';
  const Array a = drawn(swap_a ? Shape{k, m} : Shape{m, k}, 1).value(),
              b = drawn(swap_b ? Shape{n, k} : Shape{k, n}, 2).value();
  const double flops = 2.0 * as_double(m * n * k);
  return measured(
      {.name = "gemm", .sizes = by({m, n, k}) + (kind == "NN" ? "" : " " + kind), .flops = flops},
      [&] {
        product({a, swap_a}, {b, swap_b});
      },
      multiply_adds(flops));
}

/// Causal attention of q, k and v, forward and backward.
std::vector<Row> attention_row(Dim batch, Dim heads, Dim time, Dim D) {
  const Tensor qkv = drawn({batch, time, 3 * heads * D}, 1);
  const Array dy = drawn({batch, time, heads * D}, 9).value();
  const double squares = as_double(batch * time) * as_double(time);
  const double flops = operations_of_attention(squares, as_double(heads * D));
  return measured({.name = "attention", .sizes = by({batch, heads, time, D}), .flops = flops},
                  both_ways({qkv}, dy, [&] { return attention(qkv, heads, causal()); }),
                  multiply_adds(flops));
}

/// Attention of the queries of one sequence and all keys of another, forward and backward.
std::vector<Row> cross_row(Dim batch, Dim heads, Dim queries, Dim keys, Dim D) {
  const Tensor q = drawn({batch, queries, heads * D}, 1), k = drawn({batch, keys, heads * D}, 2),
               v = drawn({batch, keys, heads * D}, 3);
  const Array dy = drawn({batch, queries, heads * D}, 9).value();
  // Without a mask all pairs count: twice as many as under the causal mask.
  const double pairs = as_double(batch * queries) * as_double(keys);
  const double flops = operations_of_attention(2 * pairs, as_double(heads * D));
  return measured({.name = "cross", .sizes = by({batch, heads, queries, keys, D}), .flops = flops},
                  both_ways({q, k, v}, dy, [&] { return attention(q, k, v, heads, {}); }),
                  multiply_adds(flops));
}

/// softmax, layernorm, gelu or gelu_tanh of rows, forward and backward.
std::vector<Row> op_row(const std::string& name, Dim rows, Dim columns) {
  const Tensor x = drawn({rows, columns}, 1), gain = drawn({columns}, 2),
               bias = drawn({columns}, 3);
  const Array dy = drawn({rows, columns}, 9).value();
  const auto f = [&]() -> Tensor {
    if (name == "softmax") return softmax(x);
    if (name == "layernorm") return layer_norm(x, gain, bias);
    if (name == "gelu") return gelu(x);
    return gelu_tanh(x);
  };
  // At least: x read and y written; dy and what was saved read, dx written.
  const double bytes = 5 * as_double(rows * columns) * sizeof(Real);
  return measured({.name = name, .sizes = by({rows, columns}), .bytes = bytes},
                  both_ways({x, gain, bias}, dy, f), memory(x.value(), dy));
}

/// One recorded op on 3×3 numbers: forward (first), and backward with its graph freed (second).
std::vector<Row> overhead_rows() {
  constexpr int ops = 1000, runs = 200;
  const Tensor x = drawn({3, 3}, 1), one = drawn({3, 3}, 2);
  const Array dy = Array::ones({3, 3});
  Tensor y;
  Timer forward([&] {
    y = x;
    for (int i = 0; i < ops; ++i) y = y + one;
  });
  Timer back([&] {
    backward(y, dy);
    y = Tensor();
  });
  for (int run = 0; run < runs; ++run) {
    forward.run(0);
    back.run(0);
  }
  const auto row = [](const char* name, Times of_all) -> Row {
    return {.name = name,
            .sizes = "3x3",
            .time = {of_all.best / ops, of_all.median / ops},
            .peak_mb = support::peak_megabytes()};
  };
  return {row("overhead forward", forward.times()), row("overhead backward", back.times())};
}

/// A model reads a prompt of 64 tokens, at most half the context (first row), then generates one
/// token at a time (second): one run is one token, drawn and read. `steps` is the number of tokens,
/// 0: as many as three seconds hold. A token needs each weight once, in one multiply-add: reading
/// the weights from memory takes longer than computing with them. So a token is compared with a loop
/// that reads the same weights.
std::vector<Row> generate_rows(const LanguageModelSizes& sizes, std::int64_t steps) {
  Rng rng(1);
  const LanguageModel model(sizes, rng);
  const Dim length = std::min<Dim>(64, sizes.context / 2);
  const Dim most_tokens = std::min(tokens_a_prompt, sizes.context - length);  // of one window
  const std::vector<Dim> words = random_tokens(length, sizes.vocabulary, rng);
  const double flops = operations_of_prompt(sizes, as_double(length));
  const Limit of_prompt = multiply_adds(flops), of_token = reading(model);

  std::optional<Decoder> decoder;
  Array logits;
  Timer prompt([&] { logits = decoder.emplace(model).read(words); });
  Timer token([&] { logits = decoder->read({sample(logits, {}, rng)}); });
  Timer computing(of_prompt.run), weights(of_token.run);
  const auto begin = bench::Clock::now();
  const auto enough = [&] {
    return steps > 0 ? token.runs() >= steps
                     : prompt.timings() >= bench::least_turns &&
                           bench::seconds_since(begin) >= least_seconds;
  };
  while (!enough()) {
    computing.run(prompt.run(0) / 4);
    const Dim left = steps > 0 ? std::min(most_tokens, steps - token.runs()) : most_tokens;
    for (const Dim end = token.runs() + left; token.runs() < end;)
      weights.run(token.run(bench::work_turn, end - token.runs()) / 4);
  }

  return {with_times({.name = "prompt",
                      .sizes = sizes_of(sizes, " tokens " + std::to_string(length)),
                      .flops = flops,
                      .tokens = as_double(length)},
                     of_prompt, {prompt.times(), computing.times()}),
          with_times({.name = "generate",
                      .sizes = sizes_of(sizes),
                      .bytes = bytes_of_token(model),
                      .tokens = 1},
                     of_token, {token.times(), weights.times()})};
}

/// A measurement that is still to be made.
using Work = std::function<std::vector<Row>()>;
using Sizes = std::vector<std::int64_t>;

constexpr std::int64_t largest_size = 1 << 20;  // of one size
constexpr double most_numbers = 1 << 29;        // of all arrays together: 2 GB of floats
const std::vector<std::string> op_names{"softmax", "layernorm", "gelu", "gelu_tanh"};
const std::vector<std::string> gemm_kinds{"NN", "NT", "TN"};

[[noreturn]] void refuse_words(const std::string& problem) {
  support::refuse_usage(
      problem,
      "use: step LAYERS HEADS WIDTH CONTEXT BATCH VOCAB, "
      "generate LAYERS HEADS WIDTH CONTEXT VOCAB, gemm M N K [NN|NT|TN], attention B H T D, "
      "cross B H QUERIES KEYS D, op NAME ROWS COLS, overhead");
}

// The sizes behind the first word, which names what is measured.
Sizes sizes_after(const std::vector<std::string>& words, std::size_t count) {
  if (words.size() != 1 + count)
    refuse_words(support::quoted(words[0]) +
                 (count == 0 ? " takes no sizes" : " needs " + std::to_string(count) + " sizes") +
                 ": got " + std::to_string(words.size() - 1));
  Sizes sizes(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto limits = support::OptionLimits{1, largest_size};
    const std::string rule = support::number_variable(sizes[i], limits).set(words[i + 1]);
    if (!rule.empty())
      refuse_words("a size must be " + rule + ": got " + support::quoted(words[i + 1]));
  }
  return sizes;
}

/// LAYERS HEADS WIDTH CONTEXT, for a step BATCH, and VOCAB.
LanguageModelSizes model_of(const Sizes& n) {
  return {.vocabulary = n.back(), .context = n[3], .layers = n[0], .heads = n[1], .width = n[2]};
}

/// What is said beside the sizes.
struct Beside {
  std::string word{};      // the layout of a product, the name of an op
  std::int64_t steps = 0;  // of --steps
};

/// What is measured at sizes that the command line gives.
struct SizedKind {
  std::string name;
  std::size_t sizes;
  std::function<double(const std::vector<double>& n)> numbers;  // of all arrays
  std::function<std::vector<Row>(const Sizes& n, const Beside& beside)> measure;
};
const std::vector<SizedKind> sized_kinds{
    {"step", 6,
     [](const auto& n) {
       return numbers_of_step(model_of({n.begin(), n.end()}), n[4]);
     },
     [](const Sizes& n, const Beside& beside) {
       return step_row(model_of(n), n[4], beside.steps);
     }},
    {"generate", 5,
     [](const auto& n) {  // more than generation needs
       return numbers_of_step(model_of({n.begin(), n.end()}), 1);
     },
     [](const Sizes& n, const Beside& beside) { return generate_rows(model_of(n), beside.steps); }},
    {"gemm", 3, [](const auto& n) { return n[0] * n[1] + n[0] * n[2] + n[1] * n[2]; },
     [](const Sizes& n, const Beside& beside) { return gemm_row(n[0], n[1], n[2], beside.word); }},
    {"attention", 4, [](const auto& n) { return 11 * n[0] * n[1] * n[2] * n[3]; },
     [](const Sizes& n, const Beside&) { return attention_row(n[0], n[1], n[2], n[3]); }},
    {"cross", 5, [](const auto& n) { return n[0] * n[1] * n[4] * (6 * n[2] + 6 * n[3]); },
     [](const Sizes& n, const Beside&) { return cross_row(n[0], n[1], n[2], n[3], n[4]); }},
    {"op", 2, [](const auto& n) { return 7 * n[0] * n[1]; },
     [](const Sizes& n, const Beside& beside) { return op_row(beside.word, n[0], n[1]); }},
    {"overhead", 0, [](const auto&) { return 0; },
     [](const Sizes&, const Beside&) { return overhead_rows(); }}};

void require_usable_model(const LanguageModelSizes& sizes, bool generates) {
  if (sizes.width % sizes.heads != 0)
    support::refuse_usage(std::to_string(sizes.heads) + " heads do not divide a width of " +
                              std::to_string(sizes.width),
                          "use a width that is a multiple of the heads");
  if (generates && sizes.context < 2)
    support::refuse_usage(
        "a token is generated behind the prompt: a context of 1 has no room for it",
        "use a context of 2 or more");
}

/// What the words name. They are checked before any array is allocated.
Work sized_work(const std::vector<std::string>& words, std::int64_t steps) {
  const std::string& what = words[0];
  const std::string first = words.size() > 1 ? words[1] : "";
  if (what == "op" && !support::is_one_of(first, op_names))
    support::refuse_usage(
        "op needs the name of an op that is measured: got " + support::quoted(first),
        "use softmax, layernorm, gelu or gelu_tanh, then ROWS and COLS");
  if (what == "gemm" && words.size() == 5 && support::is_letter(words[4][0]) &&
      !support::is_one_of(words[4], gemm_kinds))
    refuse_words("the layout of a product is NN, NT or TN: got " + support::quoted(words[4]));
  std::vector<std::string> names;
  for (const auto& [name, count, numbers, measure] : sized_kinds) {
    names.push_back(name);
    if (what != name) continue;
    std::vector<std::string> sizes_alone = words;
    Beside beside{.steps = steps};
    if (what == "op") beside.word = first, sizes_alone.erase(sizes_alone.begin() + 1);
    if (what == "gemm") beside.word = gemm_kinds[0];
    if (what == "gemm" && support::is_one_of(words.back(), gemm_kinds))
      beside.word = words.back(), sizes_alone.pop_back();
    const Sizes n = sizes_after(sizes_alone, count);
    if (what == "step" || what == "generate") require_usable_model(model_of(n), what == "generate");
    if (numbers({n.begin(), n.end()}) > most_numbers)
      support::refuse_usage("sizes like these need more than 2 GB of memory", "use smaller sizes");
    return [n, beside, measure = measure] { return measure(n, beside); };
  }
  const std::string meant = support::closest(what, names);
  const std::string problem = "there is no measurement " + support::quoted(what);
  if (meant.empty()) refuse_words(problem);
  support::refuse_usage(problem, "did you mean '" + meant + "'?");
}

std::vector<Work> everything(std::int64_t steps) {
  std::vector<Work> list;
  for (const char* words :
       {"step 4 4 128 64 12 65", "step 1 4 16 16 1 27", "step 1 4 16 16 16 27",
        "step 6 6 384 256 8 65", "gemm 32 32 32", "gemm 64 64 64", "gemm 128 128 128",
        "gemm 256 256 256", "gemm 512 512 512", "gemm 1024 1024 1024", "gemm 2048 2048 2048",
        // Of the MLP of two steps: y = x·W, dx = dy·Wᵀ, dW = xᵀ·dy.
        "gemm 768 512 128", "gemm 768 128 512 NT", "gemm 128 512 768 TN", "gemm 2048 1536 384",
        "gemm 2048 384 1536 NT", "gemm 384 1536 2048 TN", "attention 1 8 4096 64",
        "cross 1 8 512 4096 64", "op softmax 4096 1024", "op layernorm 4096 1024",
        "op gelu 4096 1024", "op gelu_tanh 4096 1024", "overhead"})
    list.push_back(sized_work(support::split(words, ' '), steps));
  return list;
}

constexpr int table_columns = 80;
constexpr std::size_t name_width = 21;

/// Three digits and the unit: "1.23 us".
std::string time_text(double seconds) {
  const char* const units[] = {"ns", "us", "ms", "s"};
  double value = seconds * 1e9;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit < 3; ++unit) value /= 1000;
  const int places = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return formatted("%.*f", places, value) + " " + units[unit];
}

void print_now(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

/// 10⁹ operations, or bytes, a second: of one run that took `seconds`.
double rate(const Row& row, double seconds) {
  return (row.flops > 0 ? row.flops : row.bytes) / seconds * 1e-9;
}

/// Below the title: columns have fixed widths, because a line is printed before the next row is
/// known. A wide name has a line of its own.
std::string row_line(const Row& row) {
  const std::string name = row.name + " " + row.sizes;
  const bool is_wide = name.size() > name_width;
  std::string text =
      formatted("%-21s  %7s  %7s", is_wide ? "" : name.c_str(), time_text(row.time.best).c_str(),
                time_text(row.time.median).c_str());
  if (!row.limit.empty()) {
    const char* const unit = row.flops > 0 ? "%9.1f" : "%4.1f GB/s";
    text += "  " + formatted(unit, rate(row, row.time.best)) +
            formatted("  %3.0f %%  %4.0f %%  ", 100 * share(row.least.best, row.time.best),
                      100 * share(row.least.median, row.time.median)) +
            row.limit;
  }
  return (is_wide ? name + "\n" : "") + text + "\n";
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
    add("best_share", share(row.least.best, row.time.best));
    add("median_share", share(row.least.median, row.time.median));
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
  print_now(
      paint.bold("                                   time       best          share  of\n"
                 "what                      best   median    GFLOP/s   best  median  the limit\n"));
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
  if (has_step) print_now("step: layers x heads x width; wall time of a step\n");
}

}  // namespace

int bench_command(int argc, char** argv) {
  std::int64_t steps = 0;
  bool json = false;
  support::Options options("fledge bench",
                           "Measures how fast this machine trains, beside its limits.");
  options.arguments("WHAT", 0, 7);
  options.threads();
  options.add("--steps", "N", steps,
              "steps or tokens to measure; 0: about 1 s of steps, 3 s of tokens", {0, 1e6});
  options.add("--json", "", json, "one array of objects on stdout instead of the table");
  options.example("fledge bench", "a table of all");
  options.example("fledge bench step 6 6 384 256 8 65",
                  "a training step: layers, heads, width, context, batch, vocabulary");
  options.example("fledge bench generate 12 12 768 1024 50257",
                  "tokens a second, beside the speed of memory; no batch");
  options.example("fledge bench gemm 512 512 512",
                  "one matrix product: rows, columns, terms of a sum");
  options.example("fledge bench gemm 768 128 512 NT", "NT: B is transposed; TN: A is");
  options.example("fledge bench attention 1 8 4096 64", "batch, heads, tokens, width of a head");
  options.example("fledge bench cross 1 8 512 4096 64", "batch, heads, queries, keys, width");
  options.example("fledge bench op softmax 4096 1024", "or layernorm, gelu, gelu_tanh");
  options.example("fledge bench overhead", "nanoseconds per recorded op");
  options.parse(argc, argv);
  const std::vector<std::string>& words = options.arguments();
  if (options.given().contains("--steps") && !words.empty() && words[0] != "step" &&
      words[0] != "generate")
    support::refuse_usage("--steps says nothing about " + support::quoted(words[0]),
                          "leave it out, or measure a step");
  const auto list = words.empty() ? everything(steps) : std::vector{sized_work(words, steps)};
  if (!json) {
    print_table(list);
    return 0;
  }
  std::vector<Json> objects;
  for (const Work& work : list)
    for (const Row& row : work()) objects.push_back(row_json(row));
  std::printf("%s\n", Json(objects).indented().c_str());
  return 0;
}

}  // namespace fledge
