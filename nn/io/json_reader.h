// Reads JSON text (RFC 8259) into a tree of values.
//
// Each error names line, column and key: "line 3, column 13: n_layer must be a whole number from 1 to
// 64: got 0". The tree takes 8 bytes per value and 8 per key; strings and numbers stay in the text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/real.h"
#include "nn/io/errors.h"

namespace fledge {

/// A handle of a value in the tree, which it keeps alive. A function for one kind of value throws
/// FormatError for the other kinds.
class JsonValue {
 public:
  enum class Kind { null, boolean, number, string, array, object };

  /// null, without a tree.
  JsonValue() = default;

  Kind kind() const;
  bool is_null() const { return kind() == Kind::null; }
  bool boolean() const;
  /// Throws for a number that is too large for a double, such as 1e400.
  double number() const;
  /// A number without point and exponent, exact. Throws unless low ≤ number ≤ high.
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

  /// Whether the object has this key.
  bool has(std::string_view key) const;
  /// The value of this key; throws if there is none.
  JsonValue operator[](std::string_view key) const;
  /// The value of this key; null if there is none.
  JsonValue find(std::string_view key) const;
  /// Throws if the object has a key that is not in this list.
  void allow_only(const std::vector<std::string_view>& keys) const;

  /// The keys that lead to the value: "fledge.corpus.files[2]"; "the text" for the whole text.
  std::string path() const;
  /// Throws FormatError with line, column, path and this problem:   value.fail("must be even")
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

/// The default limits: the largest JSON text in bytes, and the most values in it.
inline constexpr std::size_t most_json_bytes = std::size_t{64} << 20, most_json_values = 4'000'000;

/// Reads the whole text as one value. The text must be strict JSON in UTF-8: no comments, no byte
/// order mark, no key twice in an object, at most 64 levels. Takes n log n time and at most 8 bytes of
/// memory per byte of text. Throws FormatError with line and column; columns count code points.
JsonValue read_json(std::string_view text, std::size_t most_bytes = most_json_bytes,
                    std::size_t most_values = most_json_values);

}  // namespace fledge
