// Exercise 5. A query that copies a value
//
// A query q is compared with four keys. The score of key j is the dot product
// k_j.q, and the weights a_j are the softmax of the four scores. The result is
//    c = a_1 v_1 + a_2 v_2 + a_3 v_3 + a_4 v_4,   with the values
//    v_1 = (1, 0)   v_2 = (0, 1)   v_3 = (-1, 0)   v_4 = (0, -1).
// The keys have the length 1, and two different keys have the product 0:
//    k_1 = (0.5,  0.5,  0.5,  0.5)     k_2 = (0.5, -0.5,  0.5, -0.5)
//    k_3 = (0.5,  0.5, -0.5, -0.5)     k_4 = (0.5, -0.5, -0.5,  0.5)
// Choose q so that c is v_2, within 0.001 in both numbers.
// Lesson attention/11_copy_and_average prepares this.
#include "examples/exercises/exercise.h"

namespace exercises {

Row copying_query() { return {FILL, FILL, FILL, FILL}; }

}  // namespace exercises
