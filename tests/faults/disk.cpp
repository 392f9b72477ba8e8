#include "tests/faults/disk.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

namespace fledge::faults {

namespace {

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (!part.empty() && part != ".") parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

}  // namespace

Disk::Disk(std::string root, const Tree& before)
    : root_(std::move(root)), top_(std::make_shared<Node>()) {
  top_->is_folder = true;
  for (const auto& [name, bytes] : before) {
    const Change place = place_of(root_ + "/" + name);
    const auto node = std::make_shared<Node>();
    node->is_folder = name.ends_with('/');
    node->bytes = node->synced_bytes = bytes;
    place.folder->names[place.name] = place.folder->synced_names[place.name] = node;
  }
}

Disk::Change Disk::place_of(const std::string& path) const {
  if (!path.starts_with(root_ + "/")) return {};
  std::vector<std::string> parts = parts_of(path.substr(root_.size()));
  if (parts.empty()) return {};
  Link folder = top_;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const auto next = folder->names.find(parts[i]);
    if (next == folder->names.end()) return {};
    folder = next->second;
  }
  const auto found = folder->names.find(parts.back());
  return {folder, parts.back(), found == folder->names.end() ? nullptr : found->second};
}

Disk::Link Disk::find(const std::string& path) const {
  return path == root_ || path == root_ + "/" ? top_ : place_of(path).to;
}

void Disk::change(const Changes& changes) {
  for (const Change& one : changes) {
    if (one.to != nullptr) {
      one.folder->names[one.name] = one.to;
    } else {
      one.folder->names.erase(one.name);
    }
  }
  pending_.push_back(changes);
}

void Disk::sync(Node& node) {
  node.synced_bytes = node.bytes;
  if (!node.is_folder) return;
  std::vector<Changes> left;
  for (const Changes& changes : pending_) {
    const bool is_synced = std::any_of(changes.begin(), changes.end(), [&](const Change& one) {
      return one.folder.get() == &node;
    });
    if (!is_synced) {
      left.push_back(changes);
      continue;
    }
    for (const Change& one : changes) {
      if (one.to != nullptr) {
        one.folder->synced_names[one.name] = one.to;
      } else {
        one.folder->synced_names.erase(one.name);
      }
    }
  }
  pending_ = std::move(left);
}

bool Disk::make(const RecordedCall& call) {
  const Record& record = call.record;
  if (record.error != 0) return false;
  const auto opened = open_.find(record.descriptor);
  const Link file = opened == open_.end() ? nullptr : opened->second;
  const Change place = place_of(call.path);
  switch (record.kind) {
    case Kind::open: {
      Link node = find(call.path);
      const bool is_new = node == nullptr && place.folder != nullptr;
      const bool empties = node != nullptr && (record.flags & O_TRUNC) != 0;
      if (is_new) {
        node = std::make_shared<Node>();
        change({{place.folder, place.name, node}});
      }
      if (empties) node->bytes.clear();
      open_[static_cast<int>(record.result)] = node;
      return is_new || empties;
    }
    case Kind::duplicate:
      open_[static_cast<int>(record.result)] = file;
      return false;
    case Kind::close:
      open_.erase(record.descriptor);
      return false;
    case Kind::write:
      if (file == nullptr) return false;
      file->bytes.resize(std::max(file->bytes.size(), record.offset + call.data.size()));
      file->bytes.replace(record.offset, call.data.size(), call.data);
      return true;
    case Kind::cut:
      if (file != nullptr) file->bytes.resize(record.offset);
      return file != nullptr;
    case Kind::sync:
      if (file != nullptr) sync(*file);
      return file != nullptr;
    case Kind::rename: {
      const Change to = place_of(call.to);
      if (place.folder == nullptr || to.folder == nullptr) return false;
      change({{to.folder, to.name, place.to}, {place.folder, place.name, nullptr}});
      return true;
    }
    case Kind::make_folder: {
      if (place.folder == nullptr) return false;
      const auto node = std::make_shared<Node>();
      node->is_folder = true;
      change({{place.folder, place.name, node}});
      return true;
    }
    case Kind::unlink:
    case Kind::remove_folder:
      if (place.folder != nullptr) change({{place.folder, place.name, nullptr}});
      return place.folder != nullptr;
    default:
      return false;
  }
}

}  // namespace fledge::faults
