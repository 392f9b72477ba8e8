#include "nn/inspect/ngram_baseline.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "engine/base/errors.h"

namespace fledge {

namespace {

// A tree of token sequences with counts. The root is the empty sequence; a child has one token more.
class Tree {
 public:
  explicit Tree(Dim vocabulary) : vocabulary_(static_cast<std::uint64_t>(vocabulary)) {}

  static constexpr Dim root = 0, none = -1;

  Dim child(Dim node, Dim token) const {
    const auto entry = node == none ? children_.end() : children_.find(key(node, token));
    return entry == children_.end() ? none : entry->second;
  }
  Dim grown_child(Dim node, Dim token) {
    const auto [entry, added] =
        children_.try_emplace(key(node, token), static_cast<Dim>(counts_.size()));
    if (added) counts_.push_back(0);
    return entry->second;
  }
  void count(Dim node) { ++counts_[static_cast<std::size_t>(node)]; }
  double counted(Dim node) const {
    return node == none ? 0.0 : static_cast<double>(counts_[static_cast<std::size_t>(node)]);
  }

 private:
  std::uint64_t key(Dim node, Dim token) const {
    return static_cast<std::uint64_t>(node) * vocabulary_ + static_cast<std::uint64_t>(token);
  }

  std::uint64_t vocabulary_;
  std::unordered_map<std::uint64_t, Dim> children_;
  std::vector<Dim> counts_{0};
};

// Token i of a document that begins at `first`. Before `first` it is the boundary at `first`.
Dim token_at(const TokenText& text, Dim i, Dim first) {
  return text.tokens[static_cast<std::size_t>(std::max(i, first))];
}

// Calls f(i, first) for every token i that is predicted; its document begins at `first`.
template <class F>
void for_predicted(const TokenText& text, Dim begin, F f) {
  for (Dim d = 0; d < text.documents(); ++d) {
    const auto first = static_cast<Dim>(text.starts[static_cast<std::size_t>(d)]);
    const auto last = static_cast<Dim>(text.starts[static_cast<std::size_t>(d) + 1]);
    for (Dim i = first + 1; i <= last; ++i) f(i, first);
  }
  if (text.starts.empty())
    for (Dim i = begin; i < text.size(); ++i) f(i, Dim{0});
}

}  // namespace

double ngram_loss(const TokenText& train, const TokenText& test, Dim vocabulary, int history,
                  double add) {
  require<ValueError>(!test.tokens.empty(), "ngram_loss", "the test has no tokens");
  require<ValueError>(history >= 0 && history <= 8, "ngram_loss",
                      "the history must have 0 to 8 tokens: got ", history);
  require<ValueError>(std::isfinite(add) && add > 0, "ngram_loss",
                      "what is added to each count must be positive: got ", add);
  require<ValueError>(train.tokens.empty() || train.starts.empty() == test.starts.empty(),
                      "ngram_loss", "a stream and documents have different histories");
  for (const TokenText* text : {&train, &test})
    for (const Dim token : text->tokens)
      require<ValueError>(token >= 0 && token < vocabulary, "ngram_loss", "token ", token,
                          " is outside a vocabulary of ", vocabulary);

  Tree tree(vocabulary);
  for_predicted(train, history, [&](Dim i, Dim first) {
    Dim node = Tree::root;
    for (Dim j = i - history; j < i; ++j) node = tree.grown_child(node, token_at(train, j, first));
    tree.count(node);
    tree.count(tree.grown_child(node, token_at(train, i, first)));
  });

  // For a stream, the end of the training text is put before the test: it is the first history.
  const Dim before = test.starts.empty() ? std::min<Dim>(history, train.size()) : 0;
  TokenText text{{train.tokens.end() - before, train.tokens.end()}, test.starts};
  text.tokens.insert(text.tokens.end(), test.tokens.begin(), test.tokens.end());
  double loss = 0;
  Dim predicted = 0;
  for_predicted(text, before, [&](Dim i, Dim first) {
    ++predicted;
    Dim node = Tree::root;
    if (text.starts.empty() && i < history) node = Tree::none;
    for (Dim j = i - history; j < i && node != Tree::none; ++j)
      node = tree.child(node, token_at(text, j, first));
    const double seen = tree.counted(tree.child(node, token_at(text, i, first)));
    loss -= std::log((seen + add) / (tree.counted(node) + add * static_cast<double>(vocabulary)));
  });
  return loss / static_cast<double>(predicted);
}

}  // namespace fledge
