// The grammar is three levels deep and so is this reader: no tree is built and nothing recurses, so
// brackets nested ten million deep cost one look at the first.
#include "nn/io/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "nn/io/json_cursor.h"

namespace fledge {

namespace {

constexpr std::size_t most_name = 1024, most_tensors = 1'000'000, most_metadata = 1 << 20;

[[noreturn]] void refuse(SafetensorsFault fault, const std::string& message) {
  throw StoredError(fault, message);
}
std::string quoted(std::string_view name) { return "'" + escaped_name(name) + "'"; }

struct Type {
  std::string_view name;
  unsigned bits;
};
constexpr Type types[] = {{"BOOL", 8},        {"U8", 8},         {"I8", 8},      {"U16", 16},
                          {"I16", 16},        {"F16", 16},       {"BF16", 16},   {"U32", 32},
                          {"I32", 32},        {"F32", 32},       {"U64", 64},    {"I64", 64},
                          {"F64", 64},        {"C64", 64},       {"F4", 4},      {"F6_E2M3", 6},
                          {"F6_E3M2", 6},     {"F8_E5M2", 8},    {"F8_E4M3", 8}, {"F8_E8M0", 8},
                          {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}};

const Type* find_type(std::string_view name) {
  const auto found = std::find_if(std::begin(types), std::end(types),
                                  [&](const Type& type) { return type.name == name; });
  return found == std::end(types) ? nullptr : found;
}

class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : cursor_(text) {}

  void read(StoredHeader& header) {
    bool has_metadata = false;
    cursor_.members([&](const std::string& key) {
      if (key == "__metadata__") {
        if (has_metadata) refuse(SafetensorsFault::duplicate_key, "__metadata__ stands twice");
        has_metadata = true;
        read_metadata(header.metadata);
        return;
      }
      check_name(key);
      if (header.tensors.size() == most_tensors)
        refuse(SafetensorsFault::too_many_tensors, "the header has more than 1,000,000 tensors");
      header.tensors.push_back(tensor(key));
    });
    cursor_.end();
  }

 private:
  // What does not begin as it must is another kind of value, or nothing at all. The sentence is
  // built when it is needed: there may be millions of values.
  void expect(std::string_view beginnings, const char* what, const std::string& name = "",
              SafetensorsFault fault = SafetensorsFault::wrong_type) {
    const char c = cursor_.next();
    if (c != '\0' && beginnings.find(c) != std::string_view::npos) return;
    const std::string expected =
        std::string("expected ") + what + (name.empty() ? "" : quoted(name));
    if (!cursor_.at_value()) cursor_.fail(expected);
    refuse(fault, "at byte " + std::to_string(8 + cursor_.at()) + ": " + expected);
  }

  std::uint64_t whole_number() {
    expect("0123456789", "a whole number");
    const std::size_t at = 8 + cursor_.at();
    std::uint64_t value = 0;
    for (const char c : cursor_.number()) {
      if (c < '0' || c > '9')
        refuse(SafetensorsFault::wrong_type,
               "at byte " + std::to_string(at) + ": expected a whole number");
      const auto digit = static_cast<std::uint64_t>(c - '0');
      if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10)
        refuse(SafetensorsFault::number_out_of_range,
               "at byte " + std::to_string(at) + ": a number is over 2^64 - 1");
      value = value * 10 + digit;
    }
    return value;
  }

  void read_metadata(std::map<std::string, std::string>& metadata) {
    expect("{", "an object of strings as __metadata__", "", SafetensorsFault::invalid_metadata);
    std::size_t size = 0;
    cursor_.members([&](const std::string& key) {
      expect("\"", "a string as __metadata__ ", key, SafetensorsFault::invalid_metadata);
      std::string value = cursor_.string();
      size += key.size() + value.size();
      if (size > most_metadata)
        refuse(SafetensorsFault::invalid_metadata, "the header has more than 1 MB of __metadata__");
      if (!metadata.emplace(key, std::move(value)).second)
        refuse(SafetensorsFault::duplicate_key, "__metadata__: " + quoted(key) + " stands twice");
    });
  }

  StoredTensor tensor(const std::string& name) {
    StoredTensor result;
    result.name = name;
    constexpr std::string_view fields[] = {"dtype", "shape", "data_offsets"};
    bool has[3] = {};
    expect("{", "an object for ", name);
    cursor_.members([&](const std::string& key) {
      const auto field = std::find(std::begin(fields), std::end(fields), key) - std::begin(fields);
      if (field == 3)
        refuse(SafetensorsFault::unknown_field, quoted(name) + " has a field " + quoted(key));
      if (std::exchange(has[field], true))
        refuse(SafetensorsFault::duplicate_key, quoted(name) + ": " + key + " stands twice");
      field == 0 ? read_dtype(result) : field == 1 ? read_sizes(result) : read_range(result);
    });
    const auto missing = std::find(std::begin(has), std::end(has), false) - std::begin(has);
    if (missing < 3)
      refuse(SafetensorsFault::missing_field,
             quoted(name) + " has no " + std::string(fields[missing]));
    return result;
  }

  void read_dtype(StoredTensor& tensor) {
    expect("\"", "the name of a dtype");
    const std::string name = cursor_.string();
    const Type* type = find_type(name);
    if (type == nullptr)
      refuse(SafetensorsFault::unknown_dtype, quoted(tensor.name) + " has a dtype " + quoted(name) +
                                                  ", which the format does not know");
    tensor.dtype = type->name;
  }

  void read_sizes(StoredTensor& tensor) {
    expect("[", "a list of sizes");
    cursor_.elements([&] {
      if (tensor.sizes.size() == Shape::max_rank)
        refuse(SafetensorsFault::rank_too_large, quoted(tensor.name) + " has more than 8 axes");
      tensor.sizes.push_back(whole_number());
    });
  }

  void read_range(StoredTensor& tensor) {
    std::size_t count = 0;
    expect("[", "two offsets");
    cursor_.elements([&] {
      const std::uint64_t offset = whole_number();
      if (count == 0) tensor.begin = offset;
      if (count == 1) tensor.end = offset;
      ++count;
    });
    if (count != 2)
      refuse(SafetensorsFault::wrong_type,
             quoted(tensor.name) + " has " + std::to_string(count) + " offsets, which must be 2");
  }

  static void check_name(const std::string& name) {
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    if (name.empty() || name.size() > most_name || std::any_of(name.begin(), name.end(), control))
      refuse(SafetensorsFault::bad_name,
             "a tensor's name must have 1 to 1,024 bytes and no control characters: got " +
                 quoted(name));
  }

  JsonCursor cursor_;
};

}  // namespace

std::uint64_t bits_of(std::string_view dtype) { return find_type(dtype)->bits; }

StoredHeader header_of(std::string_view text) {
  const std::size_t wrong = first_not_utf8(text);
  if (wrong != std::string_view::npos)
    refuse(SafetensorsFault::invalid_utf8,
           "the header is not UTF-8 at byte " + std::to_string(8 + wrong));
  StoredHeader header;
  header.data = 8 + text.size();
  try {
    HeaderReader(text).read(header);
  } catch (const JsonError& error) {
    refuse(SafetensorsFault::invalid_json,
           "the header is not JSON at byte " + std::to_string(8 + error.at) + ": " + error.problem);
  }
  return header;
}

}  // namespace fledge
