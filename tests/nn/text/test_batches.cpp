#include "nn/text/batches.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace fledge;
using tests::refuses;

namespace {

Batch sample_batch(const TokenText& text, Dim batch, Dim context, std::int64_t step,
                   const Rng& data) {
  return batch_of(text, sample_windows(text, batch, context, step, data));
}

using Ids = std::vector<Dim>;

Ids ids(const Indices& indices) {
  Ids ids;
  for (Dim i = 0; i < indices.size(); ++i) ids.push_back(indices[i]);
  return ids;
}

TokenText counted_text(Dim size) {
  TokenText text{Ids(static_cast<std::size_t>(size)), {}};
  std::iota(text.tokens.begin(), text.tokens.end(), Dim{0});
  return text;
}

// Document d has the tokens 10·d + 1, 10·d + 2, …; the boundary is 0.
TokenText text_of_documents(const Ids& lengths) {
  TokenText text;
  for (std::size_t d = 0; d < lengths.size(); ++d) {
    text.starts.push_back(text.tokens.size());
    text.tokens.push_back(0);
    for (Dim i = 1; i <= lengths[d]; ++i) text.tokens.push_back(10 * static_cast<Dim>(d) + i);
  }
  text.starts.push_back(text.tokens.size());
  text.tokens.push_back(0);
  return text;
}

std::vector<std::pair<std::size_t, Dim>> plain_windows(const std::vector<TextWindow>& windows) {
  std::vector<std::pair<std::size_t, Dim>> pairs;
  for (const TextWindow& window : windows) pairs.emplace_back(window.begin, window.length);
  return pairs;
}

}  // namespace

TEST_CASE("a window's targets are the tokens behind its inputs; of two lengths they make one row") {
  const std::vector<TextWindow> windows{{2, 3}, {6, 3}};
  const Batch whole = batch_of(counted_text(10), windows);
  CHECK(whole.inputs.shape() == Shape{2, 3});
  CHECK(whole.targets.shape() == Shape{2, 3});
  CHECK(ids(whole.inputs) == Ids{2, 3, 4, 6, 7, 8});
  CHECK(ids(whole.targets) == Ids{3, 4, 5, 7, 8, 9});
  // The boundary goes in, no target comes out.
  const TokenText text = text_of_documents({1, 3});
  const Batch row = batch_of(text, evaluation_windows(text, 8));
  CHECK((row.inputs.shape() == Shape{6} && row.targets.shape() == Shape{6}));
  CHECK(ids(row.inputs) == Ids{0, 1, 0, 11, 12, 13});
  CHECK(ids(row.targets) == Ids{1, 0, 11, 12, 13, 0});
  CHECK((row.lengths == Ids{2, 4} && whole.lengths.empty()));
}

TEST_CASE("evaluation predicts every token once, in order, and never across documents") {
  struct Row {
    TokenText text;
    Dim context;
    std::vector<std::pair<std::size_t, Dim>> windows;
  };
  for (const Row& row : {Row{counted_text(10), 4, {{0, 4}, {4, 4}, {8, 1}}},
                         {counted_text(9), 4, {{0, 4}, {4, 4}}},
                         {counted_text(3), 4, {{0, 2}}},
                         {counted_text(1), 4, {}},
                         {TokenText(), 4, {}},
                         {text_of_documents({1, 6}), 3, {{0, 2}, {2, 3}, {5, 3}, {8, 1}}}})
    CHECK(plain_windows(evaluation_windows(row.text, row.context)) == row.windows);
  for (const Dim context : {1, 2, 3, 7, 100})
    for (const Dim history : {Dim{0}, context / 2, context - 1}) {
      Ids predicted;
      const TokenText text = text_of_documents({1, 9, 2, 5});
      for (const TextWindow& window : evaluation_windows(text, context, history)) {
        const Ids targets = ids(batch_of(text, std::vector{window}).targets);
        CHECK(std::count(targets.begin(), targets.end(), no_target) == window.skip);
        std::copy_if(targets.begin(), targets.end(), std::back_inserter(predicted),
                     [](Dim target) { return target != no_target; });
        // All history that there is, up to `history` tokens, and at most the document's.
        const auto start =
            *std::prev(std::upper_bound(text.starts.begin(), text.starts.end(), window.begin));
        CHECK(window.skip == (window.begin == start ? 0 : history));
      }
      CHECK(predicted == Ids(text.tokens.begin() + 1, text.tokens.end()));
    }
}

TEST_CASE("a stream's windows lie within it, and begin anywhere equally often") {
  const TokenText text = counted_text(12);
  std::map<std::size_t, int> begins;
  for (std::int64_t step = 0; step < 1000; ++step)
    for (const TextWindow& window : sample_windows(text, 8, 4, step, Rng(1))) {
      REQUIRE(window.length == 4);
      ++begins[window.begin];
    }
  CHECK(begins.size() == 8);  // 0 … 7: the last target is token 11
  CHECK(begins.rbegin()->first == 7);
  // 1,000 ± 30 each
  for (const auto& entry : begins) CHECK(std::abs(entry.second - 1000) < 150);
  CHECK(ids(sample_batch(counted_text(5), 2, 4, 9, Rng(1)).targets) == Ids{1, 2, 3, 4, 1, 2, 3, 4});
}

TEST_CASE("a step's batch depends on step and stream alone") {
  for (const TokenText& text : {counted_text(100), text_of_documents({3, 1, 4, 1, 5, 9, 2, 6})}) {
    const Rng data = Rng(7).stream(3);
    std::vector<Ids> first;
    for (std::int64_t step = 0; step < 20; ++step)
      first.push_back(ids(sample_batch(text, 3, 4, step, data).inputs));
    for (std::int64_t step = 19; step >= 0; --step)
      CHECK(ids(sample_batch(text, 3, 4, step, data).inputs) ==
            first[static_cast<std::size_t>(step)]);
    CHECK(std::set<Ids>(first.begin(), first.end()).size() > 15);
    CHECK(ids(sample_batch(text, 3, 4, 0, Rng(8).stream(3)).inputs) != first[0]);
  }
}

TEST_CASE("lines: every document once an epoch, whatever the size of a batch") {
  const TokenText text = text_of_documents({1, 2, 3, 4, 5, 6, 7});
  for (const Dim batch : {1, 2, 5, 7, 20}) {
    std::vector<std::size_t> begins;
    for (std::int64_t step = 0; begins.size() < 70; ++step)
      for (const TextWindow& window : sample_windows(text, batch, 8, step, Rng(2)))
        begins.push_back(window.begin);
    std::set<std::vector<std::size_t>> orders;
    for (std::size_t epoch = 0; epoch < 10; ++epoch) {
      const auto from = begins.begin() + static_cast<std::ptrdiff_t>(7 * epoch);
      std::vector<std::size_t> order(from, from + 7);
      orders.insert(order);
      std::sort(order.begin(), order.end());
      CHECK(order == std::vector<std::size_t>(text.starts.begin(), text.starts.end() - 1));
    }
    CHECK(orders.size() == 10);
  }
}

TEST_CASE("lines: a long document gives windows from all of it, and from nothing else") {
  const TokenText text = text_of_documents({9, 2});  // 10 and 3 predictions
  std::set<std::size_t> begins;
  for (std::int64_t step = 0; step < 300; ++step)
    for (const TextWindow& window : sample_windows(text, 2, 4, step, Rng(3))) {
      if (window.begin == 10) {
        CHECK(window.length == 3);
        continue;
      }
      REQUIRE(window.length == 4);
      begins.insert(window.begin);
    }
  CHECK(begins == std::set<std::size_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("permutation_element: each order is one, and all are about equally likely") {
  for (const Dim n : {1, 2, 3, 4, 5, 16, 17, 64, 1000}) {
    std::set<Dim> places;
    for (Dim i = 0; i < n; ++i) places.insert(permutation_element(i, n, Rng(4)));
    CHECK(static_cast<Dim>(places.size()) == n);
    CHECK(*places.rbegin() == n - 1);
  }
  for (const Dim n : {3, 4}) {
    std::map<Ids, int> orders;
    for (std::uint64_t seed = 0; seed < 12'000; ++seed) {
      Ids order;
      for (Dim i = 0; i < n; ++i) order.push_back(permutation_element(i, n, Rng(5).stream(seed)));
      ++orders[order];
    }
    const int all = n == 3 ? 6 : 24;
    CHECK(static_cast<int>(orders.size()) == all);
    for (const auto& entry : orders)  // the deviation is 41 or 22
      CHECK(std::abs(entry.second - 12'000 / all) < (n == 3 ? 300 : 150));
  }
}

TEST_CASE("batches refuse texts that are too short, and sizes that are not positive") {
  const auto sampled = [](const TokenText& text, Dim batch, Dim context, std::int64_t step) {
    return [=] { sample_batch(text, batch, context, step, Rng(1)); };
  };
  CHECK(refuses<ValueError>(sampled(counted_text(4), 1, 4, 0), "context of 4", "5", "has 4"));
  CHECK(refuses<ValueError>(sampled({}, 1, 1, 0), "context of 1", "2", "has 0"));
  CHECK(refuses<ValueError>(sampled(counted_text(9), 0, 4, 0), "batch", "got 0"));
  CHECK(refuses<ValueError>(sampled(counted_text(9), 1, 0, 0), "context", "got 0"));
  CHECK(refuses<ValueError>(sampled(counted_text(9), 1, 4, -1), "steps", "got -1"));
  CHECK(refuses<ValueError>(sampled({{0}, {0}}, 1, 4, 0), "no documents"));
  CHECK(refuses<ValueError>([] { evaluation_windows(counted_text(3), 0); }, "context", "got 0"));
  CHECK(refuses<ValueError>([] { evaluation_windows(counted_text(3), 4, 4); }, "of 4", "got 4"));
  CHECK(refuses<ValueError>([] { batch_of(counted_text(3), {}); }, "no windows"));
  for (const Dim n : {0, 3})
    CHECK(refuses<ValueError>([&] { permutation_element(n, n, Rng(1)); }, "permutation_element",
                              std::to_string(n) + " of " + std::to_string(n)));
}
