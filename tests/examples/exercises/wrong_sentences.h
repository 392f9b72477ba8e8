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
    {1, 1, "your row sums to 1.1: a softmax gives 1"},
    {1, 2, "It has 2 numbers; the exercise needs 3."},
    {2, 0, "your row reaches 0.052, and another legal row reaches more"},
    {2, 1, "one weight is -1: a softmax gives only positive weights"},
    {2, 2, "your number is 0.43, and your row gives 0.14"},
    {3, 0, "that is v3.v2, the product before attention"},
    {3, 1, "that is the product for the row divided by its sum, 1.1"},
    {3, 2, "An infinite number is no answer"},
    {4, 0, "If all scores rise by the same number, no weight moves"},
    {4, 1, "a factor a_j is missing"},
    {4, 2, "yours have the opposite signs"},
    {5, 0, "the scores are too near: key 2 is ahead by 1, and gets 0.4754 of the weight"},
    {5, 1, "q must point along k_2"},
    {5, 2, "It has 3 numbers; the exercise needs 4."},
    {6, 0, "keys 2 and 3 still have 0.2689 of the weight: a score of 0 adds exp(0) = 1"},
    {6, 1, "their scores differ by 10"},
    {6, 2, "keys 2 and 3 still have 0.5000 of the weight"},
    {7, 0, "the scores differ by 20, and the ratio is exp of this difference"},
    {7, 1, "keys 3 and 4 have 0.3333 of the weight"},
    {7, 2, "It has 2 numbers; the exercise needs 4."},
    {8, 0, "your d is alpha, as in the note. The variance of d x is d d"},
    {8, 1, "for alpha = 0.01 it is"},
    {8, 2, "a standard deviation is a distance"},
    {9, 0, "'fluffy' and 'blue' have the same key, and so the same weight"},
    {9, 1, "its score is not far enough above the others"},
    {9, 2, "It must have 4 rows, each of 1 number."},
    {10, 0, "row 0, column 1: query 1 would look at key 0, which is not later; do not hide"},
    {10, 1, "row 0, column 0: query 0 would look at key 0, which is not later; do not hide"},
    {10, 2, "a place has another number than 0 or 1"},
    {11, 0, "each term occurs twice, above and below the fraction bar"},
    {11, 1, "a sum does not depend on the order of its terms"},
    {11, 2, "'dog' has two terms, and the others one"},
    {12, 0, "without the division by sqrt(4) = 2 the row would be right"},
    {12, 1, "they must be 0.55/0.05 = 11 and 0.4/0.05 = 8"},
    {13, 0, "your dE_2 alone is the wanted vector; the residual adds E_2 to it once more"},
    {13, 1, "dE_2 must be the wanted vector minus E_2"},
    {13, 2, "It must have 3 rows, each of 3 numbers."},
    {14, 0, "yours are symmetric, S_ij = S_ji, as those of one matrix"},
    {14, 1, "0 of 3 players look mostly at the right one"},
    {14, 2, "3 of 3 players look mostly at the right one; the least weight is 0.5761"},
    {15, 0, "a smaller D makes it too: row 3 of the table is row 1 plus row 2"},
    {15, 1, "With D = 1, rows depend on each other more"},
    {15, 2, "a query has at least one number"},
    {15, 3, "query 4 with key 1 has the score -1, and must have 0"},
    {16, 0, "the rule is still wrong: for the score [1, 2] it gives -0.854"},
    {16, 1, "line 4 does what the formula says"},
    {16, 2, "the weights are no longer softmax(beta s)"},
    {16, 3, "the rule is still wrong: for the score ["},
    {17, 0, "FALSE the note has a slip 0.1, 0.2 and 0.3 are the numbers of v1"},
    {17, 0, "that is the second fraction; the first one is larger than one half"},
    {17, 1, "compute exp(2) / (exp(2) + exp(-2))"},
    {17, 2, "The answer must be RIGHT or SLIP."},
};

}  // namespace tests
