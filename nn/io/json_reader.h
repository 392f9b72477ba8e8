// JSON text read whole: a tree of values that know their place and their path, for configurations.
//
// Not here: weights' headers (safetensors.h), which need no tree. Key idea: a program asks a value
// for what it must be, so the code that reads a file states the file's form, and each error names
// the line, the column and the key: "line 3, column 13: n_layer must be a whole number from 1 to
// 64: got 0". The tree costs 8 bytes a value and 8 a key; strings and numbers stay in the text.
//                                                                            Next: json_reader.cpp.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "nn/io/json_cursor.h"

namespace fledge {

/// The largest JSON text in bytes, and the most values in it, that read_json() takes.
inline constexpr std::size_t most_json_bytes = std::size_t{64} << 20, most_json_values = 4'000'000;

/// A value, and the values in it: a handle that keeps the tree. A question for another kind of
/// value throws JsonError.
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
  /// The elements of an array.
  std::vector<JsonValue> items() const;
  /// The same one after another, f(element): an array of a million elements costs no memory.
  template <class F>
  void each_item(F f) const {
    const std::size_t end = end_of(Kind::array, "an array");
    for (std::size_t at = index_ + 1; at < end; at = behind(at)) f(JsonValue(tree_, at));
  }
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
  struct Tree;
  friend JsonValue read_json(std::string_view text);
  JsonValue(std::shared_ptr<const Tree> tree, std::size_t index)
      : tree_(std::move(tree)), index_(index) {}
  void require_kind(Kind kind, const char* expected) const;
  std::size_t end_of(Kind kind, const char* expected) const;
  std::size_t behind(std::size_t index) const;
  std::string_view token() const;
  std::string shown() const;

  std::shared_ptr<const Tree> tree_;
  std::size_t index_ = 0;
};

/// The value that is the whole text, in strict JSON (RFC 8259) and UTF-8: no comments, no byte
/// order mark, no key twice, at most 64 levels, most_json_values and most_json_bytes. Time n log n,
/// memory at most 8 bytes a byte of text. Throws JsonError.
JsonValue read_json(std::string_view text);

}  // namespace fledge
