// For each wrong answer of wrong/*.cpp, a sentence that its grader must print.
#pragma once

#include <string>
#include <vector>

namespace tests {

struct WrongSentence {
  int exercise, variant;  // FLEDGE_WRONG
  std::string sentence;   // with one blank between two words
};

const std::vector<WrongSentence> wrong_sentences{
    {1, 0, "a weight of 0 on 'birds' does not undo that"},
    {1, 1, "your row adds up to 1.1: a legal row adds up to 1"},
    {1, 2, "It has 2 numbers; the exercise needs 3."},
    {1, 3, "Nearly 0. Write fractions, such as 0.09 / 0.23: four decimals are not enough."},
    {1, 4, "all weights are 0. Write 9.0 / 23, not 9 / 23: between whole numbers C++ drops"},
    {1, 5, "your row of 'walk': (not a number, 0, 1) A result is not a number. Examples"},
    {1, 6, "The numbers are too large: use numbers between -1e100 and 1e100."},
    {2, 0, "your row reaches 0.052, and another legal row reaches more"},
    {2, 1, "one weight is -1: a legal weight is 0 or more"},
    {2, 1, "FALSE your row reaches the most that a legal row can 0.37 is more than a legal"},
    {2, 2, "your number is 0.43, and your row gives 0.14"},
    {3, 0, "that is v3.v2, the product before attention"},
    {3, 0, "FALSE your row reaches the most that a legal row can another legal row reaches"},
    {3, 1, "that is the product for the row divided by its sum, 1.1"},
    {3, 2, "An infinite number is no answer"},
    {4, 0, "If all scores rise by the same number, no weight moves"},
    {4, 1, "a factor a_j is missing"},
    {4, 2, "yours have the opposite signs"},
    {4, 3, "yours is what a_j alone adds to L: the other two weights fall when a_j rises"},
    {5, 0, "the scores are too near: key 2 is ahead by 1, and gets 0.4754 of the weight"},
    {5, 1, "another key has a score as large or larger: q must point along k_2"},
    {5, 2, "It has 3 numbers; the exercise needs 4."},
    {5, 3, "The numbers are too large"},
    {6, 0, "keys 2 and 3 still have 0.2689 of the weight: a score of 0 adds exp(0) = 1"},
    {6, 1, "their scores differ by 10"},
    {6, 2, "keys 2 and 3 still have 0.5000 of the weight"},
    {6, 3, "their scores differ by 4000, so their weights are 1.0000 and 0.0000"},
    {6, 4, "their scores differ by"},
    {7, 0, "the scores differ by 20, and the ratio is exp of this difference: 4.852e+08"},
    {7, 1, "keys 3 and 4 have 0.3333 of the weight"},
    {7, 2, "It has 2 numbers; the exercise needs 4."},
    {7, 3, "your query: (inf, 0, 0, 0) An infinite number is no answer"},
    {7, 4, "A result is not a number."},
    {7, 5, "the scores differ by 1990, and the ratio is exp of this difference the weights"},
    {8, 0, "your d is alpha, as in the note. The variance of d x is d d"},
    {8, 1, "for alpha = 0.01 it is"},
    {8, 2, "a standard deviation is a distance"},
    {9, 0, "'fluffy' and 'blue' have the same key, and so the same weight"},
    {9, 1, "its score is not far enough above the others"},
    {9, 2, "Your W_Q must be 4 rows, each of 1 number."},
    {9, 3, "the query of 'bird' is 0, so all scores are 0 and all weights are equal"},
    {9, 4, "'bird' itself has a larger score than 'blue'"},
    {10, 0, "you hide key 0 from query 1, but it is not later: do not hide row 0, column 1"},
    {10, 1, "you hide key 0 from query 0, but it is not later: do not hide row 0, column 0"},
    {10, 2, "row 1, column 0 is 2: answer 1 for hidden, 0 for seen."},
    {10, 3, "row 1, column 0 is -inf: answer 1 for hidden, 0 for seen."},
    {11, 0, "each term occurs twice, above and below the fraction bar"},
    {11, 0, "FALSE your answer for 'dog bites man dog bites man' The vector is the same: each"},
    {11, 1, "a sum does not depend on the order of its terms"},
    {11, 2, "'dog' has two terms, and the others one"},
    {11, 3, "One answer is 0.5: each answer must be 0 or 1."},
    {12, 0, "without the division by sqrt(4) = 2 the row would be right"},
    {12, 1, "they must be 0.55/0.05 = 11 and 0.4/0.05 = 8"},
    {12, 2, "the differences of the scores are twice too large: halve the query or the keys"},
    {12, 3, "the weight of 'plumbing' is almost 0, and must be 0.05"},
    {13, 0, "your dE_2 alone is the wanted vector; the residual adds E_2 to it once more"},
    {13, 1, "dE_2 must be the wanted vector minus E_2"},
    {13, 2, "Your M_V must be 3 rows, each of 3 numbers."},
    {13, 3,
     "number 2 of E'_2 is 0.8, and must be 0.4. dE_2 must be the wanted vector minus E_2, "
     "so its number 2 must be 0.4"},
    {14, 0, "yours are symmetric, S_ij = S_ji, as those of one matrix"},
    {14, 1, "each looks at the one that beats it"},
    {14, 2,
     "3 of 3 players look mostly at the one they beat; the least weight is 0.5761: make the "
     "scores larger"},
    {14, 3, "all scores are 0, so no player prefers anyone"},
    {15, 0, "a smaller D makes it too: row 3 of the table is row 1 plus row 2"},
    {15, 1, "with D = 1 every row is a multiple of one row; here they are not"},
    {15, 2, "a query has at least one number"},
    {15, 3, "query 4 with key 1 has the score -1, and must have 0"},
    {15, 4, "Your queries must be 4 rows, each of 2 numbers."},
    {16, 0, "the rule is still wrong: for the score [1, 2] it gives -0.854"},
    {16, 1, "line 4 does what the formula says"},
    {16, 2, "the weights are no longer softmax(beta s)"},
    {16, 3, "the rule is still wrong: for the score ["},
    {16, 4, "The number must be 1, 2, 3 or 4."},
    {17, 0,
     "FALSE your answer to card 1 The note has a slip: 0.1, 0.2 and 0.3 are the numbers of v1"},
    {17, 0, "that is the second fraction; the first one is larger than one half"},
    {17, 1, "compute exp(2) / (exp(2) + exp(-2))"},
    {17, 2, "The answer must be RIGHT or SLIP."},
};

}  // namespace tests
