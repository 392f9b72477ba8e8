#include "workshop.h"

#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "patch.h"

namespace planted {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!(text << file.rdbuf()) && fs::file_size(path) > 0)
    throw std::runtime_error("cannot read " + path.string());
  return text.str();
}

namespace {

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

void touch(const fs::path& path) { fs::last_write_time(path, fs::file_time_type::clock::now()); }

void refresh_file(const fs::path& from, const fs::path& to) {
  const std::string text = contents(from);
  if (fs::exists(to) && contents(to) == text) return;
  fs::create_directories(to.parent_path());
  write_file(to, text);
}

/// `to` becomes `from`: files that are not there any more go.
void refresh_folder(const fs::path& from, const fs::path& to) {
  std::set<fs::path> wanted;
  for (const auto& entry : fs::recursive_directory_iterator(from))
    if (entry.is_regular_file()) wanted.insert(fs::relative(entry.path(), from));
  for (const fs::path& path : wanted) refresh_file(from / path, to / path);
  std::vector<fs::path> gone;
  for (const auto& entry : fs::recursive_directory_iterator(to))
    if (entry.is_regular_file() && !wanted.contains(fs::relative(entry.path(), to)))
      gone.push_back(entry.path());
  for (const fs::path& path : gone) fs::remove(path);
}

}  // namespace

std::map<std::string, std::string> originals_of(const fs::path& sources,
                                                const std::vector<Bug>& bugs) {
  std::map<std::string, std::string> originals;
  for (const Bug& bug : bugs) {
    const std::string file(bug.file);
    if (!originals.contains(file))
      originals[file] = fs::exists(sources / file) ? contents(sources / file) : "";
  }
  return originals;
}

std::string entries_that_do_not_apply(const std::vector<Bug>& bugs,
                                      const std::map<std::string, std::string>& originals) {
  std::string faults;
  for (const Bug& bug : bugs) {
    const std::size_t count = occurrences(originals.at(std::string(bug.file)), bug.find);
    if (count == 1) continue;
    faults.append(bug.name).append(": stands ").append(std::to_string(count));
    faults.append(" times in ").append(bug.file).append(", not once: ").append(bug.find) += '\n';
  }
  return faults;
}

Workshop::Workshop(const Path& sources, const Path& folder,
                   const std::map<std::string, std::string>& originals)
    : folder_(folder), originals_(originals) {
  for (const char* part : {"engine", "nn", "examples", "tests", ".cmake"})
    if (fs::exists(sources / part)) refresh_folder(sources / part, source() / part);
  refresh_file(sources / "CMakeLists.txt", source() / "CMakeLists.txt");
  for (const auto& [file, text] : originals)
    if (contents(source() / file) != text) write_file(source() / file, text);
}

void Workshop::take_over_build(const Workshop& other) const {
  const std::string here = folder_.string(), there = other.folder_.string();
  if (here.size() != there.size())
    throw std::logic_error(here + " and " + there + " are not of one length");
  fs::remove_all(build());
  fs::copy(other.build(), build(), fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  bool renamed = false;
  // make compares times, and GCC takes two headers for one only when theirs are equal.
  for (const char* part : {"source", "build"})
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / part)) {
      if (!entry.is_regular_file() || entry.is_symlink()) continue;
      const fs::path& path = entry.path();
      std::string text = contents(path);
      bool names_other = false;
      for (std::size_t at = 0; (at = text.find(there, at)) != text.npos; names_other = true)
        text.replace(at, there.size(), here);
      // A precompiled header is found by its place; what else it holds is not for us to change.
      if (names_other && path.extension() != ".gch") {
        write_file(path, text);
        renamed = true;
      }
      fs::last_write_time(path, fs::last_write_time(other.folder_ / fs::relative(path, folder_)));
    }
  if (!renamed) throw std::runtime_error("nothing in " + there + " names that folder");
}

// A header with named callers keeps its time, and the callers alone look new to make.
void Workshop::write(const Bug& bug, const std::string& text) const {
  const fs::path path = source() / bug.file;
  const auto before = fs::last_write_time(path);
  write_file(path, text);
  if (bug.callers.empty()) return touch(path);
  fs::last_write_time(path, before);
  std::istringstream callers{std::string(bug.callers)};
  for (std::string caller; callers >> caller;) touch(source() / caller);
}

void Workshop::plant(const Bug& bug) {
  const std::string file(bug.file);
  const bool another = changed_ != file || planted_.callers != bug.callers;
  if (!changed_.empty() && another) write(planted_, originals_.at(changed_));
  write(bug, patched(originals_.at(file), bug.find, bug.replace));
  changed_ = file;
  planted_ = bug;
}

}  // namespace planted
