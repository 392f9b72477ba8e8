// The words of a page. Their meanings are those of GLOSSARY.md.
#pragma once

namespace fledge::page {

struct Term {
  const char* name;
  const char* meaning;
};

inline constexpr Term glossary[] = {
    {"attention",
     "The computation that gives each word a new vector: a weighted sum of vectors of words in the text."},
    {"attention weight",
     "The share, from 0 to 1, that one word takes of the vector of another word or of its own; all shares that it takes add up to 1."},
    {"query", "The vector that stands for what a word looks for."},
    {"key",
     "The vector that stands for what a word can be found by; queries are compared with it."},
    {"value", "The vector that a word passes on; attention mixes values."},
    {"score", "The dot product of a query and a key, divided by the square root of the head size."},
    {"softmax",
     "exp of each score, divided by the sum of all exp: positive numbers that add up to 1."},
    {"head", "One attention with its own W_Q, W_K and W_V; a model may have several side by side."},
    {"causal mask", "The mask that lets a word see itself and earlier words only."},
    {"token", "A piece of text that the model treats as one, such as a word or a character."},
    {"embedding", "The vector that a table holds for each word; it is the same in every sentence."},
    {"loss",
     "The number that training makes small; it says how wrong the predictions of the model are."},
    {"floor",
     "The lowest loss that any model of one kind can reach; on a text, the lowest of all models that see only earlier words."},
    {"logit",
     "The number of a token that gives its probability: exp of it, divided by the sum of exp over all tokens."},
    {"step", "One small change of all the numbers that training changes."},
    {"seed",
     "The whole number from which a program derives all its random numbers; another seed gives other numbers."},
    {"parameter", "A number of the model that training changes."},
    {"gradient", "All derivatives of one number: one for each number from which it is computed."},
    {"cosine",
     "A number from -1 to 1 that compares the directions of two vectors: 1 for the same direction, 0 for a right angle, -1 for opposite ones."},
    {"layer norm (LayerNorm)",
     "A calculation that shifts and scales the numbers of a vector to mean 0 and variance 1, then multiplies each number by a parameter and adds another parameter."},
    {"MLP",
     "A small network behind attention that changes the vector of each word by itself; short for multilayer perceptron."},
    {"residual connection", "Adding the input of a calculation to its result: E' = E + dE."},
};

}  // namespace fledge::page
