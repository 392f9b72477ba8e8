// Reading a safetensors header. The grammar is three levels deep and so is this parser: no tree is built
// and nothing recurses, so brackets nested ten million deep cost one look at the first.
#include <algorithm>
#include <limits>

#include "nn/io/safetensors.h"
#include "nn/io/utf8.h"

namespace fledge::inline FLEDGE_BUILD {

namespace {

constexpr std::uint64_t most_header = 100'000'000;  // bytes, as in the format's own library
constexpr std::size_t most_name = 1024, most_tensors = 1'000'000, most_metadata = 1 << 20;
constexpr std::size_t most_axes = 8;
constexpr std::uint64_t most_size = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void refuse(StoredFault fault, const std::string& message) {
  throw StoredError(fault, message);
}

struct Type {
  std::string_view name;
  unsigned bits;
};
constexpr Type types[] = {
    {"BOOL", 8},    {"U8", 8},      {"I8", 8},       {"U16", 16}, {"I16", 16}, {"F16", 16},
    {"BF16", 16},   {"U32", 32},    {"I32", 32},     {"F32", 32}, {"U64", 64}, {"I64", 64},
    {"F64", 64},    {"C64", 64},    {"F4", 4},       {"F6_E2M3", 6}, {"F6_E3M2", 6},
    {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8},  {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}};

// One pass over the JSON text; `at_` is where it stands.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  void header(StoredHeader& result) {
    members([&](const std::string& key) {
      if (key == "__metadata__") {
        if (has_metadata_) refuse(StoredFault::duplicate_key, "__metadata__ stands twice");
        has_metadata_ = true;
        metadata(result.metadata);
      } else {
        check_name(key);
        if (result.tensors.size() == most_tensors)
          refuse(StoredFault::too_many_tensors,
                 "more than " + std::to_string(most_tensors) + " tensors");
        result.tensors.push_back(tensor(key));
      }
    });
    space();
    if (at_ != text_.size()) broken("nothing may follow the header's object");
  }

 private:
  [[noreturn]] void broken(const std::string& expected) const {
    refuse(StoredFault::invalid_json,
           "the header is not JSON at byte " + std::to_string(8 + at_) + ": " + expected);
  }
  [[noreturn]] void wrong_type(const std::string& expected) const {
    refuse(StoredFault::wrong_type, "at byte " + std::to_string(8 + at_) + ": expected " + expected);
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void space() {
    while (at_ < text_.size() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r'))
      ++at_;
  }
  bool take(char c) {
    space();
    if (at_ == text_.size() || peek() != c) return false;
    ++at_;
    return true;
  }
  // Whether a JSON value of some kind begins here: then what is wrong is its type.
  bool value_begins() {
    space();
    return at_ < text_.size() &&
           std::string_view("{[\"-0123456789tfn").find(peek()) != std::string_view::npos;
  }
  void open(char bracket, const std::string& expected) {
    if (take(bracket)) return;
    value_begins() ? wrong_type(expected) : broken("expected " + expected);
  }

  // Calls f(key) for each member of an object; f reads the value.
  template <class F>
  void members(F f) {
    if (!take('{')) broken("expected an object");
    if (take('}')) return;
    do {
      space();
      if (peek() != '"') broken("expected a key in double quotes");
      const std::string key = string();
      if (!take(':')) broken("expected ':' behind a key");
      f(key);
    } while (take(','));
    if (!take('}')) broken("expected ',' or '}'");
  }

  // Calls f() for each element of a list; f reads it.
  template <class F>
  void elements(const std::string& expected, F f) {
    open('[', expected);
    if (take(']')) return;
    do f();
    while (take(','));
    if (!take(']')) broken("expected ',' or ']'");
  }

  unsigned hex4() {
    unsigned value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      const bool digit = c >= '0' && c <= '9', small = c >= 'a' && c <= 'f';
      if (!digit && !small && !(c >= 'A' && c <= 'F')) broken("expected four hex digits");
      value = value * 16 + static_cast<unsigned>(digit ? c - '0' : small ? c - 'a' + 10 : c - 'A' + 10);
    }
    return value;
  }

  void escape(std::string& to) {
    ++at_;
    const char c = peek();
    ++at_;
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (c != 'u') {
      const auto which = letters.find(c);
      if (c == '\0' || which == std::string_view::npos) --at_, broken("no such escape");
      to += meanings[which];
      return;
    }
    std::uint32_t point = hex4();
    if (point >= 0xDC00 && point < 0xE000) broken("half of a surrogate pair");
    if (point >= 0xD800 && point < 0xDC00) {
      if (text_.substr(at_, 2) != "\\u") broken("half of a surrogate pair");
      at_ += 2;
      const unsigned low = hex4();
      if (low < 0xDC00 || low >= 0xE000) broken("half of a surrogate pair");
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(point, to);
  }

  static void append_utf8(std::uint32_t point, std::string& to) {
    const auto tail = [&](unsigned shift) {
      to += static_cast<char>(0x80 | ((point >> shift) & 0x3F));
    };
    if (point < 0x80) {
      to += static_cast<char>(point);
    } else if (point < 0x800) {
      to += static_cast<char>(0xC0 | (point >> 6)), tail(0);
    } else if (point < 0x10000) {
      to += static_cast<char>(0xE0 | (point >> 12)), tail(6), tail(0);
    } else {
      to += static_cast<char>(0xF0 | (point >> 18)), tail(12), tail(6), tail(0);
    }
  }

  std::string string() {
    std::string value;
    for (++at_; peek() != '"';) {
      if (at_ >= text_.size()) broken("a string does not end");
      if (static_cast<unsigned char>(peek()) < 0x20) broken("a control byte in a string");
      if (peek() == '\\')
        escape(value);
      else
        value += text_[at_++];
    }
    ++at_;
    return value;
  }
  std::string string_value(const std::string& expected) {
    space();
    if (peek() == '"') return string();
    value_begins() ? wrong_type(expected) : broken("expected " + expected);
  }

  std::uint64_t number() {
    space();
    if (peek() < '0' || peek() > '9')
      value_begins() ? wrong_type("a whole number") : broken("expected a whole number");
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    bool fits = true;
    for (; peek() >= '0' && peek() <= '9'; ++at_) {
      const auto digit = static_cast<std::uint64_t>(peek() - '0');
      fits = fits && value <= (std::numeric_limits<std::uint64_t>::max() - digit) / 10;
      value = value * 10 + digit;
    }
    if (text_[begin] == '0' && at_ > begin + 1) broken("a number begins with 0");
    if (peek() == '.' || peek() == 'e' || peek() == 'E') wrong_type("a whole number");
    if (!fits)
      refuse(StoredFault::number_out_of_range,
             "a number at byte " + std::to_string(8 + begin) + " is over 2^64 - 1");
    return value;
  }

  void metadata(std::map<std::string, std::string>& result) {
    space();
    if (peek() != '{') {
      if (!value_begins()) broken("expected an object");
      refuse(StoredFault::invalid_metadata, "__metadata__ must be an object of strings");
    }
    std::size_t size = 0;
    members([&](const std::string& key) {
      space();
      if (peek() != '"' && value_begins())
        refuse(StoredFault::invalid_metadata,
               "__metadata__: '" + shown_name(key) + "' must be a string");
      std::string value = string_value("a string");
      size += key.size() + value.size();
      if (size > most_metadata)
        refuse(StoredFault::invalid_metadata, "more than 1 MB of __metadata__");
      if (!result.emplace(key, std::move(value)).second)
        refuse(StoredFault::duplicate_key,
               "__metadata__: '" + shown_name(key) + "' stands twice");
    });
  }

  StoredTensor tensor(const std::string& name) {
    StoredTensor result;
    result.name = name;
    bool has_dtype = false, has_shape = false, has_offsets = false;
    space();
    if (peek() != '{')
      value_begins() ? wrong_type("an object for '" + shown_name(name) + "'")
                     : broken("expected an object");
    members([&](const std::string& field) {
      bool& has = field == "dtype"          ? has_dtype
                  : field == "shape"        ? has_shape
                  : field == "data_offsets" ? has_offsets
                                            : unknown_field(name, field);
      if (has)
        refuse(StoredFault::duplicate_key,
               "'" + shown_name(name) + "': " + field + " stands twice");
      has = true;
      if (field == "dtype") result.dtype = string_value("the name of a dtype");
      if (field == "shape")
        elements("a list of sizes", [&] {
          if (result.sizes.size() == most_axes)
            refuse(StoredFault::rank_too_large,
                   "'" + shown_name(name) + "' has more than 8 axes");
          result.sizes.push_back(number());
        });
      if (field == "data_offsets") offsets(result);
    });
    const char* missing = !has_dtype     ? "dtype"
                          : !has_shape   ? "shape"
                          : !has_offsets ? "data_offsets"
                                         : nullptr;
    if (missing != nullptr)
      refuse(StoredFault::missing_field, "'" + shown_name(name) + "' has no " + missing);
    return result;
  }

  [[noreturn]] static bool& unknown_field(const std::string& name, const std::string& field) {
    refuse(StoredFault::unknown_field,
           "'" + shown_name(name) + "' has a field '" + shown_name(field) + "'");
  }

  void offsets(StoredTensor& tensor) {
    std::uint64_t pair[2] = {};
    std::size_t count = 0;
    elements("two offsets", [&] {
      if (count == 2) wrong_type("two offsets");
      pair[count++] = number();
    });
    if (count != 2) wrong_type("two offsets");
    tensor.begin = pair[0], tensor.end = pair[1];
  }

  static void check_name(const std::string& name) {
    const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
    if (name.empty() || name.size() > most_name || std::any_of(name.begin(), name.end(), control))
      refuse(StoredFault::bad_name, "a tensor's name must have 1 to 1,024 bytes and no control "
                                    "characters: got '" + shown_name(name) + "'");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool has_metadata_ = false;
};

// Bytes of a tensor: the product of its sizes and the width of its type. A size of 0 does not hide an
// overflow of the others, which strides would run into.
std::uint64_t bytes_of(const StoredTensor& tensor) {
  const std::string name = "'" + shown_name(tensor.name) + "'";
  const auto type = std::find_if(std::begin(types), std::end(types),
                                 [&](const Type& known) { return known.name == tensor.dtype; });
  if (type == std::end(types))
    refuse(StoredFault::unknown_dtype,
           name + " has a dtype '" + shown_name(tensor.dtype) + "', which the format does not know");
  std::uint64_t numbers = 1, span = type->bits;
  for (const std::uint64_t size : tensor.sizes) {
    const std::uint64_t at_least_one = std::max<std::uint64_t>(size, 1);
    if (at_least_one > most_size / span)
      refuse(StoredFault::size_overflow, name + " has more bytes than a file can");
    span *= at_least_one;
    numbers *= size;
  }
  const std::uint64_t bits = numbers * type->bits;
  if (bits % 8 != 0)
    refuse(StoredFault::misaligned_size, name + " does not fill whole bytes");
  return bits / 8;
}

void check_ranges(std::vector<StoredTensor>& tensors, std::uint64_t available) {
  std::sort(tensors.begin(), tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::uint64_t end = 0;
  for (const StoredTensor& tensor : tensors) {
    const std::string name = "'" + shown_name(tensor.name) + "'";
    if (tensor.begin != end || tensor.end < tensor.begin)
      refuse(StoredFault::invalid_offset,
             name + " has bytes " + std::to_string(tensor.begin) + " to " +
                 std::to_string(tensor.end) + ", which must begin at " + std::to_string(end));
    const std::uint64_t bytes = bytes_of(tensor);
    if (tensor.end - tensor.begin != bytes)
      refuse(StoredFault::size_mismatch,
             name + " has " + std::to_string(tensor.end - tensor.begin) + " bytes, and its shape " +
                 std::to_string(bytes));
    end = tensor.end;
  }
  if (end != available)
    refuse(StoredFault::incomplete_buffer,
           "the header describes " + std::to_string(end) + " bytes of numbers, and the file has " +
               std::to_string(available));
}

void check_names(const std::vector<StoredTensor>& tensors) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const StoredTensor& tensor : tensors) names.emplace_back(tensor.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    refuse(StoredFault::duplicate_key, "'" + shown_name(*twice) + "' stands twice");
}

// What such a file usually is instead.
std::string looks_like(std::string_view file) {
  const auto begins = [&](std::string_view magic) { return file.substr(0, magic.size()) == magic; };
  if (begins("version https://git-lfs")) return "; it looks like a pointer of Git LFS";
  if (begins("<!DOCTYPE") || begins("<html")) return "; it looks like a web page";
  if (begins("PK\x03\x04")) return "; it looks like a zip file, such as PyTorch's .pt";
  if (begins("\x1f\x8b")) return "; it looks like a gzip file";
  if (begins("GGUF")) return "; it looks like a GGUF file";
  if (begins("\x80\x02") || begins("\x80\x04")) return "; it looks like a Python pickle";
  return "";
}

}  // namespace

std::string shown_name(std::string_view name) {
  std::string shown;
  for (const char c : name.substr(0, 80)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F) {
      shown += c;
      continue;
    }
    constexpr std::string_view digits = "0123456789abcdef";
    shown += "\\x";
    shown += digits[byte >> 4];
    shown += digits[byte & 15];
  }
  return name.size() > 80 ? shown + "..." : shown;
}

StoredHeader stored_header(std::string_view file) {
  if (file.size() < 8)
    refuse(StoredFault::header_too_small, "a safetensors file has at least 8 bytes: got " +
                                              std::to_string(file.size()) + looks_like(file));
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | static_cast<unsigned char>(file[static_cast<std::size_t>(i)]);
  if (length > most_header)
    refuse(StoredFault::header_too_large, "the header would have " + std::to_string(length) +
                                              " bytes, over 100,000,000" + looks_like(file));
  if (length > file.size() - 8)
    refuse(StoredFault::invalid_header_length,
           "the header would have " + std::to_string(length) + " bytes, and the file has " +
               std::to_string(file.size() - 8) + " behind its length");
  const std::string_view text = file.substr(8, static_cast<std::size_t>(length));
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (!point.valid)
      refuse(StoredFault::invalid_utf8,
             "the header is not UTF-8 at byte " + std::to_string(8 + at));
    at += point.bytes;
  }
  StoredHeader header;
  header.data = 8 + text.size();
  Parser(text).header(header);
  check_names(header.tensors);
  check_ranges(header.tensors, file.size() - header.data);
  return header;
}

}  // namespace fledge::inline FLEDGE_BUILD
