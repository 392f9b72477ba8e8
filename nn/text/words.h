// Words and their numbers.
//
// Not here: characters, bytes and pairs of bytes. A word is what stands between white space, and is
// numbered in the order of first appearance.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/real.h"

namespace fledge {

/// The pieces of a text between spaces, tabs and line ends.
std::vector<std::string> split_words(std::string_view text);

class Vocabulary {
 public:
  /// The number of a word, which is added if it is new.
  Dim add(const std::string& word);
  /// The number of a word, if it has one.
  std::optional<Dim> find(const std::string& word) const;
  /// The word with this number. Throws ValueError when there is none.
  const std::string& word(Dim id) const;
  /// Numbers of all words of a text. Throws ValueError naming the first word that is not known.
  std::vector<Dim> encode(std::string_view text) const;

  Dim size() const { return static_cast<Dim>(words_.size()); }

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string, Dim> ids_;
};

}  // namespace fledge
