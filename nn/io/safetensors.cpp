#include "nn/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "nn/io/files.h"
#include "nn/io/json.h"

namespace fledge {

namespace {

constexpr std::size_t most_tensors = 1'000'000;
constexpr std::int64_t most_number = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void refuse(const std::string& problem) { throw FormatError(problem); }

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
double as_double(T number) {
  return static_cast<double>(number);
}

// A bfloat16 is the upper half of a float.
double bfloat16(std::uint16_t bits) {
  char bytes[4];
  store(static_cast<std::uint32_t>(bits) << 16, bytes);
  return as_double(load<float>(bytes));
}

// IEEE 754 half precision: 1 sign, 5 exponent, 10 fraction bits.
double half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 0   ? std::ldexp(fraction, -24)
                      : exponent < 31 ? std::ldexp(1024 + fraction, exponent - 25)
                                      : infinity;  // or not a number: neither is read
  return (bits >> 15) != 0 ? -size : size;
}

// Reads numbers up to the first one that is not finite or above `most`. Returns how many it read.
template <class T, double (*number_of)(T) = as_double<T>>
std::size_t read_all(const char* from, std::size_t count, double most, Real* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const double number = number_of(load<T>(from + i * sizeof(T)));
    to[i] = Real(number);
    if (!(std::abs(number) <= most) || !isfinite(to[i])) return i;
  }
  return count;
}

struct Type {
  std::string_view name;
  std::size_t bytes;
  std::size_t (*read)(const char* from, std::size_t count, double most, Real* to);
  double most = std::numeric_limits<double>::max();  // the largest absolute value that is read
};
constexpr Type types[] = {{"F64", 8, read_all<double>},
                          {"F32", 4, read_all<float>},
                          {"F16", 2, read_all<std::uint16_t, half>},
                          {"BF16", 2, read_all<std::uint16_t, bfloat16>},
                          {"I64", 8, read_all<std::int64_t>, 9007199254740991.0},
                          {"I32", 4, read_all<std::int32_t>},
                          {"I16", 2, read_all<std::int16_t>},
                          {"I8", 1, read_all<std::int8_t>},
                          {"U8", 1, read_all<std::uint8_t>},
                          {"BOOL", 1, read_all<std::uint8_t>, 1}};

const Type* find_type(std::string_view name) {
  const auto found = std::find_if(std::begin(types), std::end(types),
                                  [&](const Type& type) { return type.name == name; });
  return found == std::end(types) ? nullptr : found;
}

// Bytes of a tensor: the product of its sizes and the bytes of a number. The product must not
// overflow even if one size is 0, because strides are products of the other sizes.
std::uint64_t bytes_of(const std::string& name, const std::vector<Dim>& sizes, std::size_t width) {
  auto bytes = static_cast<std::int64_t>(width), span = bytes;
  for (const Dim size : sizes) {
    if (size > most_number / span) refuse(in_quotes(name) + " has more bytes than a file can");
    span *= std::max<Dim>(size, 1);
    bytes *= size;
  }
  return static_cast<std::uint64_t>(bytes);
}

// At most `most` whole numbers of an array.
std::vector<Dim> numbers_of(const JsonValue& json, std::size_t most) {
  std::vector<Dim> numbers;
  json.each_item([&](const JsonValue& number) {
    if (numbers.size() == most)
      json.fail("must be an array of at most " + std::to_string(most) + " numbers");
    numbers.push_back(number.integer(0, most_number - most_header_bytes - 8));
  });
  return numbers;
}

// Offsets in the file count from `data`, the end of the header.
StoredTensor tensor_of(const std::string& name, const JsonValue& json, std::size_t data) {
  const bool has_controls = std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  if (name.empty() || name.size() > 1024 || has_controls)
    refuse("a tensor's name must have 1 to 1,024 bytes and no control characters: got " +
           in_quotes(name));
  json.allow_only({"dtype", "shape", "data_offsets"});
  StoredTensor tensor{name, json["dtype"].string(), {}};
  const Type* const type = find_type(tensor.dtype);
  if (type == nullptr)
    json["dtype"].fail("must be F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL: got " +
                       in_quotes(tensor.dtype));
  const std::vector<Dim> sizes = numbers_of(json["shape"], Shape::max_rank);
  const std::vector<Dim> range = numbers_of(json["data_offsets"], 2);
  const std::uint64_t bytes = bytes_of(name, sizes, type->bytes);
  if (range.size() != 2 || range[1] < range[0] ||
      static_cast<std::uint64_t>(range[1] - range[0]) != bytes)
    json["data_offsets"].fail("must be two offsets, " + std::to_string(bytes) +
                              " bytes apart: got " + json["data_offsets"].shown());
  tensor.begin = data + static_cast<std::uint64_t>(range[0]);
  tensor.end = tensor.begin + bytes;
  tensor.shape = Shape(sizes);
  return tensor;
}

// The numbers must lie end to end, without gaps, up to the end of the file.
void sort_and_check_ranges(std::vector<StoredTensor>& tensors, std::size_t data,
                           std::uint64_t file_size) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::uint64_t end = data;
  for (const StoredTensor& tensor : tensors) {
    if (tensor.begin != end)
      refuse(in_quotes(tensor.name) + " begins at " + std::to_string(tensor.begin - data) +
             ", and must begin at " + std::to_string(end - data));
    end = tensor.end;
  }
  if (end != file_size)
    refuse("the header describes " + std::to_string(end - data) +
           " bytes of numbers, and the file has " + std::to_string(file_size - data));
}

// The format of a file that is not safetensors, guessed from its first bytes.
std::string looks_like(std::string_view file) {
  constexpr std::string_view known[][2] = {{"version https://git-lfs", "a pointer of Git LFS"},
                                           {"<", "a web page"},
                                           {"PK\x03\x04", "a zip file, such as PyTorch's .pt"},
                                           {"GGUF", "a GGUF file"},
                                           {"\x80", "a Python pickle"},
                                           {"{", "JSON alone"}};
  for (const auto& [magic, name] : known)
    if (file.starts_with(magic)) return "; it looks like " + std::string(name);
  return "";
}

}  // namespace

std::string StoredHeader::text(std::string_view key) const {
  const JsonValue value = metadata.is_null() ? JsonValue() : metadata.find(key);
  return value.is_null() ? "" : value.string();
}

StoredHeader stored_header(std::string_view file) {
  const auto length = file.size() < 8 ? ~std::uint64_t{0} : load<std::uint64_t>(file.data());
  if (length > most_header_bytes || length > file.size() - 8)
    refuse("the first 8 bytes must be the length of a header, which follows: the file has " +
           std::to_string(file.size()) + " bytes" +
           (file.size() < 8 ? "" : ", the header would have " + std::to_string(length)) +
           looks_like(file));
  StoredHeader header;
  const std::size_t data = 8 + static_cast<std::size_t>(length);
  located_at("the header", [&] {
    const JsonValue json = read_json(std::string(file.substr(8, data - 8)), most_header_bytes);
    std::size_t count = 0;
    json.each_member([&](const std::string&, const JsonValue&) { ++count; });
    if (count > most_tensors) json.fail("has more than 1,000,000 tensors");
    header.tensors.reserve(count);
    json.each_member([&](const std::string& key, const JsonValue& value) {
      if (key != "__metadata__") {
        header.tensors.push_back(tensor_of(key, value, data));
        return;
      }
      header.metadata = value;
      value.each_member([](const std::string&, const JsonValue& text) { (void)text.string(); });
    });
  });
  sort_and_check_ranges(header.tensors, data, file.size());
  return header;
}

void read_numbers(std::string_view file, const StoredTensor& tensor, Real* to) {
  const Type& type = *find_type(tensor.dtype);
  const auto count = static_cast<std::size_t>(tensor.end - tensor.begin) / type.bytes;
  const std::size_t read = type.read(file.data() + tensor.begin, count, type.most, to);
  if (read == count) return;
  const bool has_limit = type.most < std::numeric_limits<double>::max();
  refuse(in_quotes(tensor.name) + " must hold numbers that are finite" +
         (has_limit ? " and at most " + json_number(type.most) : "") + ": number " +
         std::to_string(read) + " is not");
}

std::string stored_bytes(std::vector<NamedArray> arrays,
                         const std::map<std::string, std::string>& metadata) {
  std::sort(arrays.begin(), arrays.end(),
            [](const NamedArray& a, const NamedArray& b) { return a.name < b.name; });
  Json::Members notes{{"checksum", std::string(16, '0')}}, entries;
  for (const auto& [key, value] : metadata) notes.emplace_back(key, value);
  entries.emplace_back("__metadata__", Json::object(notes));
  std::size_t end = 0;
  for (const auto& [name, array] : arrays) {
    const std::size_t begin = end;
    end += static_cast<std::size_t>(array.size()) * sizeof(float);
    entries.emplace_back(name, Json::object({{"dtype", "F32"},
                                             {"shape", array.shape()},
                                             {"data_offsets", std::vector{begin, end}}}));
  }
  std::string header = Json::object(entries).text();
  header.resize((header.size() + 7) / 8 * 8, ' ');

  std::string bytes(8, '\0');
  bytes.reserve(8 + header.size() + end);
  store(static_cast<std::uint64_t>(header.size()), bytes.data());
  bytes += header;
  bytes.resize(bytes.size() + end);
  char* to = bytes.data() + 8 + header.size();
  for (const auto& [name, array] : arrays)
    for (Dim i = 0; i < array.size(); ++i, to += sizeof(float))
      store(static_cast<float>(value_of(array.data()[i])), to);
  stored_header(bytes);  // refuses names that could not be read again
  return with_checksum(std::move(bytes));
}

}  // namespace fledge
