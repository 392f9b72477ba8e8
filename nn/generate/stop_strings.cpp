#include "nn/generate/stop_strings.h"

#include <algorithm>
#include <utility>

#include "engine/base/errors.h"
#include "nn/io/utf8.h"

namespace fledge {

namespace {

// The size of a text without an incomplete code point at its end.
std::size_t whole_size(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const std::size_t at = text.size() - back;
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead >= 0x80 && lead < 0xC0) continue;
    const CodePoint point = code_point_at(text, at);
    const bool may_go_on = lead >= 0xC2 && lead <= 0xF4 && !point.valid && point.bytes == back;
    return may_go_on ? at : text.size();
  }
  return text.size();
}

}  // namespace

StopStringFilter::StopStringFilter(std::vector<std::string> stops) : stops_(std::move(stops)) {
  for (const std::string& stop : stops_)
    require<ValueError>(!stop.empty(), "StopStringFilter", "a stop string must not be empty");
}

// The number of held bytes that cannot be the beginning of a stop string or of a code point.
std::size_t StopStringFilter::safe_size() const {
  const std::string_view text = held_;
  std::size_t size = text.size();
  for (const std::string_view stop : stops_)
    for (std::size_t n = std::min(stop.size() - 1, text.size()); n > 0; --n)
      if (text.substr(text.size() - n) == stop.substr(0, n)) {
        size = std::min(size, text.size() - n);
        break;
      }
  return whole_size(text.substr(0, size));
}

std::string StopStringFilter::feed(std::string_view bytes) {
  if (stopped_) return {};
  held_ += bytes;
  std::size_t first = std::string::npos, end = std::string::npos;
  for (const std::string& stop : stops_) {
    const std::size_t at = held_.find(stop);
    if (at == std::string::npos || at + stop.size() > end) continue;
    first = at + stop.size() == end ? std::min(first, at) : at;
    end = at + stop.size();
  }
  stopped_ = end != std::string::npos;
  const std::size_t size = stopped_ ? first : safe_size();
  std::string now = held_.substr(0, size);
  held_.erase(0, stopped_ ? held_.size() : size);
  return now;
}

std::string StopStringFilter::rest() { return std::exchange(held_, {}); }

}  // namespace fledge
