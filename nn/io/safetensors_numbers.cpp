// Reads and writes the numbers of a safetensors file.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "engine/base/errors.h"
#include "nn/io/json.h"
#include "nn/io/safetensors.h"

namespace fledge {

namespace {

// Reads or writes a little-endian number at any address, on a machine of any byte order.
template <class T>
T load(const char* from) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof bytes);
  if constexpr (std::endian::native == std::endian::big) std::reverse(bytes, bytes + sizeof bytes);
  T number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}
template <class T>
void store(T number, char* to) {
  std::memcpy(to, &number, sizeof number);
  if constexpr (std::endian::native == std::endian::big) std::reverse(to, to + sizeof number);
}

template <class T>
double load_double(const char* from) {
  return static_cast<double>(load<T>(from));
}

// A bfloat16 is the upper half of a float.
double load_bfloat16(const char* from) {
  char bytes[4];
  store(static_cast<std::uint32_t>(load<std::uint16_t>(from)) << 16, bytes);
  return load_double<float>(bytes);
}

// IEEE 754 half precision: 1 sign, 5 exponent, 10 fraction bits.
double load_half(const char* from) {
  const auto bits = load<std::uint16_t>(from);
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 0   ? std::ldexp(fraction, -24)
                      : exponent < 31 ? std::ldexp(1024 + fraction, exponent - 25)
                      : fraction == 0 ? infinity
                                      : std::numeric_limits<double>::quiet_NaN();
  return (bits >> 15) != 0 ? -size : size;
}

struct Type {
  std::string_view name;
  unsigned bits;
  double (*load)(const char* from) = nullptr;  // null: this type is not read
  double most = infinity;                      // the largest absolute value that is read
};
constexpr Type types[] = {{"F64", 64, load_double<double>},
                          {"F32", 32, load_double<float>},
                          {"F16", 16, load_half},
                          {"BF16", 16, load_bfloat16},
                          {"I64", 64, load_double<std::int64_t>, 9007199254740991.0},
                          {"I32", 32, load_double<std::int32_t>},
                          {"I16", 16, load_double<std::int16_t>},
                          {"I8", 8, load_double<std::int8_t>},
                          {"U8", 8, load_double<std::uint8_t>},
                          {"BOOL", 8, load_double<std::uint8_t>, 1},
                          {"U16", 16},
                          {"U32", 32},
                          {"U64", 64},
                          {"C64", 64},
                          {"F4", 4},
                          {"F6_E2M3", 6},
                          {"F6_E3M2", 6},
                          {"F8_E5M2", 8},
                          {"F8_E4M3", 8},
                          {"F8_E8M0", 8},
                          {"F8_E4M3FNUZ", 8},
                          {"F8_E5M2FNUZ", 8}};

const Type* find_type(std::string_view name) {
  const auto found = std::find_if(std::begin(types), std::end(types),
                                  [&](const Type& type) { return type.name == name; });
  return found == std::end(types) ? nullptr : found;
}

// The number that is stored for x.
template <class T>
float stored_number(T x) {
  if constexpr (std::is_same_v<T, float>)
    return x;  // keeps every bit, also those of a NaN
  else
    return static_cast<float>(value_of(x));
}

// Calls f(index, number) for each number of a tensor, in order.
template <class F>
void each_number(std::string_view file, const StoredTensor& tensor, F f) {
  const std::string_view bytes = file.substr(static_cast<std::size_t>(tensor.begin),
                                             static_cast<std::size_t>(tensor.end - tensor.begin));
  const char* const from = bytes.data();
  if constexpr (std::is_same_v<Real, float>)
    if (tensor.dtype == "F32") {
      const std::size_t count = bytes.size() / sizeof(Real);
      for (std::size_t i = 0; i < count; ++i) f(i, load<Real>(from + i * sizeof(Real)));
      return;
    }
  const auto refuse = [&](const std::string& problem) {
    throw FormatError(in_quotes(tensor.name) + " " + problem);
  };
  const Type& type = *find_type(tensor.dtype);
  if (type.load == nullptr)
    refuse("has dtype " + tensor.dtype +
           ", which is not read here: use F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL");
  const std::size_t width = type.bits / 8;
  for (std::size_t i = 0; i < bytes.size() / width; ++i) {
    const double number = type.load(from + i * width);
    if (std::abs(number) > type.most)
      refuse(width == 1 ? "holds a BOOL of " + json_number(number)
                        : "holds a whole number of 2^53 or more");
    f(i, Real(number));
  }
}

void require_storable(const std::vector<NamedArray>& sorted,
                      const std::map<std::string, std::string>& metadata) {
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const std::string& name = sorted[i].name;
    require<ValueError>(is_tensor_name(name) && name != "__metadata__", "stored_bytes",
                        "a tensor cannot be stored as ", in_quotes(name),
                        ": names have 1 to 1,024 bytes of UTF-8 and no control characters");
    require<ValueError>(i == 0 || name != sorted[i - 1].name, "stored_bytes",
                        "two tensors are named ", in_quotes(name));
    require<ValueError>(sorted[i].array.exists(), "stored_bytes", in_quotes(name), " is no array");
  }
  std::size_t size = 0;
  for (const auto& [key, value] : metadata) {
    size += key.size() + value.size();
    require<ValueError>(
        first_not_utf8(key) == std::string::npos && first_not_utf8(value) == std::string::npos,
        "stored_bytes", "metadata ", in_quotes(key), " is not UTF-8");
  }
  require<ValueError>(size <= most_metadata_bytes, "stored_bytes",
                      "metadata have at most 1 MB: got ", size, " bytes");
}

}  // namespace

unsigned bits_of(std::string_view dtype) {
  const Type* const type = find_type(dtype);
  return type == nullptr ? 0 : type->bits;
}

std::optional<std::size_t> first_not_finite(std::string_view file, const StoredTensor& tensor) {
  std::optional<std::size_t> found;
  each_number(file, tensor, [&](std::size_t i, Real x) {
    if (!isfinite(x) && !found) found = i;
  });
  return found;
}

void read_numbers(std::string_view file, const StoredTensor& tensor, Real* to) {
  each_number(file, tensor, [&](std::size_t i, Real x) { to[i] = x; });
}

Array stored_array(std::string_view file, const StoredTensor& tensor) {
  Array array(tensor.shape);
  read_numbers(file, tensor, array.write());
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
    json.key(named.name).begin_object().field("dtype", "F32");
    json.key("shape").begin_array();
    for (const Dim size : named.array.shape()) json.value(size);
    json.end_array().key("data_offsets").begin_array().value(end);
    end += static_cast<std::size_t>(named.array.size()) * sizeof(float);
    json.value(end).end_array().end_object();
  }
  json.end_object();
  std::string header = json.text();
  header.resize((header.size() + 7) / 8 * 8, ' ');

  std::string bytes(8, '\0');
  bytes.reserve(8 + header.size() + end);
  store(static_cast<std::uint64_t>(header.size()), bytes.data());
  bytes += header;
  bytes.resize(bytes.size() + end);
  char* to = bytes.data() + 8 + header.size();
  for (const NamedArray& named : arrays) {
    const Real* const numbers = named.array.data();
    for (Dim i = 0; i < named.array.size(); ++i, to += sizeof(float))
      store(stored_number(numbers[i]), to);
  }
  return bytes;
}

}  // namespace fledge
