// Writes a page to the file that the user names.
#pragma once

#include <string>
#include <string_view>

namespace support {

/// What fledge writes to one file. Its first lines have `mark`, which says that fledge made it.
struct OutputKind {
  std::string_view noun, mark, example;  // "page", …, "page.html"
};

/// Throws CommandError unless such a file can be written there: a file can be made in the folder,
/// which is tried, and the path is free, or has an empty file or one of this kind that fledge made.
/// `makes_folder`: the folder may be missing, because it is made before the file.
void require_place(const std::string& path, const OutputKind& kind, bool makes_folder = false);

/// Replaces the file, or makes it: writes beside it, syncs, renames. Throws as above, and
/// CommandError if writing fails; then the file is as it was.
void write_output(const std::string& path, std::string_view text, const OutputKind& kind);

}  // namespace support
