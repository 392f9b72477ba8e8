// What the dual build says of its types to a program that links both builds.
#pragma once

#include <typeinfo>

namespace two_builds {

const std::type_info& shape_of_dual_build();
const std::type_info& tensor_of_dual_build();
int threads_of_dual_build();
void refuse_in_dual_build();  // throws what the engine throws for shapes that do not fit

}  // namespace two_builds
