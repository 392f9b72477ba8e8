// Exercise 15. The smallest head for given scores
//
// The size D of a head is how many numbers a query or a key has. Four queries
// and four keys give a table of 16 scores: S_ij = q_i.k_j. Make this one:
//               key 1   key 2   key 3   key 4
//    query 1      1       0       3       1
//    query 2      2       1       0       1
//    query 3      3       1       3       2
//    query 4      0      -1       6       1
// Which is the smallest D that can make this table exactly? Give D, and four
// queries and four keys of this size: replace each {FILL} by D numbers.
// Lesson attention/09_why_q_and_k prepares this. It answers a sentence of the
// note: that two matrices enrich the scores "with as much information as
// possible".
#include "examples/exercises/exercise.h"

namespace exercises {

double smallest_head_size() { return FILL; }

// Four rows of D numbers each.
Matrix table_queries() {
  return {{FILL},   // query 1
          {FILL},   // query 2
          {FILL},   // query 3
          {FILL}};  // query 4
}

Matrix table_keys() {
  return {{FILL},   // key 1
          {FILL},   // key 2
          {FILL},   // key 3
          {FILL}};  // key 4
}

}  // namespace exercises
