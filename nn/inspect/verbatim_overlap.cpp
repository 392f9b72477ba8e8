#include "nn/inspect/verbatim_overlap.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <unordered_set>

#include "engine/base/interrupt.h"
#include "nn/text/lines.h"

namespace fledge {

namespace {

using State = std::int32_t;

constexpr std::size_t interruptible = 1 << 16;  // bytes read between two checks

// The suffix automaton of a sample (Blumer et al. 1985): a state for each set of strings that end
// at the same places of the sample. length is its longest string; link leads to the state of the
// longest suffix that ends at more places.
class Automaton {
 public:
  explicit Automaton(std::string_view sample) {
    for (const char c : sample) column_[byte(c)] = 0;
    for (int& column : column_)
      if (column == 0) column = width_++;
    add_state(0);
    State last = root;
    for (const char c : sample) {
      last = extended(last, column_[byte(c)]);
      ends_.push_back(last);
    }
  }

  /// Notes what of a text stands in the sample.
  void feed(std::string_view text) {
    State state = root;
    std::size_t matched = 0;  // the longest suffix of text[0 … i] that stands in the sample
    std::size_t read = 0;
    for (const char c : text) {
      if (++read % interruptible == 0) check_interrupt();
      const int column = column_[byte(c)];
      while (state != root && (column < 0 || next(state, column) < 0)) {
        state = link_[at(state)];
        matched = length_[at(state)];
      }
      if (column < 0 || next(state, column) < 0) continue;
      state = next(state, column);
      found_[at(state)] = std::max(found_[at(state)], ++matched);
    }
  }

  /// For each prefix of the sample, its longest suffix that stands in what was fed.
  std::vector<std::size_t> longest_ends() const {
    std::vector<std::size_t> found = found_;
    // Where a string stands, so do its suffixes: what a state has not found, its link may have.
    std::vector<State> order(length_.size());
    std::iota(order.begin(), order.end(), State{0});
    std::sort(order.begin(), order.end(), [this](State a, State b) {
      return length_[at(a)] > length_[at(b)];  // links lead to shorter ones
    });
    for (const State s : order)
      if (s != root && found[at(s)] > 0) found[at(link_[at(s)])] = length_[at(link_[at(s)])];
    std::reverse(order.begin(), order.end());
    for (const State s : order)
      if (s != root) found[at(s)] = std::max(found[at(s)], found[at(link_[at(s)])]);
    std::vector<std::size_t> longest;
    for (const State s : ends_) longest.push_back(found[at(s)]);
    return longest;
  }

 private:
  static constexpr State root = 0;

  static std::size_t byte(char c) { return static_cast<unsigned char>(c); }
  static std::size_t at(State state) { return static_cast<std::size_t>(state); }
  std::size_t cell(State state, int column) const {
    return at(state) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(column);
  }
  State next(State state, int column) const { return next_[cell(state, column)]; }

  State add_state(std::size_t length) {
    length_.push_back(length);
    found_.push_back(0);
    link_.push_back(-1);
    next_.resize(next_.size() + static_cast<std::size_t>(width_), -1);
    return static_cast<State>(length_.size()) - 1;
  }

  // The state of the sample so far with one byte more.
  State extended(State last, int column) {
    const State whole = add_state(length_[at(last)] + 1);
    State p = last;
    for (; p >= 0 && next(p, column) < 0; p = link_[at(p)]) next_[cell(p, column)] = whole;
    if (p < 0) {
      link_[at(whole)] = root;
      return whole;
    }
    const State q = next(p, column);
    if (length_[at(p)] + 1 == length_[at(q)]) {
      link_[at(whole)] = q;
      return whole;
    }
    const State copy = add_state(length_[at(p)] + 1);  // q's shorter strings end here too
    for (int c = 0; c < width_; ++c) next_[cell(copy, c)] = next(q, c);
    link_[at(copy)] = link_[at(q)];
    link_[at(q)] = link_[at(whole)] = copy;
    for (; p >= 0 && next(p, column) == q; p = link_[at(p)]) next_[cell(p, column)] = copy;
    return whole;
  }

  std::array<int, 256> column_ = [] {
    std::array<int, 256> none{};
    none.fill(-1);
    return none;
  }();
  int width_ = 0;  // distinct bytes of the sample
  std::vector<std::size_t> length_;
  std::vector<std::size_t> found_;  // of each state, the longest string that was fed
  std::vector<State> link_, next_, ends_;
};

// The strings of eight bytes of a sample, and a few others: a filter (Bloom 1970) of one bit each.
class BloomFilter {
 public:
  static constexpr std::size_t size = 8;

  explicit BloomFilter(std::string_view sample) : bits_(std::size_t{1} << log_bits, false) {
    for (std::size_t at = 0; at + size <= sample.size(); ++at) bits_[place(sample, at)] = true;
  }

  bool may_have(std::string_view text, std::size_t at) const {
    return at + size <= text.size() && bits_[place(text, at)];
  }

 private:
  static constexpr int log_bits = 20;

  static std::size_t place(std::string_view text, std::size_t at) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + at, size);
    return static_cast<std::size_t>((eight * 0x9E3779B97F4A7C15) >> (64 - log_bits));
  }

  std::vector<bool> bits_;
};

// Feeds only where eight bytes may stand in the sample: a quarter of the time for 50 MB of English.
void feed_long_runs(Automaton& automaton, std::string_view sample, std::string_view text) {
  const BloomFilter eights(sample);
  for (std::size_t at = 0; at + BloomFilter::size <= text.size(); ++at) {
    if (at % interruptible == 0) check_interrupt();
    std::size_t end = at;
    while (eights.may_have(text, end)) ++end;
    if (end == at) continue;
    automaton.feed(text.substr(at, end - at + BloomFilter::size - 1));
    at = end;
  }
}

VerbatimOverlap measured(const std::vector<std::size_t>& longest, std::size_t least) {
  VerbatimOverlap result;
  std::size_t bytes = 0, counted = 0;  // the first `counted` bytes are done with
  for (std::size_t end = 1; end <= longest.size(); ++end) {
    const std::size_t run = longest[end - 1];
    result.longest = std::max(result.longest, run);
    if (run < std::max<std::size_t>(least, 1)) continue;
    bytes += end - std::max(counted, end - run);
    counted = end;
  }
  if (!longest.empty())
    result.share = static_cast<double>(bytes) / static_cast<double>(longest.size());
  return result;
}

}  // namespace

VerbatimOverlap verbatim_overlap(std::string_view sample, std::string_view text,
                                 std::size_t least) {
  Automaton automaton(sample);
  if (least >= BloomFilter::size) {
    feed_long_runs(automaton, sample, text);
    const VerbatimOverlap result = measured(automaton.longest_ends(), least);
    if (result.longest >= BloomFilter::size) return result;
  }
  automaton.feed(text);
  return measured(automaton.longest_ends(), least);
}

std::vector<Origin> origins(std::string_view sample, std::string_view train,
                            std::string_view valid) {
  const auto set_of = [](std::string_view text) {
    const std::vector<std::string_view> lines = lines_of(text);
    return std::unordered_set<std::string_view>(lines.begin(), lines.end());
  };
  const auto in_train = set_of(train), in_valid = set_of(valid);
  std::vector<Origin> origins;
  for (const std::string_view line : lines_of(sample))
    origins.push_back(in_train.contains(line)   ? Origin::train
                      : in_valid.contains(line) ? Origin::valid
                                                : Origin::fresh);
  return origins;
}

}  // namespace fledge
