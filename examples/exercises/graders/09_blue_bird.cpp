#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/table.h"

namespace exercises {

using support::formatted;

namespace {

const char* const bird_words[] = {"the", "fluffy", "blue", "bird"};

/// Why 'bird' gives 'blue' too little, as a sentence.
std::string wrong_look(double query, const Row& keys, double weight) {
  if (query == 0) return "the query of 'bird' is 0, so all scores are 0 and all weights are equal";
  if (keys[1] == keys[2])
    return formatted(
        "'fluffy' and 'blue' have the same key, and so the same weight, %.4f: the key must use "
        "what differs between them",
        weight);
  std::size_t best = 2;
  for (const std::size_t j : {0u, 1u, 3u})
    if (query * keys[j] >= query * keys[best]) best = j;
  if (best != 2)
    return (best == 3 ? std::string("'bird' itself") : formatted("'%s'", bird_words[best])) +
           (query * keys[best] > query * keys[2] ? " has a larger score than 'blue'"
                                                 : " has the same score as 'blue'");
  return formatted("'bird' gives 'blue' %.4f: its score is not far enough above the others",
                   weight);
}

void grade_blue_bird(Grading& to) {
  const Matrix W_Q = bird_query_matrix(), W_K = bird_key_matrix();
  const bool has_Q = to.accept("your W_Q", W_Q, 4, 1), has_K = to.accept("your W_K", W_K, 4, 1);
  if (!has_Q || !has_K) return;
  const fledge::Tensor X = tensor({{0, 0, 0, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}, {1, 0, 0, 0}});
  const fledge::Tensor q = matmul(X, tensor(W_Q)), k = matmul(X, tensor(W_K));
  const Row weights = matrix_of(softmax(matmul(q, transpose(k)), fledge::causal()))[3];
  const double query = matrix_of(q)[3][0];
  Row keys;
  support::Table table({{"'bird' looks at"}, {"query"}, {"key"}, {"score"}, {"weight"}});
  for (std::size_t j = 0; j < 4; ++j) {
    const double key = matrix_of(k)[j][0];
    keys.push_back(key);
    table.row({bird_words[j], formatted("%.6g", query), formatted("%.6g", key),
               formatted("%.6g", query * key + 0.0), formatted("%.4f", weights[j])});
  }
  to.show(table.text());
  to.claim(weights[2] > 0.9, "'bird' gives 'blue' more than 0.9",
           wrong_look(query, keys, weights[2]));
  to.claim(weights[1] < 0.05, "'bird' gives 'fluffy' less than 0.05",
           formatted("'bird' gives 'fluffy' %.4f", weights[1]));
  to.conclude(
      "The shortest answer: the query comes from 'noun' alone, and the key from 'blue' alone. The learned matrices of a model can "
      "hold such a rule, or a mixture of several; nothing names it.");
}

}  // namespace

Exercise blue_bird() {
  return {
      "09_blue_bird",
      "'bird' looks at 'blue'",
      "note 002",
      grade_blue_bird,
      {"Only the query of 'bird' counts. 'bird' is a noun and nothing else, so its query is the "
       "first number of W_Q.",
       "Which number of a row tells 'blue' from all other words? Only this number of W_K should "
       "differ from 0.",
       "If the scores of the other three words are 0, 'blue' needs a score of ln 27 = 3.3 or "
       "more. Take a query of 5 and a key of 1."}};
}

}  // namespace exercises
