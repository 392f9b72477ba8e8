// The numbers of a safetensors file, and writing one.
#include "nn/io/safetensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/errors.h"
#include "nn/io/json.h"

namespace fledge::inline FLEDGE_BUILD {

namespace {

// The unsigned number of `bytes` bytes at p, little-endian, wherever p is aligned and whatever this
// machine's order is.
std::uint64_t little_endian(const char* p, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i > 0; --i)
    value = value << 8 | static_cast<unsigned char>(p[i - 1]);
  return value;
}
void append_little_endian(std::string& to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i) & 0xFF);
}

template <class To, class From>
To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// IEEE 754 half precision: 1 sign, 5 exponent, 10 fraction bits.
double from_half(std::uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<double>(bits & 1023);
  const double size = exponent == 0    ? std::ldexp(fraction, -24)
                      : exponent == 31 ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                                       : std::ldexp(1024 + fraction, exponent - 25);
  return (bits >> 15) != 0 ? -size : size;
}

double signed_number(std::uint64_t bits, std::size_t bytes, const StoredTensor& tensor) {
  const unsigned shift = 64 - 8 * static_cast<unsigned>(bytes);
  const auto value = static_cast<std::int64_t>(bits << shift) >> shift;
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  if (value > exact || value < -exact)
    throw StoredError(StoredFault::bad_value, "'" + shown_name(tensor.name) + "' holds " +
                                                  std::to_string(value) +
                                                  ", which is not exact as a float");
  return static_cast<double>(value);
}

}  // namespace

std::vector<double> stored_numbers(std::string_view file, const StoredHeader& header,
                                   const StoredTensor& tensor) {
  using Read = double (*)(std::uint64_t, const StoredTensor&);
  struct Type {
    std::string_view name;
    std::size_t bytes;
    Read read;
  };
  static constexpr Type types[] = {
      {"F64", 8, [](std::uint64_t b, const StoredTensor&) { return same_bits<double>(b); }},
      {"F32", 4,
       [](std::uint64_t b, const StoredTensor&) {
         return static_cast<double>(same_bits<float>(static_cast<std::uint32_t>(b)));
       }},
      {"F16", 2, [](std::uint64_t b, const StoredTensor&) { return from_half(b); }},
      {"BF16", 2,
       [](std::uint64_t b, const StoredTensor&) {
         return static_cast<double>(same_bits<float>(static_cast<std::uint32_t>(b << 16)));
       }},
      {"I64", 8, [](std::uint64_t b, const StoredTensor& t) { return signed_number(b, 8, t); }},
      {"I32", 4, [](std::uint64_t b, const StoredTensor& t) { return signed_number(b, 4, t); }},
      {"I16", 2, [](std::uint64_t b, const StoredTensor& t) { return signed_number(b, 2, t); }},
      {"I8", 1, [](std::uint64_t b, const StoredTensor& t) { return signed_number(b, 1, t); }},
      {"U8", 1, [](std::uint64_t b, const StoredTensor&) { return static_cast<double>(b); }},
      {"BOOL", 1,
       [](std::uint64_t b, const StoredTensor& t) {
         if (b > 1)
           throw StoredError(StoredFault::bad_value, "'" + shown_name(t.name) + "' holds a BOOL of " +
                                                         std::to_string(b));
         return static_cast<double>(b);
       }},
  };
  const auto type = std::find_if(std::begin(types), std::end(types),
                                 [&](const Type& known) { return known.name == tensor.dtype; });
  if (type == std::end(types))
    throw StoredError(StoredFault::unsupported_dtype,
                      "'" + shown_name(tensor.name) + "' has dtype " + tensor.dtype +
                          ", which is not read here: use F64, F32, F16, BF16, an integer or BOOL");
  const std::string_view bytes =
      file.substr(header.data + static_cast<std::size_t>(tensor.begin),
                  static_cast<std::size_t>(tensor.end - tensor.begin));
  std::vector<double> numbers(bytes.size() / type->bytes);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = type->read(little_endian(bytes.data() + i * type->bytes, type->bytes), tensor);
  return numbers;
}

namespace {

#if defined(FLEDGE_DOUBLE) || defined(FLEDGE_DUAL)
constexpr const char* real_dtype = "F64";
constexpr std::size_t real_bytes = 8;
std::uint64_t bits_of(Real x) { return same_bits<std::uint64_t>(value_of(x)); }
#else
constexpr const char* real_dtype = "F32";
constexpr std::size_t real_bytes = 4;
std::uint64_t bits_of(Real x) { return same_bits<std::uint32_t>(x); }
#endif

void require_storable(const std::string& name) {
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  bool utf8 = true;
  for (std::size_t at = 0; at < name.size();) {
    const CodePoint point = code_point_at(name, at);
    utf8 = utf8 && point.valid;
    at += point.bytes;
  }
  require<ValueError>(!name.empty() && name.size() <= 1024 && name != "__metadata__" && utf8 &&
                          std::none_of(name.begin(), name.end(), control),
                      "stored_bytes", "a tensor cannot be stored as '", shown_name(name),
                      "': names have 1 to 1,024 bytes of UTF-8 and no control characters");
}

}  // namespace

std::string stored_bytes(std::vector<NamedArray> arrays,
                         const std::map<std::string, std::string>& metadata) {
  std::sort(arrays.begin(), arrays.end(),
            [](const NamedArray& a, const NamedArray& b) { return a.name < b.name; });
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    require_storable(arrays[i].name);
    require<ValueError>(i == 0 || arrays[i].name != arrays[i - 1].name, "stored_bytes", "two tensors are named '",
                        arrays[i].name, "'");
  }
  std::string header = "{";
  if (!metadata.empty()) {
    header += "\"__metadata__\":{";
    for (const auto& [key, value] : metadata)
      header += json_string(key) + ":" + json_string(value) + ",";
    header.back() = '}';
    header += ',';
  }
  std::size_t end = 0;
  for (const NamedArray& named : arrays) {
    header += json_string(named.name) + ":{\"dtype\":\"" + real_dtype + "\",\"shape\":[";
    for (const Dim size : named.array.shape()) header += std::to_string(size) + ",";
    if (header.back() == ',') header.pop_back();
    const std::size_t begin = end;
    end += static_cast<std::size_t>(named.array.size()) * real_bytes;
    header += "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]},";
  }
  if (header.back() == ',') header.pop_back();
  header += '}';
  header.resize((header.size() + 7) / 8 * 8, ' ');

  std::string bytes;
  bytes.reserve(8 + header.size() + end);
  append_little_endian(bytes, header.size(), 8);
  bytes += header;
  for (const NamedArray& named : arrays)
    for (Dim i = 0; i < named.array.size(); ++i)
      append_little_endian(bytes, bits_of(named.array[i]), real_bytes);
  return bytes;
}

}  // namespace fledge::inline FLEDGE_BUILD
