// Bytes as text: base64 (RFC 4648). A page decodes it with one call.
#pragma once

#include <string>

namespace fledge::page {

std::string base64(const std::string& bytes);
/// The opposite direction. Throws FormatError for a text that base64() does not write.
std::string base64_decoded(const std::string& text);

}  // namespace fledge::page
