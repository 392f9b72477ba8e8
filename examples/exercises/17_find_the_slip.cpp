// Exercise 17. Six cards: right, or a slip?  The question: make exercises N=17
#include "examples/exercises/exercise.h"

Row exercises::card_answers() {
  return {FILL, FILL, FILL, FILL, FILL, FILL};  // cards 1 to 6: RIGHT or SLIP
}

Row exercises::card_numbers() {
  return {FILL,   // card 1: v3'.v3
          FILL};  // card 3: the first fraction at b = 2
}
