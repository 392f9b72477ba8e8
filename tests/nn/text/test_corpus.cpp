// How a text is cut, held to its definition. Examples and refusals are in tests/formats/tokens.txt.
#include "nn/text/corpus.h"

#include <cmath>
#include <set>

#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace fledge;
using tests::refuses;

namespace {

using Ids = std::vector<Dim>;
using Starts = std::vector<std::size_t>;

const std::string_view birds_and_ducks = "birds walk\nducks swim\nbirds walk\nbirds fly\n";

std::vector<std::string> documents_of(const Corpus& corpus, const TokenText& text) {
  std::vector<std::string> documents;
  const Dim* const tokens = text.tokens.data();
  for (std::size_t d = 0; d + 1 < text.starts.size(); ++d) {
    const std::size_t begin = text.starts[d], end = text.starts[d + 1];
    documents.push_back(corpus.tokenizer.decode({tokens + begin + 1, tokens + end}));
    CHECK(tokens[begin] == corpus.tokenizer.find("\n"));
  }
  if (!text.starts.empty()) CHECK(text.starts.back() + 1 == text.tokens.size());
  return documents;
}

}  // namespace

TEST_CASE("a stream is cut once: the first tokens are for training, the rest for validation") {
  // ⌊n·(1 − share)⌋ in decimal numbers, for every share of whole hundredths.
  for (Dim n = 1; n <= 60; ++n)
    for (Dim hundredths = 0; hundredths < 100; ++hundredths) {
      const std::string text(static_cast<std::size_t>(n), 'a');
      const CorpusOptions options{.tokens = Tokens::byte,
                                  .valid = static_cast<double>(hundredths) / 100};
      const Dim train = n * (100 - hundredths) / 100;
      CAPTURE(n, hundredths);
      if (train == 0) {
        CHECK_THROWS_AS(read_corpus(text, options), NothingToTrain);
        continue;
      }
      const Corpus corpus = read_corpus(text, options);
      if (corpus.train.size() != train || corpus.valid.size() != n - train) FAIL_CHECK("cut");
    }
  // nanoGPT's cut: the first ⌊0.9·n⌋ characters.
  const std::string long_text = std::string(1115394, 'a') + "b";
  CHECK(read_corpus(long_text, {.tokens = Tokens::byte}).train.size() == 1003855);
  CHECK(refuses<ValueError>([] { read_corpus("abc", {.valid = NAN}); }, "valid", "got "));
}

TEST_CASE("byte pairs are cut where a character begins, and learned before the cut") {
  const std::string text = "abababab 鳥xyxyxyxyxy";
  for (const auto& [valid, cut] : {std::pair{0.0, 22u}, {10.0, 12u}}) {
    const Corpus corpus =
        read_corpus(text, {.tokens = Tokens::bpe, .symbols = 300, .valid = valid});
    CHECK(corpus.tokenizer.decode(corpus.train.tokens) == text.substr(0, cut));
    CHECK(corpus.tokenizer.decode(corpus.valid.tokens) == text.substr(cut));
    CHECK(corpus.tokenizer.find("ab").has_value());
    CHECK(corpus.tokenizer.find("xy").has_value() == (valid == 0));
  }
  // A character of any length, in front of the cut, within it and behind it.
  for (const std::string character : {"x", "ß", "鳥", "🐦"})
    for (std::size_t cut = 4; cut <= 10; ++cut) {
      const std::string whole = "abcd" + character + "efghij";
      const std::size_t end = 4 + character.size(), n = whole.size();
      const Corpus corpus =
          read_corpus(whole, {.tokens = Tokens::bpe, .valid = static_cast<double>(n - cut)});
      CAPTURE(character, cut);
      CHECK(corpus.tokenizer.decode(corpus.train.tokens) == whole.substr(0, cut < end ? 4 : cut));
      CHECK(corpus.train.size() + corpus.valid.size() == static_cast<Dim>(n));
    }
  // not UTF-8: no beginning is found in the three bytes before
  const Corpus bytes = read_corpus(std::string(20, '\x80'), {.tokens = Tokens::bpe, .valid = 0.5});
  CHECK(bytes.tokenizer.decode(bytes.valid.tokens).size() == 13);
}

TEST_CASE("lines: documents stand whole in one part, between boundaries") {
  const std::string text = "b\r\n\nab\n \t\nba";
  const Corpus all = read_corpus(text, {.reading = Reading::lines, .valid = 0});
  CHECK(all.tokenizer.symbols() == std::vector<std::string>{"\n", "a", "b"});
  CHECK(all.train.tokens == Ids{0, 2, 0, 1, 2, 0, 2, 1, 0});
  CHECK(all.train.starts == Starts{0, 2, 5, 8});
  CHECK(all.train.documents() == 3);
  CHECK(all.valid.tokens.empty());
  CHECK(all.valid.documents() == 0);

  std::string names;
  for (int i = 0; i < 100; ++i) names += "name" + std::to_string(i) + "\n";
  std::vector<std::vector<std::string>> drawn;
  for (const std::uint64_t seed : {1u, 2u, 1u}) {
    for (const double valid : {0.1, 10.0}) {
      const Corpus corpus = read_corpus(
          names, {.reading = Reading::lines, .tokens = Tokens::bpe, .valid = valid, .seed = seed});
      auto train = documents_of(corpus, corpus.train);
      drawn.push_back(documents_of(corpus, corpus.valid));
      CHECK(train.size() == 90);
      CHECK(drawn.back().size() == 10);
      // in the order of the text, and together the text
      std::string merged;
      auto t = train.begin(), v = drawn.back().begin();
      for (const std::string_view line : lines_of(names))
        merged += (t != train.end() && *t == line ? *t++ : *v++) + "\n";
      CHECK(merged == names);
    }
  }
  CHECK(drawn[0] == drawn[1]);
  CHECK(drawn[0] == drawn[4]);
  CHECK(drawn[0] != drawn[2]);
}

TEST_CASE("lines: merges are learned from the documents for training alone") {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    const Corpus corpus =
        read_corpus("ababab\nxyxyxy\n",
                    {.reading = Reading::lines, .tokens = Tokens::bpe, .valid = 1, .seed = seed});
    const bool first = documents_of(corpus, corpus.train).front() == "ababab";
    CHECK(corpus.tokenizer.find("ab").has_value() == first);
    CHECK(corpus.tokenizer.find("xy").has_value() == !first);
    CHECK(corpus.valid.size() == 6 + 2);
  }
}

TEST_CASE("facts: documents are compared whole, whichever the seed selects") {
  std::set<std::string> trained;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Corpus lines =
        read_corpus("a\na\na\nb\n", {.reading = Reading::lines, .valid = 3, .seed = seed});
    const std::string line = documents_of(lines, lines.train).at(0);
    trained.insert(line);
    CHECK(lines.facts.documents == 4);
    CHECK_THAT(lines.facts.repeated_share, WithinAbs(line == "a" ? 2.0 / 3 : 0, 1e-15));
    CHECK(lines.facts.unseen == (line == "a" ? 1 : 3));
  }
  CHECK(trained == std::set<std::string>{"a", "b"});
}

TEST_CASE("a corpus is read again with the symbols of a model") {
  for (const Tokens kind : {Tokens::character, Tokens::word, Tokens::byte, Tokens::bpe}) {
    for (const Reading reading : {Reading::stream, Reading::lines}) {
      const CorpusOptions options{.reading = reading, .tokens = kind, .valid = 0.5};
      const Corpus learned = read_corpus(birds_and_ducks, options);
      const Corpus again =
          read_corpus(birds_and_ducks, {.reading = reading, .valid = 0.5}, learned.tokenizer);
      CHECK(again.train.tokens == learned.train.tokens);
      CHECK(again.valid.tokens == learned.valid.tokens);
      CHECK(again.valid.starts == learned.valid.starts);
    }
  }
  const Tokenizer letters = read_corpus("ab\nba\n", {}).tokenizer, word(Tokens::word, "a");
  const CorpusOptions by_line{.reading = Reading::lines, .valid = 0};
  CHECK(refuses<UnknownSymbol>([&] { read_corpus("\r\nab\r\nax\n", by_line, letters); }, "'x'",
                               "byte 7", "3"));
  CHECK(refuses<ValueError>([&] { read_corpus("a", by_line, word); }, "line ends"));
}
