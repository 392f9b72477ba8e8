#include "tests/faults/tree.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace fledge::faults {

namespace files = std::filesystem;

Tree read_tree(const std::string& folder) {
  Tree tree;
  for (const auto& entry : files::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (entry.is_directory()) {
      tree[name + "/"] = "";
    } else {
      std::ifstream file(entry.path(), std::ios::binary);
      tree[name] = {std::istreambuf_iterator<char>(file), {}};
    }
  }
  return tree;
}

void write_tree(const std::string& folder, const Tree& tree) {
  files::create_directory(folder);
  for (const auto& [name, bytes] : tree) {  // a folder's name comes before those in it
    const std::string path = folder + "/" + name;
    if (name.ends_with('/')) {
      files::create_directory(path);
    } else {
      std::ofstream(path, std::ios::binary) << bytes;
    }
  }
}

std::string difference(const Tree& expected, const Tree& found) {
  for (const auto& [name, bytes] : expected) {
    const auto place = found.find(name);
    if (place == found.end()) return name + " is missing";
    if (place->second == bytes) continue;
    return name + " has other bytes (" + std::to_string(place->second.size()) + " instead of " +
           std::to_string(bytes.size()) + ")";
  }
  for (const auto& entry : found)
    if (!expected.contains(entry.first)) return entry.first + " was left behind";
  return "";
}

}  // namespace fledge::faults
