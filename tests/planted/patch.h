// Finding a text in a source and putting another in its place. White space does not count, so that
// laying a source out anew leaves the table as it is.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace planted {

/// A text without its white space, and where each letter stood.
struct Dense {
  std::string letters;
  std::vector<std::size_t> places;

  explicit Dense(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (std::isspace(static_cast<unsigned char>(text[i])) != 0) continue;
      letters += text[i];
      places.push_back(i);
    }
  }
};

/// How often `find` stands in `text`; they may not overlap.
inline std::size_t occurrences(std::string_view text, std::string_view find) {
  const std::string source = Dense(text).letters, wanted = Dense(find).letters;
  if (wanted.empty()) return 0;
  std::size_t count = 0, at = source.find(wanted);
  for (; at != std::string::npos; at = source.find(wanted, at + wanted.size())) ++count;
  return count;
}

/// `text` with the first `find` replaced; the text itself when there is none.
inline std::string patched(std::string_view text, std::string_view find, std::string_view replace) {
  const Dense source(text), wanted(find);
  const std::size_t at = source.letters.find(wanted.letters);
  if (wanted.letters.empty() || at == std::string::npos) return std::string(text);
  const std::size_t begin = source.places[at];
  const std::size_t last = source.places[at + wanted.letters.size() - 1];
  return std::string(text.substr(0, begin)).append(replace).append(text.substr(last + 1));
}

}  // namespace planted
