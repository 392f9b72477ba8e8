#include "examples/page/plan.h"

#include "nn/io/errors.h"
#include "tests/support/catch.h"

using namespace fledge;
using namespace fledge::page;

namespace {

Corpus corpus_of(Reading reading) {
  return read_corpus("birds walk\ncats walk too\nbirds fly\n",
                     {.reading = reading, .tokens = Tokens::word, .valid = 0});
}

}  // namespace

TEST_CASE("SnapshotSteps: the first steps are dense, the last is full") {
  const SnapshotSteps steps{500};
  for (const int step : {0, 1, 2, 5, 10, 20, 50, 100, 200, 500}) CHECK(steps.is_full(step));
  CHECK_FALSE(steps.is_full(3));
  CHECK_FALSE(steps.is_full(300));
  int count = 0;
  for (int step = 0; step <= 500; ++step) count += steps.has(step);
  CHECK(count > 30);
  CHECK(count < 40);
  const SnapshotSteps few{3};
  for (int step = 0; step <= 3; ++step) CHECK(few.has(step));
}

TEST_CASE("default_plan: sentences of the text, and what follows them") {
  const Corpus lines = corpus_of(Reading::lines);
  const Plan plan = default_plan(lines, 10);
  REQUIRE(plan.sentences.size() == 3);
  CHECK(lines.tokenizer.decode(plan.sentences[0].ids) == "\nbirds walk");
  CHECK(lines.tokenizer.decode(plan.sentences[2].ids) == "\nbirds fly");
  for (const Plan::Sentence& sentence : plan.sentences)
    CHECK(sentence.next == lines.tokenizer.find("\n"));  // the end of the document
  CHECK(plan.end == lines.tokenizer.find("\n"));
  CHECK(plan.map.size() == static_cast<std::size_t>(lines.tokenizer.size()));
  CHECK(lines.tokenizer.symbols()[static_cast<std::size_t>(plan.map[0])] == "\n");  // most frequent

  const Corpus stream = corpus_of(Reading::stream);
  const Plan other = default_plan(stream, 4);
  for (const Plan::Sentence& sentence : other.sentences) CHECK(sentence.ids.size() == 4);
  CHECK_FALSE(other.end);
  CHECK_FALSE(other.sentences.back().next);  // the text is over

  const std::string poem = "a cat sat\na dog ran\nthe bird sang\na fish swam\nthe owl slept\nend";
  const Corpus letters =
      read_corpus(poem, {.reading = Reading::stream, .tokens = Tokens::character, .valid = 0});
  for (const Plan::Sentence& sentence : default_plan(letters, 8).sentences) {
    const std::string excerpt = letters.tokenizer.decode(sentence.ids);
    CHECK(("\n" + poem).find("\n" + excerpt) != std::string::npos);  // it begins a line
  }
}

TEST_CASE("plan_event: read_plan() reads it again") {
  const Corpus corpus = corpus_of(Reading::lines);
  Plan plan = default_plan(corpus, 10);
  plan.sentences[1].next.reset();
  plan.watch.push_back({"walk", "birds", "cats", 5, 1, 2});
  const std::string text = Json::object(plan_event(plan)).text();
  const Plan read = read_plan(read_json(text), corpus.tokenizer.size(), 10);
  CHECK(Json::object(plan_event(read)).text() == text);
}

TEST_CASE("read_plan: refuses tokens that the model does not have, and missing parts") {
  const Corpus corpus = corpus_of(Reading::lines);
  const std::string text = Json::object(plan_event(default_plan(corpus, 10))).text();
  CHECK_THROWS_AS(read_plan(read_json(text), 2, 10), FormatError);
  CHECK_THROWS_AS(read_plan(read_json(text), corpus.tokenizer.size(), 2), FormatError);
  for (const char* part : {"sentences", "prompts", "watch", "map", "continued"}) {
    std::string other = text;
    other.replace(other.find(part), 4, "none");
    CHECK_THROWS_AS(read_plan(read_json(other), corpus.tokenizer.size(), 10), FormatError);
  }
}
