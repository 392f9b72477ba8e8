// What a disk may hold after a power cut, given the calls that a program made on it.
//
// The model: fsync of a file makes its bytes durable, fsync of a folder the names in it. What was
// not synced may be there or not. A rename is there whole or not at all; names that were changed
// later may be there when earlier ones are not.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/faults/calls.h"
#include "tests/faults/tree.h"

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
    bool is_folder = false;
    std::string bytes, synced_bytes;
    std::map<std::string, std::shared_ptr<Node>> names, synced_names;
  };
  using Link = std::shared_ptr<Node>;
  /// A name in a folder that leads elsewhere since; nowhere when `to` is null.
  struct Change {
    Link folder;
    std::string name;
    Link to;
  };
  using Changes = std::vector<Change>;  // those of a rename belong together
  enum class Bytes { synced, all, zeroed, half };

  Link find(const std::string& path) const;
  /// The folder that a path leads through, and the name in it; no folder when it is elsewhere.
  Change place_of(const std::string& path) const;
  void change(const Changes& changes);
  void sync(Node& node);

  std::vector<std::vector<bool>> choices_of_changes() const;
  std::vector<Link> unsynced_files() const;
  using Content = std::map<const Node*, Bytes>;  // of the files that are not as `others` says
  void collect(const Link& folder, const std::string& path, const std::vector<bool>& kept,
               Bytes others, const Content& content, Tree& tree) const;

  std::string root_;
  Link top_;
  std::map<int, Link> open_;
  std::vector<Changes> pending_;  // changes of names that no fsync has made durable
};

}  // namespace fledge::faults
