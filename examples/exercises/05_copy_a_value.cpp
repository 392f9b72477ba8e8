// Exercise 5. A query that copies a value.  The question: make exercises N=5
#include "examples/exercises/exercise.h"

Row exercises::copying_query() { return {FILL, FILL, FILL, FILL}; }
