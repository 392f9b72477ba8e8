#include <sstream>

#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/table.h"
#include "nn/layers/attention.h"

namespace exercises {

using support::formatted;

namespace {

struct Sentence {
  const char* words;
  const char* reason;
};

const Sentence sentences[] = {
    {"man bites dog", "a sum does not depend on the order of its terms"},
    {"bites man dog", "a sum does not depend on the order of its terms"},
    {"dog bites dog", "'man' is missing, and 'dog' has two terms"},
    {"dog dog bites man", "'dog' has two terms, and the others one: its share is larger"},
    {"dog bites man dog bites man",
     "each term occurs twice, above and below the fraction bar, so the fraction is the same"}};

/// Random vectors of the three words and random matrices.
class Model {
 public:
  Model() : rng_(1) {
    for (fledge::Tensor* matrix : {&words_, &query_, &key_, &value_})
      *matrix = fledge::random_normal({matrix == &words_ ? 3 : 4, 4}, 0, 1, rng_);
  }

  /// The new vector of the first 'bites'.
  Row vector_of_bites(const char* sentence) const {
    std::istringstream stream(sentence);
    std::vector<fledge::Tensor> rows;
    std::size_t place = 0, count = 0;
    for (std::string word; stream >> word; ++count) {
      const fledge::Dim id = word == "dog" ? 0 : word == "man" ? 1 : 2;
      if (id == 2 && place == 0) place = count;
      rows.push_back(slice(words_, 0, id, id + 1));
    }
    const fledge::Tensor X = concat(rows, 0);
    const auto result =
        fledge::attend(matmul(X, query_), matmul(X, key_), matmul(X, value_), 1, fledge::Mask());
    return matrix_of(result.output)[place];
  }

 private:
  fledge::Rng rng_;
  fledge::Tensor words_, query_, key_, value_;
};

void grade_word_order(Grading& to) {
  const Row answers = same_vector_of_bites();
  if (!to.accept("your answers", answers, std::size(sentences))) return;
  for (const double answer : answers)
    if (answer != 0 && answer != 1) {
      to.refuse(formatted("One answer is %g: each answer must be 0 or 1.", answer));
      return;
    }
  const Model model;
  const Row wanted = model.vector_of_bites("dog bites man");
  to.say("Computed with random vectors of four numbers and random matrices:");
  support::Table table({{"sentence"}, {"answer"}, {"largest difference"}});
  std::vector<double> apart;
  for (std::size_t i = 0; i < std::size(sentences); ++i) {
    apart.push_back(farthest({model.vector_of_bites(sentences[i].words)}, {wanted}));
    table.row({std::string("'") + sentences[i].words + "'", formatted("%g", answers[i]),
               apart[i] < 1e-12 ? "0, to rounding" : formatted("%.4f", apart[i])});
  }
  to.show(table.text());
  for (std::size_t i = 0; i < std::size(sentences); ++i) {
    const bool same = apart[i] < 1e-12;
    to.claim(answers[i] == (same ? 1 : 0), formatted("your answer for '%s'", sentences[i].words),
             std::string(same ? "The vector is the same: " : "The vector is another one: ") +
                 sentences[i].reason + ".");
  }
  to.conclude(
      "Without positions and without a mask, attention knows how often each word occurs compared "
      "with the others, and not in which order. So 'dog bites man' and 'man bites dog' are one "
      "sentence to it.");
}

}  // namespace

Exercise word_order() {
  return {"11_word_order",
          "What attention knows of word order",
          "note 002",
          grade_word_order,
          {"Write the two sums for 'dog bites man' and for 'man bites dog', term by term.",
           "The new vector depends only on how often each word occurs, compared with the others.",
           "In the last sentence each word occurs twice. What happens to a fraction if both sums "
           "are doubled?"}};
}

}  // namespace exercises
