// Exercise 10. The mask when queries are columns.  The question: make exercises N=10
#include "examples/exercises/exercise.h"

double exercises::is_hidden([[maybe_unused]] int row, [[maybe_unused]] int column) { return FILL; }
