// A table of gradients with mistakes in it, linked where the program has its own (op_cases.cpp and
// module_cases.cpp): what fledge gradcheck says of a gradient that is wrong. Compiled for Dual.
#include <limits>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/gradcheck/op_cases.h"
#include "nn/module_cases.h"

namespace fledge {

namespace {

using In = const std::vector<Tensor>&;

/// x² with dx = factor·x·dy; 2 is right.
Tensor square(const Tensor& x, double factor) {
  const Array X = x.value();
  return record("square", X * X,
                wrt(x, [X, factor](const Array& dy) { return dy * X * Real(factor); }));
}

}  // namespace

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> cases = {
      {"right", {{{2, 3}}}, [](In x) { return square(x[0], 2); }},
      {"halved", {{{2, 3}}}, [](In x) { return square(x[0], 1); }},
      {"doubled", {{{4}}, {{2, 2}}}, [](In x) { return sum(x[0]) + square(x[1], 4); }},
      {"silent", {{{5}}}, [](In x) { return square(x[0], 0); }},
      {"early",
       {{{4, 2}}},
       [](In x) {
         return concat({square(slice(x[0], 0, 0, 2), 3), square(slice(x[0], 0, 2, 4), 2)}, 0);
       }},
      {"throws", {{{3}}, {{2}}}, [](In x) { return x[0] + x[1]; }},
      {"unused", {{{2}}, {{3}}}, [](In x) { return square(x[0], 2); }},
      {"not finite",
       {{{3}}},
       [](In x) { return square(x[0], std::numeric_limits<double>::quiet_NaN()); }},
  };
  return cases;
}

const std::vector<ModuleCase>& module_cases() {
  static const std::vector<ModuleCase> cases;
  return cases;
}

}  // namespace fledge
