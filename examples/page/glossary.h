// The terms of a page. Their meanings are those of GLOSSARY.md.
#pragma once

namespace fledge::page {

struct Term {
  const char* name;
  const char* meaning;
};

inline constexpr Term glossary[] = {
    {"query", "The vector that stands for what a word looks for."},
    {"key",
     "The vector that stands for what a word can be found by; queries are compared with it."},
    {"score", "The dot product of a query and a key, divided by the square root of the head size."},
    {"softmax",
     "exp of each score, divided by the sum of all exp: positive numbers that add up to 1."},
    {"causal mask", "The mask that lets a word see itself and earlier words only."},
    {"embedding", "The vector that a table holds for each word; it is the same in every sentence."},
    {"loss",
     "The number that training makes small; it says how wrong the predictions of the model are."},
    {"floor",
     "The lowest loss that any model of one kind can reach; on a text, the lowest of all models that see only earlier words."},
    {"gradient", "All derivatives of one number: one for each number from which it is computed."},
    {"MLP",
     "A small network behind attention that changes the vector of each word by itself; short for multilayer perceptron."},
};

}  // namespace fledge::page
