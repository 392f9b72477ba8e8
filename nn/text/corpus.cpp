#include "nn/text/corpus.h"

#include <numeric>
#include <unordered_set>

#include "engine/array.h"

namespace fledge {

namespace {

constexpr std::uint64_t split_stream = 0x73706C6974;  // "split"

// How many of n documents or tokens are for training.
std::size_t for_training(std::size_t n, double valid, std::string_view things) {
  const auto all = static_cast<double>(n);
  require<ValueError>(valid >= 0 && (valid < 1 || valid == std::floor(valid)), "read_corpus",
                      "valid must be a share below 1 or a whole number of ", things, ": got ",
                      valid);
  // 10·(1 − 0.9) is 0.99…98 in double; the factor makes it 1, the result in decimal numbers.
  const double share = std::min(std::floor(all * (1 - valid) * (1 + 1e-12)), all);
  const double train = valid < 1 ? share : all - valid;
  require<NothingToTrain>(train >= 1, "read_corpus", "valid = ", valid, " of ", n, " ", things,
                          " leaves nothing to train on");
  return static_cast<std::size_t>(train);
}

// The number of bytes for training. The cut is moved back to the beginning of a character.
std::size_t byte_cut(std::string_view text, double valid) {
  std::size_t cut = for_training(text.size(), valid, "bytes");
  const auto continues = [&] { return (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80; };
  for (int back = 0; back < 3 && cut > 1 && cut < text.size() && continues(); ++back) --cut;
  return cut;
}

struct Documents {
  std::vector<std::string_view> all, train, valid;
};

Documents documents_of(std::string_view text, const CorpusOptions& options) {
  Documents documents{lines_of(text), {}, {}};
  const std::size_t n = documents.all.size();
  require<ValueError>(n > 0, "read_corpus", "all lines of the text are blank");
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng(options.seed).stream(split_stream).shuffle(order);
  std::vector<bool> trained(n, false);
  const std::size_t train = for_training(n, options.valid, "documents");
  for (std::size_t i = 0; i < train; ++i) trained[order[i]] = true;
  for (std::size_t i = 0; i < n; ++i)
    (trained[i] ? documents.train : documents.valid).push_back(documents.all[i]);
  return documents;
}

std::string join_lines(const std::vector<std::string_view>& lines) {
  std::string text;
  for (const std::string_view line : lines) text.append(line).append("\n");
  return text;
}

TokenText encode_documents(const Tokenizer& tokenizer, const std::vector<std::string_view>& lines,
                           std::string_view text) {
  const auto boundary = tokenizer.find("\n");
  require<ValueError>(boundary.has_value(), "read_corpus",
                      "documents stand between line ends, and the symbols have none; the model "
                      "learned from a text without");
  TokenText result;
  for (const std::string_view line : lines) {
    result.starts.push_back(result.tokens.size());
    result.tokens.push_back(*boundary);
    const auto first = static_cast<std::size_t>(line.data() - text.data());
    const std::vector<Dim> tokens = tokenizer.encode(line, first);
    result.tokens.insert(result.tokens.end(), tokens.begin(), tokens.end());
  }
  if (lines.empty()) return result;
  result.starts.push_back(result.tokens.size());
  result.tokens.push_back(*boundary);
  return result;
}

CorpusFacts facts_of(const Corpus& corpus, std::string_view text) {
  CorpusFacts facts;
  facts.bytes = static_cast<Dim>(text.size());
  facts.documents = static_cast<Dim>(lines_of(text).size());
  enum : char { never, only_valid, trained };
  std::vector<char> seen(corpus.tokenizer.symbols().size(), never);
  for (const Dim token : corpus.train.tokens) seen[static_cast<std::size_t>(token)] = trained;
  for (const Dim token : corpus.valid.tokens) {
    char& known = seen[static_cast<std::size_t>(token)];
    if (known == never) known = only_valid;
    if (known == only_valid) ++facts.unseen;
  }
  for (const char known : seen) facts.symbols += known != never;

  std::string train = corpus.tokenizer.decode(corpus.train.tokens);
  std::string valid = corpus.tokenizer.decode(corpus.valid.tokens);
  if (!train.ends_with('\n')) {  // a line that is cut belongs to neither part
    train.erase(train.rfind('\n') + 1);
    valid.erase(0, valid.find('\n'));
  }
  const std::vector<std::string_view> known = lines_of(train);
  const std::unordered_set<std::string_view> in_train(known.begin(), known.end());
  std::ptrdiff_t all = 0, repeated = 0;  // characters
  for (const std::string_view line : lines_of(valid)) {
    const auto characters = std::count_if(line.begin(), line.end(), [](unsigned char byte) {
      return (byte & 0xC0) != 0x80;  // a byte of UTF-8 that begins a character
    });
    all += characters;
    repeated += in_train.contains(line) ? characters : 0;
  }
  if (all > 0) facts.repeated_share = static_cast<double>(repeated) / static_cast<double>(all);
  return facts;
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (end < text.size() && line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t\r\v\f") != std::string_view::npos) lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

Corpus read_corpus(std::string_view text, const CorpusOptions& options,
                   std::optional<Tokenizer> known) {
  require<ValueError>(!text.empty(), "read_corpus", "the text is empty");
  const Tokens kind = known ? known->kind() : options.tokens;
  if (kind == Tokens::character) require_utf8(text);
  const bool is_lines = options.reading == Reading::lines, is_bpe = kind == Tokens::bpe;
  const Documents documents = is_lines ? documents_of(text, options) : Documents{};
  const std::size_t cut = is_bpe && !is_lines ? byte_cut(text, options.valid) : text.size();
  if (!known) {
    const std::string lines = join_lines(is_bpe ? documents.train : documents.all);
    known.emplace(kind, is_lines ? lines : text.substr(0, cut), options.symbols);
  }
  Corpus corpus{*std::move(known), {}, {}, {}};
  const Tokenizer& symbols = corpus.tokenizer;
  std::vector<Dim>&train = corpus.train.tokens, &valid = corpus.valid.tokens;
  if (is_lines) {
    corpus.train = encode_documents(symbols, documents.train, text);
    corpus.valid = encode_documents(symbols, documents.valid, text);
  } else if (is_bpe) {
    train = symbols.encode(text.substr(0, cut));
    valid = symbols.encode(text.substr(cut));
  } else {
    train = symbols.encode(text);
    const std::size_t end = for_training(train.size(), options.valid, "tokens");
    valid.assign(train.begin() + static_cast<std::ptrdiff_t>(end), train.end());
    train.resize(end);
  }
  corpus.facts = facts_of(corpus, text);
  return corpus;
}

}  // namespace fledge
