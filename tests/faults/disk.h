// What a disk may hold after a power cut, given the calls that a program made on it.
//
// The model: fsync of a file makes its bytes durable, fsync of a folder the names in it. What was
// not synced may be there or not. A rename is there whole or not at all; names that were changed
// later may be there when earlier ones are not. No folder is moved.
#pragma once

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
  Disk(std::string root, const Tree& before);

  /// Returns whether the call changed what is on the disk or may be there.
  bool make(const RecordedCall& call);

  /// All files, as programs see them.
  Tree now() const;
  /// What a power cut at this moment may leave, each folder once.
  std::set<Tree> after_power_cut() const;

 private:
  struct Node {
    std::string folder;  // its own path if it is one, "/" for the root; else ""
    std::string bytes, synced_bytes;
  };
  using Link = std::shared_ptr<Node>;
  using Names = std::map<std::string, Link>;  // by path, "run/" and "run/events.jsonl"
  enum class Bytes { synced, all, zeroed, half };
  using Content = std::map<const Node*, Bytes>;  // of the files that are not as `others` says

  /// The path below the root; "" for the root itself and for what is elsewhere.
  std::string below(const std::string& path) const;
  void change(const Names& changes);
  void sync(Node& node);
  std::set<std::vector<bool>> choices_of_changes() const;
  Tree left(const std::vector<bool>& kept, Bytes others, const Content& content) const;

  std::string root_;
  Names names_, synced_names_;
  std::map<int, Link> open_;
  std::vector<Names> pending_;  // changes of names that no fsync has made durable; null: removed
};

}  // namespace fledge::faults
