// The files of a text: several files and folders are read as one text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fledge::train {

/// The most files of a text. Their names are saved with the run.
inline constexpr std::size_t most_text_files = 10'000;

/// The files that these names stand for, sorted, each once. A folder stands for the text files in it
/// and below it: regular files without a NUL byte in their first 4096 bytes. Names that begin with a
/// dot and folders of models are skipped. A single name of a file and "-" stay as they are. Throws
/// InputError for a folder without text files, and for more than most_text_files; UsageError for a
/// name of a model's folder.
std::vector<std::string> text_files(const std::vector<std::string>& names);

/// How files are read as a text.
struct FileRules {
  bool needs_utf8 = true;
  bool keep_cr = false;                 // the \r of line ends, \r\n and \r
  std::string not_found{}, not_utf8{};  // what to do then
};

/// A text without what only encodes it.
struct FileText {
  std::string text;
  std::int64_t marks = 0, returns = 0;  // byte order marks, and \r in front of \n: left out
  std::int64_t line_ends = 0;           // \r read as \n, of files that have no \n

  /// What was changed, in sentences; "" if nothing was. `how_to_keep` returns: " (--keep-cr)".
  std::string report(const std::string& how_to_keep = "") const;
};

/// The texts of these files, one after the other, without their byte order marks and, unless they
/// are kept, without the \r of their line ends: \n stands for \r\n, and for \r in a file that has no
/// \n. A line end is added to a text in front of another if it does not end with one. "-": standard
/// input. Throws InputError, which suggests a file with a similar name, for one that is not there and,
/// if the rules need UTF-8, for one that is not UTF-8. Names UTF-16 and UTF-32.
FileText joined_text(const std::vector<std::string>& files, const FileRules& rules);

/// "poems.txt", "standard input", "the built-in text", or "a.txt and 2 other files".
std::string name_of_files(const std::vector<std::string>& files);
/// The same, but of several files the names of the first ones: "3 files: a.txt, b.txt, c.txt".
std::string names_of_files(const std::vector<std::string>& files);

}  // namespace fledge::train
