// What is left of a disk: every choice of the changes that were not synced, as far as there are few
// choices, else those that differ most.
#include <algorithm>

#include "tests/faults/disk.h"

namespace fledge::faults {

namespace {

// All of a string that is the same in both, from the start.
std::size_t same_start(const std::string& a, const std::string& b) {
  const std::size_t most = std::min(a.size(), b.size());
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(most), b.begin()).first -
      a.begin());
}

std::string zeroed(const std::string& synced, std::string bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (i >= synced.size() || synced[i] != bytes[i]) bytes[i] = '\0';
  return bytes;
}

std::string torn(const std::string& synced, const std::string& bytes) {
  const std::size_t same = same_start(synced, bytes);
  return bytes.substr(0, same + (bytes.size() - same) / 2);
}

}  // namespace

// None; the first, the first two, … all; all but one; one alone.
std::vector<std::vector<bool>> Disk::choices_of_changes() const {
  const std::size_t count = pending_.size();
  std::set<std::vector<bool>> choices;
  std::vector<bool> choice(count, false);
  choices.insert(choice);
  for (std::size_t i = 0; i < count; ++i) {
    choice[i] = true;
    choices.insert(choice);
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<bool> without(count, true), alone(count, false);
    without[i] = false;
    alone[i] = true;
    choices.insert(without);
    choices.insert(alone);
  }
  return {choices.begin(), choices.end()};
}

std::vector<Disk::Link> Disk::unsynced_files() const {
  std::set<Link> found;
  std::vector<Link> folders{top_};
  const auto visit = [&](const Link& node) {
    if (node == nullptr) return;
    if (node->is_folder) folders.push_back(node);
    if (node->bytes != node->synced_bytes) found.insert(node);
  };
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const Link folder = folders[i];
    for (const auto& [name, node] : folder->names) visit(node);
    for (const auto& [name, node] : folder->synced_names) visit(node);
  }
  for (const Changes& changes : pending_)
    for (const Change& one : changes)
      if (one.to != nullptr && one.to->bytes != one.to->synced_bytes) found.insert(one.to);
  return {found.begin(), found.end()};
}

void Disk::collect(const Link& folder, const std::string& path, const std::vector<bool>& kept,
                   Bytes others, const Content& content, Tree& tree) const {
  std::map<std::string, Link> names = folder->synced_names;
  for (std::size_t i = 0; i < pending_.size(); ++i)
    for (const Change& one : pending_[i])
      if (kept[i] && one.folder == folder) names[one.name] = one.to;
  for (const auto& [name, node] : names) {
    if (node == nullptr) continue;
    if (node->is_folder) {
      tree[path + name + "/"] = "";
      collect(node, path + name + "/", kept, others, content, tree);
      continue;
    }
    const auto own = content.find(node.get());
    switch (own == content.end() ? others : own->second) {
      case Bytes::synced:
        tree[path + name] = node->synced_bytes;
        break;
      case Bytes::all:
        tree[path + name] = node->bytes;
        break;
      case Bytes::zeroed:
        tree[path + name] = zeroed(node->synced_bytes, node->bytes);
        break;
      case Bytes::half:
        tree[path + name] = torn(node->synced_bytes, node->bytes);
        break;
    }
  }
}

Tree Disk::now() const {
  Tree tree;
  collect(top_, "", std::vector<bool>(pending_.size(), true), Bytes::all, {}, tree);
  return tree;
}

std::set<Tree> Disk::after_power_cut() const {
  std::vector<std::pair<Bytes, Content>> contents{
      {Bytes::synced, {}}, {Bytes::all, {}}, {Bytes::zeroed, {}}, {Bytes::half, {}}};
  for (const Link& file : unsynced_files())
    for (const Bytes lost : {Bytes::synced, Bytes::zeroed})
      contents.push_back({Bytes::all, {{file.get(), lost}}});
  std::set<Tree> trees;
  for (const std::vector<bool>& kept : choices_of_changes())
    for (const auto& [others, content] : contents) {
      Tree tree;
      collect(top_, "", kept, others, content, tree);
      trees.insert(std::move(tree));
    }
  return trees;
}

}  // namespace fledge::faults
