// JSON text read whole: a tree of values that know their place and their path, for configurations.
//
// Not here: weights' headers (safetensors.h), which need no tree. Key idea: a value is asked for
// what it must be, so that whoever reads a file writes down its form, and each complaint names the
// line, the column and the key: "line 3, column 13: n_layer must be a whole number from 1 to 64:
// got 0".
//                                                                            Next: json_reader.cpp.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "nn/io/json_cursor.h"

namespace fledge::inline FLEDGE_BUILD {

/// A value, and the values in it: a handle that keeps the tree. Whatever is asked of a value of
/// another kind throws JsonError.
class JsonValue {
 public:
  enum class Kind { null, boolean, number, string, array, object };

  /// null, from nowhere.
  JsonValue() = default;

  Kind kind() const;
  bool is_null() const { return kind() == Kind::null; }
  bool boolean() const;
  /// Throws for a number that no double holds, such as 1e400.
  double number() const;
  /// A number written without point and exponent, exact. Throws when it is not in low … high.
  std::int64_t integer(std::int64_t low, std::int64_t high) const;
  const std::string& string() const;
  /// The elements of an array.
  std::vector<JsonValue> items() const;
  /// The keys and values of an object, in the text's order.
  std::vector<std::pair<std::string, JsonValue>> members() const;

  /// Of an object: whether it has this key; what it holds, or throws; what it holds, or null.
  bool has(std::string_view key) const;
  JsonValue operator[](std::string_view key) const;
  JsonValue find(std::string_view key) const;
  /// Throws when this is no object, or for a key that is not among these.
  void allow_only(std::initializer_list<std::string_view> keys) const;

  /// Where it stands: "fledge.corpus.files[2]"; "the text" for the whole of it.
  std::string path() const;
  /// Throws JsonError: its place, its path, the problem.   value.fail("must be even")
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  struct Node;
  struct Tree;
  friend JsonValue read_json(std::string_view text);
  JsonValue(std::shared_ptr<const Tree> tree, std::size_t index)
      : tree_(std::move(tree)), index_(index) {}
  const Node& node() const;
  const Node& as(Kind kind, const char* expected) const;
  std::string shown() const;

  std::shared_ptr<const Tree> tree_;
  std::size_t index_ = 0;
};

/// The value that is the whole text, in strict JSON (RFC 8259) and UTF-8: no comments, no byte
/// order mark, no key twice, at most 64 levels and 1,000,000 values. Throws JsonError.
JsonValue read_json(std::string_view text);

}  // namespace fledge::inline FLEDGE_BUILD
