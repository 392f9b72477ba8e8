#include "examples/fledge/train/text_files.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "examples/fledge/train/run_place.h"
#include "examples/support/errors.h"
#include "examples/support/text.h"
#include "nn/io/files.h"
#include "nn/io/folder.h"
#include "nn/io/utf8.h"

namespace fledge::train {

namespace fs = std::filesystem;
using support::InputError;

namespace {

constexpr std::size_t most_names_shown = 6;  // names of files in a message
// Of a folder: with more of them a hint would take too long.
constexpr std::size_t most_names = 10'000;

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

bool is_folder_of_a_model(const fs::path& path) {
  std::error_code error;
  const auto has = [&](const char* name) { return fs::exists(path / name, error); };
  return has(run_file) || (has("config.json") && has("model.safetensors"));
}

bool is_text(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::optional<std::string> begin =
      Folder(path.parent_path().string()).beginning(name, 4096);
  return begin && begin->find('\0') == std::string::npos;
}

[[noreturn]] void refuse_many(const std::string& name) {
  throw InputError(support::quoted(name) + " has more than " +
                       support::thousands(static_cast<std::int64_t>(most_text_files)) +
                       " text files",
                   "join them to one file");
}

void add_folder(const std::string& folder, std::set<std::string>& files) {
  std::error_code error;
  const std::size_t before = files.size();
  fs::recursive_directory_iterator entry(folder, error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    const bool is_below = entry->is_directory(unknown);
    if (is_hidden(entry->path()) || (is_below && is_folder_of_a_model(entry->path())))
      entry.disable_recursion_pending();
    else if (entry->is_regular_file(unknown) && is_text(entry->path()))
      files.insert(entry->path().lexically_normal().string());
    if (files.size() > most_text_files) refuse_many(folder);
  }
  if (error)
    throw InputError("cannot read " + support::quoted(folder) + ": " + error.message(),
                     "name the files themselves");
  if (files.size() == before)
    throw InputError("there is no text file in the folder " + support::quoted(folder),
                     "name a text file");
}

// The file in the same folder that was most likely meant, or "".
std::string file_meant_by(const std::string& path) {
  const fs::path whole(path), folder = whole.parent_path();
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), none;
       !error && entry != none && names.size() <= most_names; entry.increment(error))
    if (std::error_code unknown; entry->is_regular_file(unknown))
      names.push_back(entry->path().filename().string());
  if (names.size() > most_names) return "";
  std::sort(names.begin(), names.end());  // folders have no order
  const std::string meant = support::closest(whole.filename().string(), names);
  return meant.empty() || meant == whole.filename() ? "" : (folder / meant).string();
}

// If the file does not exist and a file with a similar name does, the error suggests it.
std::string read_text_file(const std::string& path, const std::string& what_to_do) {
  try {
    return read_file(path);
  } catch (const FileError& error) {
    const bool exists = path == "-" || access(path.c_str(), F_OK) == 0;
    const std::string meant = exists ? "" : file_meant_by(path);
    throw InputError(error.what(),
                     meant.empty() ? what_to_do : "did you mean " + support::quoted(meant) + "?");
  }
}

// The name that iconv has for the encoding, if the first bytes show one that is not UTF-8: by a byte
// order mark, or by zeros in every other byte of Latin letters. "" otherwise.
std::string other_encoding(std::string_view text) {
  using namespace std::string_view_literals;
  if (text.starts_with("\xFF\xFE\0\0"sv) || text.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return "UTF-16";
  const std::string_view begin = text.substr(0, 4096);
  std::size_t zeros[2] = {};  // at even and at odd places
  for (std::size_t at = 0; at < begin.size(); ++at) zeros[at % 2] += begin[at] == '\0';
  const auto are_high_bytes = [&](std::size_t some, std::size_t others) {
    return text.size() % 2 == 0 && some > begin.size() / 4 && others == 0;
  };
  return are_high_bytes(zeros[1], zeros[0])   ? "UTF-16LE"
         : are_high_bytes(zeros[0], zeros[1]) ? "UTF-16BE"
                                              : "";
}

void require_utf8(const std::string& text, const std::string& file, const FileRules& rules) {
  const std::string name = name_of_files({file}), encoding = other_encoding(text);
  if (!encoding.empty())
    throw InputError(name + " is " + encoding + ", not UTF-8",
                     "convert it: iconv -f " + encoding + " -t UTF-8" +
                         (file == "-" ? "" : " " + support::shell_word(file)) + " > new.txt");
  if (const std::size_t wrong = first_not_utf8(text); wrong != std::string::npos)
    throw InputError(name + " is not UTF-8 at byte " + std::to_string(wrong), rules.not_utf8);
}

// Adds the text of a file, without what is left out.
void add_file(std::string_view file, bool keep_cr, FileText& to) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (file.starts_with(mark)) {
    file.remove_prefix(mark.size());
    ++to.marks;
  }
  if (!to.text.empty() && !to.text.ends_with('\n') && !file.empty()) to.text += '\n';
  if (!keep_cr && file.find('\n') == std::string_view::npos) {
    to.line_ends += std::count(file.begin(), file.end(), '\r');
    for (const char c : file) to.text += c == '\r' ? '\n' : c;
    return;
  }
  for (std::size_t end = 0; !file.empty(); file.remove_prefix(end)) {
    end = keep_cr ? std::string_view::npos : file.find("\r\n");
    to.text += file.substr(0, end);
    if (end == std::string_view::npos) return;
    ++to.returns;
    ++end;
  }
}

}  // namespace

std::vector<std::string> text_files(const std::vector<std::string>& names) {
  std::error_code error;
  for (const std::string& name : names)
    if (is_folder_of_a_model(name))
      support::refuse_usage(support::quoted(name) + " is the folder of a model, not of texts",
                            "--resume " + support::shell_word(name) +
                                " goes on with its run, FILE --from " + support::shell_word(name) +
                                " trains it on another text");
  const bool is_one = names.size() < 2;
  if (is_one && (names.empty() || names[0] == "-" || !fs::is_directory(names[0], error)))
    return names;
  std::set<std::string> files;
  for (const std::string& name : names)
    if (fs::is_directory(name, error))
      add_folder(name, files);
    else
      files.insert(fs::path(name).lexically_normal().string());
  if (files.size() > most_text_files) refuse_many(names[0]);
  return {files.begin(), files.end()};
}

std::string FileText::report(const std::string& how_to_keep) const {
  std::string said;
  if (marks > 0)
    said = marks == 1 ? "A byte order mark was left out."
                      : support::thousands(marks) + " byte order marks were left out.";
  if (returns > 0)
    said += std::string(said.empty() ? "" : " ") +
            "The text has line ends of Windows: " + support::thousands(returns) + " \\r " +
            (returns == 1 ? "was" : "were") + " left out" + how_to_keep + ".";
  if (line_ends > 0)
    said += std::string(said.empty() ? "" : " ") +
            "The text has \\r alone as line ends: " + support::thousands(line_ends) +
            (line_ends == 1 ? " was" : " were") + " read as \\n" + how_to_keep + ".";
  return said;
}

FileText joined_text(const std::vector<std::string>& files, const FileRules& rules) {
  FileText all;
  for (const std::string& file : files) {
    const std::string text = read_text_file(file, rules.not_found);
    if (rules.needs_utf8) require_utf8(text, file, rules);
    add_file(text, rules.keep_cr, all);
  }
  return all;
}

std::string name_of_files(const std::vector<std::string>& files) {
  if (files.empty()) return "the built-in text";
  if (files[0] == "-") return "standard input";
  const auto others = static_cast<std::int64_t>(files.size()) - 1;
  return support::quoted(files[0]) +
         (others > 0 ? " and " + support::counted(others, "other file") : "");
}

std::string names_of_files(const std::vector<std::string>& files) {
  if (files.size() < 2) return name_of_files(files);
  std::string names;
  for (std::size_t i = 0; i < std::min(files.size(), most_names_shown); ++i)
    names += (i > 0 ? ", " : "") + support::quoted(files[i]);
  const auto hidden =
      static_cast<std::int64_t>(files.size()) - static_cast<std::int64_t>(most_names_shown);
  return support::counted(static_cast<std::int64_t>(files.size()), "file") + ": " + names +
         (hidden > 0 ? " and " + support::thousands(hidden) + " more" : "");
}

}  // namespace fledge::train
