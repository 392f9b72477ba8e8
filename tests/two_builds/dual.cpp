// Compiled for Dual.
#include "tests/two_builds/dual.h"

#include "engine/ops.h"

const std::type_info& two_builds::shape_of_dual_build() { return typeid(fledge::Shape); }
const std::type_info& two_builds::tensor_of_dual_build() { return typeid(fledge::Tensor); }
int two_builds::threads_of_dual_build() { return fledge::threads(); }
void two_builds::refuse_in_dual_build() {
  fledge::matmul(fledge::Tensor(fledge::Array::ones({2, 3})),
                 fledge::Tensor(fledge::Array::ones({2, 3})));
}
