#include "tests/faults/disk.h"

#include <fcntl.h>

#include <algorithm>

namespace fledge::faults {

namespace {

/// "run/" of "run/events.jsonl", "" of "run/".
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.size() < 2 ? path.npos : path.rfind('/', path.size() - 2);
  return path.substr(0, slash + 1);  // npos + 1 is 0
}

template <class Names>
void set(Names& names, const Names& changes) {
  for (const auto& [path, to] : changes)
    if (to != nullptr)
      names[path] = to;
    else
      names.erase(path);
}

std::string zeroed(const std::string& synced, std::string bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (i >= synced.size() || synced[i] != bytes[i]) bytes[i] = '\0';
  return bytes;
}

std::string torn(const std::string& synced, const std::string& bytes) {
  std::size_t same = 0;
  while (same < std::min(synced.size(), bytes.size()) && synced[same] == bytes[same]) ++same;
  return bytes.substr(0, same + (bytes.size() - same) / 2);
}

}  // namespace

Disk::Disk(std::string root, const Tree& before) : root_(std::move(root)) {
  for (const auto& [path, bytes] : before)
    names_[path] =
        std::make_shared<Node>(Node{path.ends_with('/') ? path : std::string(), bytes, bytes});
  synced_names_ = names_;
}

std::string Disk::below(const std::string& path) const {
  if (!path.starts_with(root_ + "/")) return "";
  std::string found = path.substr(root_.size() + 1);
  for (std::size_t at = 0; (at = found.find("//")) != found.npos;) found.erase(at, 1);
  if (found.ends_with("/.")) found.pop_back();
  return names_.contains(found + "/") ? found + "/" : found;
}

void Disk::change(const Names& changes) {
  set(names_, changes);
  pending_.push_back(changes);
}

// Of a folder, the changes of names in it become durable.
void Disk::sync(Node& node) {
  node.synced_bytes = node.bytes;
  if (node.folder.empty()) return;
  std::erase_if(pending_, [&](const Names& changes) {
    const std::string folder = folder_of(changes.begin()->first);
    if (folder != (node.folder == "/" ? "" : node.folder)) return false;
    set(synced_names_, changes);
    return true;
  });
}

bool Disk::make(const RecordedCall& call) {
  const Record& record = call.record;
  if (record.error != 0) return false;
  const std::string path = below(call.path);
  const auto named = names_.find(path);
  const Link node = named == names_.end() ? nullptr : named->second;
  const auto opened = open_.find(record.descriptor);
  const Link file = opened == open_.end() ? nullptr : opened->second;
  switch (record.kind) {
    case Kind::open: {
      const bool is_root = call.path == root_ || call.path == root_ + "/";
      const bool is_new = node == nullptr && !path.empty();
      open_[static_cast<int>(record.result)] = is_root ? std::make_shared<Node>(Node{"/", "", ""})
                                                       : (is_new ? std::make_shared<Node>() : node);
      if (is_new) change({{path, open_.at(static_cast<int>(record.result))}});
      return is_new;
    }
    case Kind::close:
      open_.erase(record.descriptor);
      return false;
    case Kind::write:
      if (file == nullptr) return false;
      file->bytes.resize(std::max(file->bytes.size(), record.offset + call.data.size()));
      file->bytes.replace(record.offset, call.data.size(), call.data);
      return true;
    case Kind::sync:
      if (file != nullptr) sync(*file);
      return file != nullptr;
    case Kind::rename:
      if (node != nullptr) change({{path, nullptr}, {below(call.to), node}});
      return node != nullptr;
    case Kind::make_folder:
      if (!path.empty()) change({{path + "/", std::make_shared<Node>(Node{path + "/", "", ""})}});
      return !path.empty();
    case Kind::unlink:
    case Kind::remove_folder:
      if (node != nullptr) change({{path, nullptr}});
      return node != nullptr;
    default:
      return false;
  }
}

// None; the first, the first two, … all; all but one; one alone.
std::set<std::vector<bool>> Disk::choices_of_changes() const {
  const std::size_t count = pending_.size();
  std::set<std::vector<bool>> choices;
  std::vector<bool> choice(count, false);
  choices.insert(choice);
  for (std::size_t i = 0; i < count; ++i) {
    choice[i] = true;
    choices.insert(choice);
    std::vector<bool> without(count, true), alone(count, false);
    without[i] = false;
    alone[i] = true;
    choices.insert({without, alone});
  }
  return choices;
}

Tree Disk::left(const std::vector<bool>& kept, Bytes others, const Content& content) const {
  Names names = synced_names_;
  for (std::size_t i = 0; i < pending_.size(); ++i)
    if (kept[i]) set(names, pending_[i]);
  Tree tree;
  for (const auto& [path, node] : names) {  // a folder comes before what is in it
    const std::string folder = folder_of(path);
    if (!folder.empty() && !tree.contains(folder)) continue;
    const auto own = content.find(node.get());
    switch (own == content.end() ? others : own->second) {
      case Bytes::synced:
        tree[path] = node->synced_bytes;
        break;
      case Bytes::all:
        tree[path] = node->bytes;
        break;
      case Bytes::zeroed:
        tree[path] = zeroed(node->synced_bytes, node->bytes);
        break;
      case Bytes::half:
        tree[path] = torn(node->synced_bytes, node->bytes);
        break;
    }
  }
  return tree;
}

Tree Disk::now() const { return left(std::vector<bool>(pending_.size(), true), Bytes::all, {}); }

std::set<Tree> Disk::after_power_cut() const {
  std::vector<std::pair<Bytes, Content>> contents{
      {Bytes::synced, {}}, {Bytes::all, {}}, {Bytes::zeroed, {}}, {Bytes::half, {}}};
  const auto add_unsynced = [&](const Names& names) {
    for (const auto& [path, node] : names)
      if (node != nullptr && node->bytes != node->synced_bytes)
        for (const Bytes lost : {Bytes::synced, Bytes::zeroed})
          contents.push_back({Bytes::all, {{node.get(), lost}}});
  };
  add_unsynced(names_);
  add_unsynced(synced_names_);
  for (const Names& changes : pending_) add_unsynced(changes);
  std::set<Tree> trees;
  for (const std::vector<bool>& kept : choices_of_changes())
    for (const auto& [others, content] : contents) trees.insert(left(kept, others, content));
  return trees;
}

}  // namespace fledge::faults
