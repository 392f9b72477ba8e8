// What a disk may hold after a power cut, given the calls that a program made on it.
//
// The model: fsync of a file makes its bytes durable, fsync of a folder the names in it. What was
// not synced may be there or not. A rename is there whole or not at all; names that were changed
// later may be there when earlier ones are not. No folder is moved.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/faults/world.h"

namespace fledge::faults {

class Disk {
 public:
  /// The folder at `root`, with these files on the disk.
  Disk(std::string root, const Tree& before) : root_(std::move(root)) {
    for (const auto& [path, bytes] : before) {
      names_[path] = made(path);
      names_[path]->bytes = names_[path]->synced_bytes = bytes;
    }
    synced_names_ = names_;
  }

  /// Returns whether the call changed what is on the disk or may be there.
  bool make(const RecordedCall& call) {
    const Record& record = call.record;
    if (record.error != 0) return false;
    const std::string path = below(call.path);
    const Link node = names_.contains(path) ? names_.at(path) : nullptr;
    const Link file = open_.contains(record.descriptor) ? open_.at(record.descriptor) : nullptr;
    switch (record.kind) {
      case Kind::open: {
        const bool is_root = call.path == root_ || call.path == root_ + "/";
        const bool is_new = node == nullptr && !path.empty();
        const Link opened = is_root ? made("/") : is_new ? made(path) : node;
        open_[static_cast<int>(record.result)] = opened;
        return is_new && change({{path, opened}});
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
        return node != nullptr && change({{path, nullptr}, {below(call.to), node}});
      case Kind::make_folder:
        return !path.empty() && change({{path + "/", made(path + "/")}});
      case Kind::unlink:
      case Kind::remove_folder:
        return node != nullptr && change({{path, nullptr}});
      default:
        return false;
    }
  }

  /// All files, as programs see them.
  Tree now() const { return left(std::vector<bool>(pending_.size(), true), Bytes::all, {}); }

  /// What a power cut at this moment may leave, each folder once: of the changes of names none, the
  /// first, the first two, … all, all but one, or one alone; of the bytes of all files or of one
  /// those that were synced, all, zeros for the others, or half of the others.
  std::set<Tree> after_power_cut() const {
    std::vector<std::pair<Bytes, Content>> contents{
        {Bytes::synced, {}}, {Bytes::all, {}}, {Bytes::zeroed, {}}, {Bytes::half, {}}};
    std::vector<Names> all_names = pending_;
    all_names.insert(all_names.end(), {names_, synced_names_});
    for (const Names& names : all_names)
      for (const auto& [path, node] : names)
        if (node != nullptr && node->bytes != node->synced_bytes)
          for (const Bytes lost : {Bytes::synced, Bytes::zeroed})
            contents.push_back({Bytes::all, {{node.get(), lost}}});
    const std::size_t count = pending_.size();
    std::vector<bool> first(count, false);
    std::set<std::vector<bool>> choices{first};
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<bool> without(count, true), alone(count, false);
      first[i] = alone[i] = true;
      without[i] = false;
      choices.insert({first, without, alone});
    }
    std::set<Tree> trees;
    for (const std::vector<bool>& kept : choices)
      for (const auto& [others, content] : contents) trees.insert(left(kept, others, content));
    return trees;
  }

 private:
  struct Node {
    std::string folder;  // its own path if it is one, "/" for the root; else ""
    std::string bytes, synced_bytes;
  };
  using Link = std::shared_ptr<Node>;
  using Names = std::map<std::string, Link>;  // by path, "run/" and "run/events.jsonl"
  enum class Bytes { synced, all, zeroed, half };
  using Content = std::map<const Node*, Bytes>;  // of the files that are not as `others` says

  static Link made(const std::string& path) {
    return std::make_shared<Node>(Node{path.ends_with('/') ? path : std::string(), "", ""});
  }
  /// "run/" of "run/events.jsonl", "" of "run/".
  static std::string folder_of(const std::string& path) {
    const std::size_t slash = path.size() < 2 ? path.npos : path.rfind('/', path.size() - 2);
    return path.substr(0, slash + 1);  // npos + 1 is 0
  }
  static void set(Names& names, const Names& changes) {
    for (const auto& [path, to] : changes)
      if (to != nullptr)
        names[path] = to;
      else
        names.erase(path);
  }

  /// The path below the root; "" for the root itself and for what is elsewhere.
  std::string below(const std::string& path) const {
    if (!path.starts_with(root_ + "/")) return "";
    std::string found = path.substr(root_.size() + 1);
    for (std::size_t at = 0; (at = found.find("//")) != found.npos;) found.erase(at, 1);
    if (found.ends_with("/.")) found.pop_back();
    return names_.contains(found + "/") ? found + "/" : found;
  }
  bool change(const Names& changes) {
    set(names_, changes);
    pending_.push_back(changes);
    return true;
  }
  /// Of a folder, the changes of names in it become durable.
  void sync(Node& node) {
    node.synced_bytes = node.bytes;
    if (node.folder.empty()) return;
    std::erase_if(pending_, [&](const Names& changes) {
      if (folder_of(changes.begin()->first) != (node.folder == "/" ? "" : node.folder))
        return false;
      set(synced_names_, changes);
      return true;
    });
  }
  static std::string bytes_of(const Node& node, Bytes which) {
    const std::string &synced = node.synced_bytes, &all = node.bytes;
    if (which == Bytes::synced || which == Bytes::all) return which == Bytes::all ? all : synced;
    std::string bytes = all;
    std::size_t same = 0;  // bytes at the beginning
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const bool is_synced = i < synced.size() && synced[i] == all[i];
      if (is_synced && same == i) ++same;
      if (!is_synced) bytes[i] = '\0';
    }
    return which == Bytes::zeroed ? bytes : all.substr(0, same + (all.size() - same) / 2);
  }
  Tree left(const std::vector<bool>& kept, Bytes others, const Content& content) const {
    Names names = synced_names_;
    for (std::size_t i = 0; i < pending_.size(); ++i)
      if (kept[i]) set(names, pending_[i]);
    Tree tree;
    for (const auto& [path, node] : names) {  // a folder comes before what is in it
      const std::string folder = folder_of(path);
      if (!folder.empty() && !tree.contains(folder)) continue;
      const auto own = content.find(node.get());
      tree[path] = bytes_of(*node, own == content.end() ? others : own->second);
    }
    return tree;
  }

  std::string root_;
  Names names_, synced_names_;
  std::map<int, Link> open_;
  std::vector<Names> pending_;  // changes of names that no fsync has made durable; null: removed
};

}  // namespace fledge::faults
