// Exercise 19. A tape.  The question: make exercises N=19
#include "examples/exercises/exercise.h"

// y = a·b, of the nodes at the places a and b
exercises::Node exercises::product(const Tape& tape, std::size_t a, std::size_t b) {
  return {tape[a].value * tape[b].value, {{a, FILL}, {b, FILL}}};
}

void exercises::pull_back(Tape& tape) {
  tape.back().gradient = FILL;
  // Your loop over the nodes, and over the edges of each.
}
