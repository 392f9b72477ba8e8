// What each op of a program (README.md) is in fledge.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/ops.h"
#include "nn/io/json.h"

namespace parity {

using namespace fledge;

/// The arguments, and the step with its attributes.
using Op = std::function<Tensor(const std::vector<Tensor>&, const JsonValue& step)>;

/// The ops by their names in programs. The first word of a name is the op's name in engine/ops.h.
const std::map<std::string, Op>& ops();

}  // namespace parity
