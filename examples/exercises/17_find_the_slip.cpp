// Exercise 17. Six cards: right, or a slip?
//
// Each card has the words of a note. Is the statement right, or is there a
// mistake in it (a slip)? Some look wrong and are right. Answer RIGHT or SLIP.
// Two cards also ask for a number. Each answer is explained once it is given.
//
// 1 (000) "\hat{v}_3 \cdot v_3 = 0.18 * 0.1 + 0.11 * 0.2 + 0.01 * 0.3"
//   The vectors: v3' = (0.18, 0.11, 0.01), which the note writes \hat{v}_3,
//   v1 = (0.1, 0.2, 0.3) and v3 = (0.5, -0.1, -0.4).   Number: v3'.v3.
// 2 (001) "\text{if } M = A^T", then two lines on "\text{then } M = A A^T"
//   The columns of A have the length 1 and are at right angles. The sum s is
//   v_a + v_b, where v_a is A c, and A^T v_b is 0. M s must be v_a. The note
//   first tries M = A^T, and ends with M = A A^T. Is this end right?
// 3 (001) "\frac{\exp(\beta)}{\exp(\beta) + \exp(-\beta)} =
//   \frac{1}{1 + \exp(\beta)}"   that is: exp(b) / (exp(b) + exp(-b)) is equal
//   to 1 / (1 + exp(b)). The first fraction is the weight of key a, when keys a
//   and b have the scores b and -b.   Number: this fraction at b = 2, to 0.001.
// 4 (002) "the similarity results below the diagonal of the result matrix is
//   set to negative infinity", so that later words are hidden.
//   The note has queries in columns and keys in rows.
// 5 (003) The value matrix "translates them to a higher dimensional context
//   space". What it makes of a word is added to the vector of a word.
// 6 (004) With one matrix on both sides, "$A$ would end up a symmetric matrix,
//   nearly half its contents redundant". A is the table of scores, before the
//   softmax.
#include "examples/exercises/exercise.h"

namespace exercises {

Row card_answers() {
  return {FILL,   // card 1: RIGHT or SLIP
          FILL,   // card 2
          FILL,   // card 3
          FILL,   // card 4
          FILL,   // card 5
          FILL};  // card 6
}

Row card_numbers() {
  return {FILL,   // card 1: v3'.v3
          FILL};  // card 3: the first fraction at b = 2
}

}  // namespace exercises
