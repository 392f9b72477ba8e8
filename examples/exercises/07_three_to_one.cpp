// Exercise 7. Weights of three to one
//
// Keys and values are those of exercise 5. The keys are four vectors of length
// 1, and two different keys have the product 0. You give the query as a sum of
// the keys:
//    q = c1 k_1 + c2 k_2 + c3 k_3 + c4 k_4.
// The weights are the softmax of the scores k_j.q.
// Choose the four numbers c so that key 1 has the weight 0.75 and key 2 the
// weight 0.25, both within 0.001. So keys 3 and 4 have almost none.
// A formula is allowed, with std::exp, std::log or std::sqrt.
// Lesson attention/11_copy_and_average prepares this.
#include "examples/exercises/exercise.h"

namespace exercises {

Row three_to_one_query() {
  return along_keys({FILL,    // c1
                     FILL,    // c2
                     FILL,    // c3
                     FILL});  // c4
}

}  // namespace exercises
