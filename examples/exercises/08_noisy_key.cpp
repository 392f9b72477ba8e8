// Exercise 8. How far a noisy key is from its mean
//
// The note draws a key k from the normal distribution N(m, alpha I). The vector
// m is its mean, and the matrix alpha I says how it varies: each number of k is
// drawn on its own, and has the variance alpha. The variance is the mean of the
// squared distance from the mean.
// The program draws each number of a key as m + d x. Here m is the mean of this
// number, x is a random number with the mean 0 and the variance 1, and d is a
// fixed number: the standard deviation.
// Which d gives the distribution N(m, alpha I)? Write it as a formula of alpha.
// The program draws 4000 keys for each of three alphas, and measures.
// Lesson attention/12_noisy_keys prepares this.
#include "examples/exercises/exercise.h"

namespace exercises {

double deviation_of_key([[maybe_unused]] double alpha) { return FILL; }

}  // namespace exercises
