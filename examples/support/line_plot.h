// A LinePlot (plots.h) as a picture.
#pragma once

#include "examples/support/plots.h"
#include "examples/support/svg.h"

namespace support {

/// 720 pixels wide.
Svg plot_picture(const LinePlot& plot);

}  // namespace support
