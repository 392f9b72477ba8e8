// What the files of the exercises share: the blank FILL, and the functions that they define.
//
// An answer is made of numbers or of lines of code. FILL stands where an answer is missing. It is a NaN ("not a number"),
// so that a file with blanks compiles. Replace it by a number, a formula or lines of code; std::exp,
// std::log and std::sqrt can be used. README.md says how an answer is checked.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/indices.h"
#include "engine/tensor.h"

namespace exercises {

/// A NaN with bits of its own: 0.0 / 0.0 is another NaN, and no blank.
inline constexpr double FILL = std::bit_cast<double>(std::uint64_t{0x7ff8'0000'0000'f111});

using fledge::Tensor;
using Row = std::vector<double>;
using Matrix = std::vector<Row>;  // {{first row}, {second row}, …}

/// Two answers to "is this statement right?".
inline constexpr double RIGHT = 1, SLIP = 0;

/// Exercise 4: word j of the row of 'walk'.
struct ScoredWord {
  double weight;   // a_j
  double product;  // v_j·v1
  double mixture;  // v3'·v1
};

/// Exercise 19: a number on a tape, and how it changes with each number that it was computed from.
struct Edge {
  std::size_t input;  // its place on the tape
  double slope;       // ∂value/∂input
};
struct Node {
  double value;
  std::vector<Edge> edges = {};
  double gradient = 0;  // ∂y/∂value, where y is the last node
};
using Tape = std::vector<Node>;

/// Exercise 22.
struct Attention {
  Tensor scores, weights, output;
};

/// Exercise 7: the query c1·k1 + c2·k2 + c3·k3 + c4·k4.
Row along_keys(const Row& c);

// What the files define, by number.
Row forgetting_row();                                                    // 1
Row nearest_row();                                                       // 2
double largest_product();                                                // 2
double product_with_sometimes();                                         // 3
Row control_row();                                                       // 3
double gradient_of_score(const ScoredWord& word);                        // 4
Row copying_query();                                                     // 5
Row averaging_query();                                                   // 6
Row three_to_one_query();                                                // 7
double deviation_of_key(double alpha);                                   // 8
Matrix bird_query_matrix();                                              // 9
Matrix bird_key_matrix();                                                // 9
double is_hidden(int row, int column);                                   // 10
Row same_vector_of_bites();                                              // 11
Matrix plumbing_query_matrix();                                          // 12
Matrix plumbing_key_matrix();                                            // 12
Matrix plumbing_value_matrix();                                          // 13
Matrix game_query_matrix();                                              // 14
Matrix game_key_matrix();                                                // 14
double smallest_head_size();                                             // 15
Matrix table_queries();                                                  // 15
Matrix table_keys();                                                     // 15
double wrong_line();                                                     // 16
fledge::Tensor sharpened_weights(const fledge::Tensor& s, double beta);  // 16: softmax(beta·s)
Row card_answers();                                                      // 17
Row card_numbers();                                                      // 17
Row smallest_model();                                                    // 18

// 19 to 24 build the engine.
Node product(const Tape& tape, std::size_t a, std::size_t b);                          // 19
void pull_back(Tape& tape);                                                            // 19
Tensor gradient_of_a(const Tensor& A, const Tensor& B, const Tensor& dC);              // 20
Tensor gradient_of_b(const Tensor& A, const Tensor& B, const Tensor& dC);              // 20
Tensor softmax_rule(const Tensor& y, const Tensor& dy);                                // 21
Attention attend(const Tensor& q, const Tensor& k, const Tensor& v);                   // 22
double is_seen(const std::vector<int>& sentence, std::size_t query, std::size_t key);  // 23
Tensor masked_weights(const Tensor& scores, const Tensor& seen);                       // 23
double training_step(const Tensor& W, const Tensor& x, const fledge::Indices& next,
                     double rate);  // 24

}  // namespace exercises

using exercises::Matrix, exercises::Row, exercises::Tensor;
