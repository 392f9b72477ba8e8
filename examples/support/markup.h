// Text from users inside HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace support {

/// The text with & < > " as entities and misleading characters like \x1b: safe between tags and in
/// an attribute between double quotes.
std::string markup_escaped(std::string_view text);

}  // namespace support
