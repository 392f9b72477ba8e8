#include "nn/text/batches.h"

#include <algorithm>
#include <utility>

#include "engine/base/errors.h"

namespace fledge {

namespace {

TextWindow document(const TokenText& text, Dim d) {
  const auto at = static_cast<std::size_t>(d);
  return {text.starts[at], static_cast<Dim>(text.starts[at + 1] - text.starts[at])};
}

void append_windows(std::vector<TextWindow>& windows, TextWindow whole, Dim context, Dim history) {
  for (Dim at = 0; at < whole.length; at += windows.back().counted()) {
    const Dim skip = std::min(at, history), begin = at - skip;
    windows.push_back({whole.begin + static_cast<std::size_t>(begin),
                       std::min(context, whole.length - begin), skip});
  }
}

}  // namespace

Dim permutation_element(Dim i, Dim n, const Rng& order) {
  require<ValueError>(i >= 0 && i < n, "permutation_element", "place ", i, " of ", n);
  std::uint64_t half_bits = 1;
  while (half_bits < 31 && (n - 1) >> (2 * half_bits) > 0) ++half_bits;
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  auto x = static_cast<std::uint64_t>(i);
  do {
    std::uint64_t left = x >> half_bits, right = x & mask;
    for (std::uint64_t round = 1; round <= 6; ++round) {
      const std::uint64_t mixed = order.stream(round << 32 | right).bits() & mask;
      left = std::exchange(right, left ^ mixed);
    }
    x = left << half_bits | right;
  } while (x >= static_cast<std::uint64_t>(n));
  return static_cast<Dim>(x);
}

std::vector<TextWindow> sample_windows(const TokenText& text, Dim batch, Dim context,
                                       std::int64_t step, const Rng& data) {
  require<ValueError>(context >= 1, "batches", "the context must be at least 1: got ", context);
  require<ValueError>(batch >= 1, "batches", "a batch must have at least 1 row: got ", batch);
  require<ValueError>(step >= 0, "batches", "steps are counted from 0: got ", step);
  std::vector<TextWindow> windows;
  if (text.starts.empty()) {
    require<ValueError>(text.size() > context, "batches", "a context of ", context, " needs ",
                        context + 1, " tokens: the text has ", text.size(),
                        "; a smaller context or a longer text");
    Rng rng = data.stream(static_cast<std::uint64_t>(step));
    for (Dim row = 0; row < batch; ++row)
      windows.push_back({static_cast<std::size_t>(rng.below(text.size() - context)), context});
    return windows;
  }
  const Dim n = text.documents();
  require<ValueError>(n > 0, "batches", "the text has no documents");
  for (Dim row = 0; row < batch; ++row) {
    const Dim drawn = step * batch + row, place = drawn % n;
    const Rng epoch = data.stream(static_cast<std::uint64_t>(drawn / n));
    TextWindow window = document(text, permutation_element(place, n, epoch));
    if (window.length > context) {
      Rng rng = epoch.stream(static_cast<std::uint64_t>(place));
      window.begin += static_cast<std::size_t>(rng.below(window.length - context + 1));
      window.length = context;
    }
    windows.push_back(window);
  }
  return windows;
}

double mean_window(const TokenText& text, Dim context) {
  if (text.documents() == 0) return static_cast<double>(context);
  Dim sum = 0;
  for (Dim d = 0; d < text.documents(); ++d) sum += std::min(document(text, d).length, context);
  return static_cast<double>(sum) / static_cast<double>(text.documents());
}

std::vector<TextWindow> evaluation_windows(const TokenText& text, Dim context, Dim history) {
  require<ValueError>(history >= 0 && history < context, "batches",
                      "the history must be below the context of ", context, ": got ", history);
  std::vector<TextWindow> windows;
  if (text.starts.empty()) append_windows(windows, {0, text.size() - 1}, context, history);
  for (Dim d = 0; d < text.documents(); ++d)
    append_windows(windows, document(text, d), context, history);
  return windows;
}

Batch batch_of(const TokenText& text, std::span<const TextWindow> windows) {
  require<ValueError>(!windows.empty(), "batches", "a batch of no windows");
  std::vector<Dim> inputs, targets, lengths;
  for (const auto& [begin, length, skip] : windows) {
    const auto from = text.tokens.begin() + static_cast<std::ptrdiff_t>(begin);
    inputs.insert(inputs.end(), from, from + length);
    targets.insert(targets.end(), static_cast<std::size_t>(skip), no_target);
    targets.insert(targets.end(), from + skip + 1, from + length + 1);
    lengths.push_back(length);
  }
  const auto [least, most] = std::minmax_element(lengths.begin(), lengths.end());
  const bool one_length = *least == *most;
  const Shape shape = one_length ? Shape{std::ssize(windows), *most} : Shape{std::ssize(inputs)};
  if (one_length) lengths.clear();
  return {Indices(shape, inputs), Indices(shape, targets), std::move(lengths)};
}

}  // namespace fledge
