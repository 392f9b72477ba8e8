// JSON text (RFC 8259) read whole: a tree of values that know their place and their path.
//
// Key idea: a program asks a value for what it must be. So the code that reads a file states the
// form of the file, and each error names line, column and key: "line 3, column 13: n_layer must be a
// whole number from 1 to 64: got 0". The tree takes 8 bytes a value and 8 a key; strings and numbers
// stay in the text.                                                         Next: json_reader.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/real.h"
#include "nn/io/errors.h"

namespace fledge {

/// A value, and the values in it: a handle that keeps the tree. Every function throws FormatError for
/// a value of another kind than the one it is for.
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
  std::string string() const;

  /// Calls f(element) for each element of an array.
  template <class F>
  void each_item(F f) const {
    const std::size_t end = end_of(Kind::array);
    for (std::size_t at = index_ + 1; at < end; at = behind(at)) f(JsonValue(tree_, at));
  }
  /// f(key, value) for each member of an object, in the order of the text.
  template <class F>
  void each_member(F f) const {
    const std::size_t end = end_of(Kind::object);
    for (std::size_t at = index_ + 1; at < end; at = behind(at + 1))
      f(JsonValue(tree_, at).decoded(), JsonValue(tree_, at + 1));
  }

  /// Of an object: whether it has this key; its value, or throws; its value, or null.
  bool has(std::string_view key) const;
  JsonValue operator[](std::string_view key) const;
  JsonValue find(std::string_view key) const;
  /// Throws for a key of this object that is not among these.
  void allow_only(const std::vector<std::string_view>& keys) const;

  /// Where it stands: "fledge.corpus.files[2]"; "the text" for the whole of it.
  std::string path() const;
  /// Throws FormatError: its place, its path, the problem.   value.fail("must be even")
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  struct Tree;
  friend JsonValue read_json(std::string_view text, std::size_t most_bytes,
                             std::size_t most_values);
  JsonValue(std::shared_ptr<const Tree> tree, std::size_t index)
      : tree_(std::move(tree)), index_(index) {}
  void require_kind(Kind kind) const;
  std::size_t end_of(Kind kind) const;
  std::size_t behind(std::size_t index) const;
  std::string_view token() const;
  std::string decoded() const;
  std::string shown() const;

  std::shared_ptr<const Tree> tree_;
  std::size_t index_ = 0;
};

/// The largest JSON text in bytes, and the most values in it, unless a caller sets other limits.
inline constexpr std::size_t most_json_bytes = std::size_t{64} << 20, most_json_values = 4'000'000;

/// The value that is the whole text, in strict JSON and UTF-8: no comments, no byte order mark, no
/// key twice, at most 64 levels. Time n log n, memory at most 8 bytes a byte of text. Throws
/// FormatError with line and column; columns count code points.
JsonValue read_json(std::string_view text, std::size_t most_bytes = most_json_bytes,
                    std::size_t most_values = most_json_values);

}  // namespace fledge
