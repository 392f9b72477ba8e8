// The built-in text: birds that walk, fly, swim and sing, and a few others who do it differently.
#pragma once

#include <string_view>
#include <vector>

#include "engine/real.h"

namespace fledge::birds {

/// The sentences, in lower case; words stand between spaces, the last one is ".".
const std::vector<std::string_view>& sentences();

}  // namespace fledge::birds
