// The numbers of a safetensors file, read and written.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/base/errors.h"
#include "nn/io/json.h"
#include "nn/io/safetensors.h"

namespace fledge {

namespace {

// The unsigned number of `bytes` bytes at p, little-endian, wherever p is aligned and whatever this
// machine's order is.
std::uint64_t little_endian(const char* p, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i > 0; --i) value = value << 8 | static_cast<unsigned char>(p[i - 1]);
  return value;
}
void append_little_endian(std::string& to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i) & 0xFF);
}

template <class To, class From>
To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to{};
  std::memcpy(&to, &from, sizeof to);
  return to;
}

double from_single(std::uint64_t bits) {
  return static_cast<double>(same_bits<float>(static_cast<std::uint32_t>(bits)));
}

// IEEE 754 half precision: 1 sign, 5 exponent, 10 fraction bits.
double from_half(std::uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<double>(bits & 1023);
  const double size = exponent == 0   ? std::ldexp(fraction, -24)
                      : exponent < 31 ? std::ldexp(1024 + fraction, exponent - 25)
                      : fraction == 0 ? infinity
                                      : std::numeric_limits<double>::quiet_NaN();
  return (bits >> 15) != 0 ? -size : size;
}

// Two's complement of `width` bits.
double from_signed(std::uint64_t bits, unsigned width) {
  const bool negative = (bits >> (width - 1) & 1) != 0;
  const std::uint64_t size = negative ? ~(bits - 1) << (64 - width) >> (64 - width) : bits;
  return negative ? -static_cast<double>(size) : static_cast<double>(size);
}

struct Type {
  std::string_view name;
  std::size_t bytes;
  double (*read)(std::uint64_t bits);
  double most;  // the largest size that is read
};
constexpr double any = infinity;
constexpr Type types[] = {
    {"F64", 8, [](std::uint64_t bits) { return same_bits<double>(bits); }, any},
    {"F32", 4, from_single, any},
    {"F16", 2, from_half, any},
    {"BF16", 2, [](std::uint64_t bits) { return from_single(bits << 16); }, any},
    {"I64", 8, [](std::uint64_t bits) { return from_signed(bits, 64); }, 9007199254740991.0},
    {"I32", 4, [](std::uint64_t bits) { return from_signed(bits, 32); }, any},
    {"I16", 2, [](std::uint64_t bits) { return from_signed(bits, 16); }, any},
    {"I8", 1, [](std::uint64_t bits) { return from_signed(bits, 8); }, any},
    {"U8", 1, [](std::uint64_t bits) { return static_cast<double>(bits); }, any},
    {"BOOL", 1, [](std::uint64_t bits) { return static_cast<double>(bits); }, 1},
};

// How a Real is stored: without its tangent.
#if defined(FLEDGE_DOUBLE) || defined(FLEDGE_DUAL)
constexpr const char* real_dtype = "F64";
using Stored = double;
using StoredBits = std::uint64_t;
#else
constexpr const char* real_dtype = "F32";
using Stored = float;
using StoredBits = std::uint32_t;
#endif
constexpr std::size_t real_bytes = sizeof(Stored);

StoredBits bits_of(Real x) {
#if defined(FLEDGE_DUAL)
  return same_bits<StoredBits>(x.value);
#else
  return same_bits<StoredBits>(x);
#endif
}

std::string_view bytes_of(std::string_view file, const StoredHeader& header,
                          const StoredTensor& tensor) {
  return file.substr(header.data + static_cast<std::size_t>(tensor.begin),
                     static_cast<std::size_t>(tensor.end - tensor.begin));
}

void require_storable(const std::vector<NamedArray>& sorted,
                      const std::map<std::string, std::string>& metadata) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  const auto utf8 = [](const std::string& text) {
    return first_not_utf8(text) == std::string::npos;
  };
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const std::string& name = sorted[i].name;
    require<ValueError>(!name.empty() && name.size() <= 1024 && name != "__metadata__" &&
                            utf8(name) && std::none_of(name.begin(), name.end(), control),
                        "stored_bytes", "a tensor cannot be stored as '", escaped_name(name),
                        "': names have 1 to 1,024 bytes of UTF-8 and no control characters");
    require<ValueError>(i == 0 || name != sorted[i - 1].name, "stored_bytes",
                        "two tensors are named '", escaped_name(name), "'");
    require<ValueError>(sorted[i].array.exists(), "stored_bytes", "'", escaped_name(name),
                        "' is no array");
  }
  std::size_t size = 0;
  for (const auto& [key, value] : metadata) {
    size += key.size() + value.size();
    require<ValueError>(utf8(key) && utf8(value), "stored_bytes", "metadata '", escaped_name(key),
                        "' is not UTF-8");
  }
  require<ValueError>(size <= 1 << 20, "stored_bytes", "metadata have at most 1 MB: got ", size,
                      " bytes");
}

}  // namespace

namespace {

// f(place, number) for each number of a tensor, in order.
template <class F>
void each_number(std::string_view file, const StoredHeader& header, const StoredTensor& tensor,
                 F f) {
  const auto type = std::find_if(std::begin(types), std::end(types),
                                 [&](const Type& known) { return known.name == tensor.dtype; });
  if (type == std::end(types))
    throw StoredError(SafetensorsFault::unsupported_dtype,
                      "'" + escaped_name(tensor.name) + "' has dtype " + std::string(tensor.dtype) +
                          ", which is not read here: use F64, F32, F16, BF16, I64, I32, I16, I8, "
                          "U8 or BOOL");
  const std::string_view bytes = bytes_of(file, header, tensor);
  for (std::size_t i = 0; i < bytes.size() / type->bytes; ++i) {
    const std::uint64_t bits = little_endian(bytes.data() + i * type->bytes, type->bytes);
    const double number = type->read(bits);
    if (std::abs(number) > type->most)
      throw StoredError(SafetensorsFault::bad_value,
                        "'" + escaped_name(tensor.name) + "' holds " +
                            (type->bytes == 1 ? "a BOOL of " + std::to_string(bits)
                                              : "a whole number of 2^53 or more"));
    f(i, number);
  }
}

}  // namespace

std::vector<double> stored_numbers(std::string_view file, const StoredHeader& header,
                                   const StoredTensor& tensor) {
  std::vector<double> numbers;
  each_number(file, header, tensor, [&](std::size_t, double x) { numbers.push_back(x); });
  return numbers;
}

std::optional<std::size_t> first_not_finite(std::string_view file, const StoredHeader& header,
                                            const StoredTensor& tensor) {
  std::optional<std::size_t> found;
  each_number(file, header, tensor, [&](std::size_t i, double x) {
    if (!found && !isfinite(Real(x))) found = i;
  });
  return found;
}

void read_numbers(std::string_view file, const StoredHeader& header, const StoredTensor& tensor,
                  Real* to) {
  if (tensor.dtype != real_dtype)
    return each_number(file, header, tensor, [&](std::size_t i, double x) { to[i] = Real(x); });
  const std::string_view bytes = bytes_of(file, header, tensor);
  for (std::size_t i = 0; i < bytes.size() / real_bytes; ++i)
    to[i] = Real(same_bits<Stored>(
        static_cast<StoredBits>(little_endian(bytes.data() + i * real_bytes, real_bytes))));
}

Array stored_array(std::string_view file, const StoredHeader& header, const StoredTensor& tensor) {
  Array array(shape_of(tensor));
  read_numbers(file, header, tensor, array.write());
  return array;
}

std::string stored_bytes(std::vector<NamedArray> arrays,
                         const std::map<std::string, std::string>& metadata) {
  std::sort(arrays.begin(), arrays.end(),
            [](const NamedArray& a, const NamedArray& b) { return a.name < b.name; });
  require_storable(arrays, metadata);
  JsonWriter json;
  json.begin_object();
  if (!metadata.empty()) {
    json.key("__metadata__").begin_object();
    for (const auto& [key, value] : metadata) json.field(key, value);
    json.end_object();
  }
  std::size_t end = 0;
  for (const NamedArray& named : arrays) {
    json.key(named.name).begin_object().field("dtype", real_dtype);
    json.key("shape").begin_array();
    for (const Dim size : named.array.shape()) json.value(size);
    json.end_array().key("data_offsets").begin_array().value(end);
    end += static_cast<std::size_t>(named.array.size()) * real_bytes;
    json.value(end).end_array().end_object();
  }
  json.end_object();
  std::string header = json.text();
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

}  // namespace fledge
