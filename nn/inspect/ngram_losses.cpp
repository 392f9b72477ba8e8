#include "nn/inspect/ngram_losses.h"

#include <map>
#include <unordered_map>

#include "nn/io/utf8.h"

namespace fledge {

namespace {

using Id = std::uint32_t;
constexpr Id none = ~Id{0};

// A text as slots, one token each. The boundary between two documents has two: the end of one, which
// is predicted, and the beginning of the next, which is not.
struct Slots {
  std::vector<Id> tokens, depth;  // depth: how many tokens of the document stand before it
  bool documents = false;
  Id first = 0;  // the first slot of a stream that is predicted

  bool is_predicted(std::size_t i) const { return documents ? depth[i] > 0 : depth[i] >= first; }
};

Slots slots_of(const TokenText& text, Dim first = 0) {
  Slots slots{{}, {}, !text.starts.empty(), static_cast<Id>(first)};
  const auto add = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      slots.tokens.push_back(static_cast<Id>(text.tokens[i]));
      slots.depth.push_back(static_cast<Id>(i - begin));
    }
  };
  if (text.starts.empty()) add(0, text.tokens.size());
  for (std::size_t d = 0; d + 1 < text.starts.size(); ++d)
    add(text.starts[d], text.starts[d + 1] + 1);
  return slots;
}

// The n-grams of one length, numbered in the order of (number of the history, last token). The
// number of a history is that of an n-gram of the length before; there is one without tokens, 0.
struct Grams {
  std::vector<std::uint64_t> keys;  // history·2³² + token, ascending
  std::vector<Id> counts;           // of those predicted in the training text
  std::vector<bool> begins;         // with its document, so that nothing can stand before it
  std::vector<Id> train, test;      // the n-gram that ends in each slot; none: not known
};

// The history of slot i: the n-gram that ends before it. Before a document there are boundaries.
Id history_at(const Slots& slots, const std::vector<Id>& shorter, std::size_t i) {
  if (shorter.empty()) return 0;
  if (slots.documents && slots.depth[i] == 0) return shorter[i];
  return i == 0 ? none : shorter[i - 1];
}

std::uint64_t key_at(const Slots& slots, const std::vector<Id>& shorter, std::size_t i) {
  const std::uint64_t history = history_at(slots, shorter, i);
  return history << 32 | slots.tokens[i];
}

Grams longer_grams(const Grams& shorter, const Slots& train, const Slots& test, Id length) {
  std::vector<std::pair<std::uint64_t, Id>> sorted;  // key, slot
  for (std::size_t i = 0; i < train.tokens.size(); ++i)
    if (const std::uint64_t key = key_at(train, shorter.train, i); key >> 32 != none)
      sorted.emplace_back(key, static_cast<Id>(i));
  std::sort(sorted.begin(), sorted.end());
  check_interrupt();
  Grams grams;
  grams.train.assign(train.tokens.size(), none);
  for (const auto& [key, slot] : sorted) {
    if (grams.keys.empty() || grams.keys.back() != key) {
      grams.keys.push_back(key);
      grams.counts.push_back(0);
      grams.begins.push_back(false);
    }
    grams.train[slot] = static_cast<Id>(grams.keys.size() - 1);
    if (!train.is_predicted(slot)) continue;
    ++grams.counts.back();
    grams.begins.back() = train.documents && train.depth[slot] < length;
  }
  for (std::size_t i = 0; i < test.tokens.size(); ++i) {
    const std::uint64_t key = key_at(test, shorter.test, i);
    const auto found = std::lower_bound(grams.keys.begin(), grams.keys.end(), key);
    const bool is_known = found != grams.keys.end() && *found == key;
    grams.test.push_back(is_known ? static_cast<Id>(found - grams.keys.begin()) : none);
  }
  return grams;
}

// D(1), D(2) and D(3) for counts of 3 or more. Where counts of counts do not say, half the count.
std::array<double, 4> discounts_of(const std::vector<Id>& counts) {
  std::array<double, 5> number{};  // how many n-grams have this count
  for (const Id count : counts)
    if (count >= 1 && count <= 4) ++number[count];
  std::array<double, 4> discounts{0, 0.5, 1, 1.5};
  for (std::size_t c = 1; c <= 3; ++c) {
    if (number[1] == 0 || number[c] == 0 || number[c + 1] == 0) continue;
    const double count = static_cast<double>(c), share = number[1] / (number[1] + 2 * number[2]);
    const double taken = count - (count + 1) * share * number[c + 1] / number[c];
    discounts[c] = std::clamp(taken, 0.1 * count, 0.9 * count);
  }
  return discounts;
}

// p(t | h) for each slot of the test, from the counts of all n-grams and from `lower`.
std::vector<double> interpolated(const Grams& grams, const std::vector<Id>& counts,
                                 const Grams& shorter, const Slots& test,
                                 const std::vector<double>& lower) {
  const std::array<double, 4> discounts = discounts_of(counts);
  const auto discount = [&](Id count) { return discounts[std::min<Id>(count, 3)]; };
  std::vector<double> total(std::max<std::size_t>(shorter.keys.size(), 1)), taken(total.size());
  for (std::size_t g = 0; g < counts.size(); ++g) {
    const std::size_t history = grams.keys[g] >> 32;
    total[history] += counts[g];
    taken[history] += discount(counts[g]);
  }
  std::vector<double> p = lower;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Id history = history_at(test, shorter.test, i), gram = grams.test[i];
    if (history == none || total[history] == 0) continue;
    const Id count = gram == none ? 0 : counts[gram];
    p[i] = (count - discount(count) + taken[history] * lower[i]) / total[history];
  }
  return p;
}

// Of each n-gram the number of different tokens before it: of the longer ones that end with it. One
// that begins its document has nothing before it, and keeps its count.
std::vector<Id> continuations(const Grams& grams, const Grams& longer) {
  std::vector<Id> counts(grams.counts.size());
  for (std::size_t g = 0; g < counts.size(); ++g)
    if (grams.begins[g]) counts[g] = grams.counts[g];
  std::vector<bool> seen(longer.keys.size());
  for (std::size_t i = 0; i < longer.train.size(); ++i) {
    const Id gram = longer.train[i];
    if (gram == none || longer.counts[gram] == 0 || seen[gram]) continue;
    seen[gram] = true;
    if (!grams.begins[grams.train[i]]) ++counts[grams.train[i]];
  }
  return counts;
}

// The losses with 0, 1, … tokens of history, one after the other.
class Tables {
 public:
  Tables(const TokenText& train, const TokenText& test, Dim first, Dim vocabulary)
      : train_(slots_of(train)), test_(slots_of(test, first)) {
    lower_.assign(test_.tokens.size(), 1 / static_cast<double>(vocabulary));
  }

  double next_loss() {
    Grams longer = longer_grams(grams_, train_, test_, ++length_);
    if (length_ > 1) {
      lower_ = interpolated(grams_, continuations(grams_, longer), shorter_, test_, lower_);
      shorter_ = std::move(grams_);
    }
    grams_ = std::move(longer);
    const std::vector<double> p = interpolated(grams_, grams_.counts, shorter_, test_, lower_);
    double sum = 0, predicted = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (!test_.is_predicted(i)) continue;
      sum -= std::log(p[i]);
      ++predicted;
    }
    return sum / predicted;
  }

 private:
  Slots train_, test_;
  Grams shorter_, grams_;  // of the lengths below length_, and of length_
  Id length_ = 0;
  std::vector<double> lower_;  // with continuations, of each slot of the test
};

// The text with several blanks in a row as one space.
std::string with_single_blanks(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (std::string_view(" \t\n\r\v\f").find(c) == std::string_view::npos)
      result += c;
    else if (result.empty() || result.back() != ' ')
      result += ' ';
  return result;
}

// Calls f(number of the first character, passage) for each n characters in a row.
template <class F>
void each_passage(std::string_view text, std::size_t n, F f) {
  std::size_t begin = 0, end = 0;
  for (std::size_t characters = 1; end < text.size(); ++characters) {
    if (characters % 65536 == 0) check_interrupt();
    end += code_point_at(text, end).bytes;
    if (characters < n) continue;
    f(characters - n, text.substr(begin, end - begin));
    begin += code_point_at(text, begin).bytes;
  }
}

}  // namespace

std::vector<double> ngram_losses(const TokenText& train, const TokenText& test, Dim vocabulary,
                                 int most_history) {
  require<ValueError>(!test.tokens.empty(), "ngram_losses", "the test has no tokens");
  require<ValueError>(most_history >= 0 && most_history <= 12, "ngram_losses",
                      "the history must have 0 to 12 tokens: got ", most_history);
  require<ValueError>(train.tokens.empty() || train.starts.empty() == test.starts.empty(),
                      "ngram_losses", "a stream and documents have different histories");
  for (const TokenText* text : {&train, &test})
    for (const Dim token : text->tokens)
      require<ValueError>(token >= 0 && token < vocabulary, "ngram_losses", "token ", token,
                          " is outside a vocabulary of ", vocabulary);

  // For a stream, the end of the training text is put before the test: it is the first history.
  const Dim before = test.starts.empty() ? std::min<Dim>(most_history, train.size()) : 0;
  TokenText text{{train.tokens.end() - before, train.tokens.end()}, test.starts};
  text.tokens.insert(text.tokens.end(), test.tokens.begin(), test.tokens.end());
  Tables tables(train, text, before, vocabulary);
  std::vector<double> losses;
  for (int history = 0; history <= most_history; ++history) losses.push_back(tables.next_loss());
  return losses;
}

int best_history(const TokenText& train, Dim vocabulary, int most_history) {
  constexpr double least_gain = 0.001;  // nats, by each further token
  const auto documents = static_cast<std::size_t>(train.documents());
  const std::size_t counted_documents = documents - (documents + 8) / 10, n = train.tokens.size();
  const std::size_t cut = documents > 0 ? train.starts[counted_documents] : n - n / 10;
  const auto token = [&](std::size_t i) {
    return train.tokens.begin() + static_cast<std::ptrdiff_t>(i);
  };
  TokenText counted{{token(0), token(documents > 0 ? cut + 1 : cut)}, {}};
  TokenText measured{{token(cut), token(n)}, {}};
  for (std::size_t d = 0; d < train.starts.size(); ++d) {
    if (d <= counted_documents) counted.starts.push_back(train.starts[d]);
    if (d >= counted_documents) measured.starts.push_back(train.starts[d] - cut);
  }
  if (measured.size() < 2) return 0;
  Tables tables(counted, measured, 0, vocabulary);
  std::vector<double> losses{tables.next_loss()};
  int best = 0;
  for (int history = 1; history <= most_history; ++history) {
    losses.push_back(tables.next_loss());
    const double gain = losses[static_cast<std::size_t>(best)] - losses.back();
    if (gain > least_gain * (history - best)) best = history;
  }
  return best;
}

double least_loss(const TokenText& text) {
  require<ValueError>(text.documents() > 0, "least_loss",
                      "the text must have documents: read it with Reading::lines");
  // The tree of all beginnings. Node 0 is the boundary; a child is one token longer.
  std::vector<double> count{0};
  std::map<std::pair<std::size_t, Dim>, std::size_t> children;
  const auto child = [&](std::size_t beginning, Dim next) {
    const auto [found, is_new] = children.try_emplace({beginning, next}, count.size());
    if (is_new) count.push_back(0);
    return found->second;
  };
  const auto for_each_prediction = [&](const auto& f) {
    for (std::size_t d = 0; d + 1 < text.starts.size(); ++d) {
      std::size_t beginning = 0;
      for (std::size_t i = text.starts[d] + 1; i <= text.starts[d + 1]; ++i) {
        const std::size_t longer = child(beginning, text.tokens[i]);
        f(beginning, longer);
        beginning = longer;
      }
    }
  };

  count[0] = static_cast<double>(text.documents());
  for_each_prediction([&](std::size_t, std::size_t longer) { count[longer] += 1; });
  double sum = 0, predictions = 0;
  for_each_prediction([&](std::size_t beginning, std::size_t longer) {
    sum -= std::log(count[longer] / count[beginning]);
    predictions += 1;
  });
  return sum / predictions;
}

double copied_share(const std::vector<std::string>& samples, std::string_view train,
                    std::size_t least) {
  const std::string text = with_single_blanks(train);
  const std::size_t n = std::max<std::size_t>(least, 1);
  std::vector<std::string> parts;
  for (const std::string& sample : samples) parts.push_back(with_single_blanks(sample));
  std::unordered_map<std::string_view, bool> in_text;  // of each passage of the samples
  for (const std::string& part : parts)
    each_passage(part, n, [&](std::size_t, std::string_view passage) { in_text[passage] = false; });
  each_passage(text, n, [&](std::size_t, std::string_view passage) {
    if (const auto found = in_text.find(passage); found != in_text.end()) found->second = true;
  });
  std::size_t copied = 0, characters = 0;
  for (const std::string& part : parts) {
    std::size_t counted = 0;  // characters of this part that are done with
    each_passage(part, n, [&](std::size_t first, std::string_view passage) {
      if (!in_text[passage]) return;
      copied += first + n - std::max(first, counted);
      counted = first + n;
    });
    each_passage(part, 1, [&](std::size_t, std::string_view) { ++characters; });
  }
  return copied > 0 ? static_cast<double>(copied) / static_cast<double>(characters) : 0;
}

}  // namespace fledge
