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
};

}  // namespace tests
