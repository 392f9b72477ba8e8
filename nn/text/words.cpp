#include "nn/text/words.h"

#include <algorithm>

#include "engine/base/errors.h"

namespace fledge {

std::vector<std::string> split_words(std::string_view text) {
  constexpr std::string_view space = " \t\r\n\v\f";
  std::vector<std::string> words;
  std::size_t begin = text.find_first_not_of(space);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(space, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(space, end);
  }
  return words;
}

Dim Vocabulary::add(const std::string& word) {
  const auto [entry, added] = ids_.try_emplace(word, size());
  if (added) words_.push_back(word);
  return entry->second;
}

std::optional<Dim> Vocabulary::find(const std::string& word) const {
  const auto entry = ids_.find(word);
  return entry == ids_.end() ? std::nullopt : std::optional<Dim>(entry->second);
}

const std::string& Vocabulary::word(Dim id) const {
  require<ValueError>(id >= 0 && id < size(), "Vocabulary", "no word has number ", id,
                      "; there are ", size());
  return words_[static_cast<std::size_t>(id)];
}

std::vector<Dim> Vocabulary::encode(std::string_view text) const {
  std::vector<Dim> ids;
  for (const std::string& word : split_words(text)) {
    const auto id = find(word);
    require<ValueError>(id.has_value(), "Vocabulary", "the word '", word, "' is not in the text");
    ids.push_back(*id);
  }
  return ids;
}

}  // namespace fledge
