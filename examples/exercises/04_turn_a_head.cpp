// Exercise 4. How a gradient turns a head
//
// 'walk' has a score s_j for each word j. The softmax makes the weights a_j of
// them: a_j = exp(s_j) / (exp(s_1) + exp(s_2) + exp(s_3)).
// The association is L = v3'.v1 = a_1 p_1 + a_2 p_2 + a_3 p_3, where p_j is the
// product v_j.v1 of word j: 0.14, -0.05 and -0.09.
// The gradient of s_j says how fast L rises if s_j rises a little. A score that
// has a positive gradient grows, and its word gets more weight.
// Write this gradient as a formula of three numbers:
//    word.weight    a_j
//    word.product   p_j
//    word.mixture   v3'.v1, the present value of L
// The program compares your formula with the program's own gradient,
// backward(), for all three words.
// Lesson attention/07_turning_a_head prepares this.
#include "examples/exercises/exercise.h"

namespace exercises {

double gradient_of_score([[maybe_unused]] const ScoredWord& word) { return FILL; }

}  // namespace exercises
