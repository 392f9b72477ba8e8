#include "nn/io/safetensors.h"

#include <cstring>
#include <set>
#include <tuple>

#include "engine/kernels/sums.h"
#include "nn/io/checksum.h"

namespace fledge {

namespace {

template <class T>
void store_little_endian(T number, char* to) {
  std::memcpy(to, &number, sizeof number);
  if constexpr (!is_little_endian) std::reverse(to, to + sizeof number);
}

template <class T>
double as_double(T number) {
  return static_cast<double>(number);
}

// A number of 16 bits as IEEE 754 defines it: a sign, `exponents` bits of exponent, and the
// fraction.
template <int exponents>
struct Float16 {
  static constexpr int fractions = 15 - exponents, most = (1 << exponents) - 1, bias = most / 2;

  static double read(std::uint16_t bits) {
    const int exponent = bits >> fractions & most, fraction = bits & ((1 << fractions) - 1);
    const double size = exponent == 0 ? std::ldexp(fraction, 1 - bias - fractions)
                        : exponent < most
                            ? std::ldexp((1 << fractions) + fraction, exponent - bias - fractions)
                            : infinity;  // or not a number: neither is read
    return (bits >> 15) != 0 ? -size : size;
  }
};

template <class T, double (*number_of)(T) = as_double<T>>
std::size_t read_all(const char* from, std::size_t count, double most, Real* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const double number = number_of(load_little_endian<T>(from + i * sizeof(T)));
    to[i] = Real(number);
    if (!(std::abs(number) <= most) || !isfinite(to[i])) return i;
  }
  return count;
}

constexpr double any_size = std::numeric_limits<double>::max();
constexpr Dtype types[] = {{"F64", 8, read_all<double>, any_size},
                           {"F32", 4, read_all<float>, any_size},
                           {"F16", 2, read_all<std::uint16_t, Float16<5>::read>, any_size},
                           {"BF16", 2, read_all<std::uint16_t, Float16<8>::read>, any_size},
                           {"I64", 8, read_all<std::int64_t>, 9007199254740991.0},
                           {"I32", 4, read_all<std::int32_t>, any_size},
                           {"I16", 2, read_all<std::int16_t>, any_size},
                           {"I8", 1, read_all<std::int8_t>, any_size},
                           {"U8", 1, read_all<std::uint8_t>, any_size},
                           {"BOOL", 1, read_all<std::uint8_t>, 1}};

constexpr std::size_t most_tensors = 1'000'000;
constexpr std::int64_t most_number = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void refuse(const std::string& problem, const std::string& advice = damage_advice) {
  throw FormatError(problem, advice);
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
  const Dtype* const type = find_dtype(tensor.dtype);
  if (type == nullptr)
    json["dtype"].fail("must be F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL: got " +
                       in_quotes(tensor.dtype));
  const std::vector<Dim> sizes = numbers_of(json["shape"], Shape::max_rank);
  const std::vector<Dim> range = numbers_of(json["data_offsets"], 2);
  const std::uint64_t bytes = bytes_of(name, sizes, type->bytes);
  if (range.size() != 2 || range[1] < range[0] ||
      static_cast<std::uint64_t>(range[1] - range[0]) != bytes)
    json["data_offsets"].refuse("must be two offsets, " + std::to_string(bytes) + " bytes apart");
  tensor.begin = data + static_cast<std::uint64_t>(range[0]);
  tensor.end = tensor.begin + bytes;
  tensor.shape = Shape(sizes);
  return tensor;
}

// The numbers must lie end to end, without gaps, up to the end of the file.
void sort_and_check_ranges(std::vector<StoredTensor>& tensors, std::size_t data,
                           std::uint64_t file_size) {
  std::sort(tensors.begin(), tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
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

// Throws for a file that is not safetensors. Its format is guessed from its first bytes.
[[noreturn]] void refuse_beginning(std::string_view file, const std::string& problem) {
  constexpr std::string_view known[][3] = {
      {pointer_beginning, "a pointer of Git LFS", pointer_advice},
      {"<", "a web page", "download the file itself"},
      {"PK\x03\x04", "a zip file, such as PyTorch's .pt", save_again_advice},
      {"GGUF", "a GGUF file", other_file_advice},
      {"\x80", "a Python pickle", save_again_advice},
      {"{", "JSON alone", damage_advice}};
  for (const auto& [magic, name, advice] : known)
    if (file.starts_with(magic))
      refuse(problem + "; it looks like " + std::string(name), std::string(advice));
  refuse(problem);
}

// Reads a chunk of numbers. Returns how many are finite and not above the limit of their type, up
// to the first that is not.
std::size_t read_chunk(const ByteSource& file, std::uint64_t at, std::size_t count,
                       const Dtype& type, Real* to) {
  if constexpr (std::is_same_v<Real, float> && is_little_endian)
    if (type.name == "F32") {  // the bytes are the numbers
      file.read(at, count * sizeof(Real), reinterpret_cast<char*>(to));
      if (kernels::all_finite(to, static_cast<Dim>(count))) return count;
      return static_cast<std::size_t>(
          std::find_if(to, to + count, [](Real x) { return !isfinite(x); }) - to);
    }
  const std::string bytes = file.read(at, count * type.bytes);
  return type.read(bytes.data(), count, type.most, to);
}

}  // namespace

const Dtype* find_dtype(std::string_view name) {
  const auto found = std::find_if(std::begin(types), std::end(types),
                                  [&](const Dtype& type) { return type.name == name; });
  return found == std::end(types) ? nullptr : found;
}

std::string StoredHeader::text(std::string_view key) const {
  const JsonValue value = metadata.is_null() ? JsonValue() : metadata.find(key);
  return value.is_null() ? "" : value.string();
}

StoredHeader stored_header(const ByteSource& file) {
  constexpr std::size_t magic = 32;  // bytes from which another format is guessed
  const std::string beginning = file.beginning(magic);
  const auto length =
      file.size() < 8 ? ~std::uint64_t{0} : load_little_endian<std::uint64_t>(beginning.data());
  if (length > most_header_bytes || length > file.size() - 8)
    refuse_beginning(
        beginning,
        "the first 8 bytes must be the length of a header, which follows: the file has " +
            std::to_string(file.size()) + " bytes" +
            (file.size() < 8 ? "" : ", the header would have " + std::to_string(length)));
  StoredHeader header;
  header.end = 8 + length;
  const auto data = static_cast<std::size_t>(header.end);
  located_at("the header", [&] {
    const JsonValue json = read_json(file.read(8, data - 8), most_header_bytes);
    std::size_t count = 0;
    json.each_member(
        [&](const std::string& key, const JsonValue&) { count += key == "__metadata__" ? 0 : 1; });
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

void read_numbers(const ByteSource& file, const StoredTensor& tensor, Real* to) {
  // A chunk stays in the L2 cache until it is checked.
  constexpr std::size_t chunk = 1 << 16;
  const Dtype& type = *find_dtype(tensor.dtype);
  const auto count = static_cast<std::size_t>(tensor.end - tensor.begin) / type.bytes;
  for (std::size_t first = 0; first < count; first += chunk) {
    const std::size_t part = std::min(chunk, count - first);
    const std::size_t read =
        read_chunk(file, tensor.begin + first * type.bytes, part, type, to + first);
    if (read == part) continue;
    const bool has_limit = type.most < std::numeric_limits<double>::max();
    refuse(in_quotes(tensor.name) + " must hold numbers that are finite" +
               (has_limit ? " and at most " + json_number(type.most) : "") + ": number " +
               std::to_string(first + read) + " is not",
           "use weights of a run that did not diverge");
  }
}

Array read_array(const ByteSource& file, const StoredTensor& tensor) {
  Array array(tensor.shape);
  read_numbers(file, tensor, array.write());
  return array;
}

std::vector<const StoredTensor*> find_tensors(NamedTensors tensors, const NamedShapes& expected) {
  std::vector<const StoredTensor*> result;
  std::set<std::string_view> names;
  for (const auto& [name, shape] : expected) names.insert(name);
  // Up to three tensors that are not expected: what the missing one may be called in the file.
  const auto others = [&] {
    std::string list;
    int count = 0;
    for (const auto& [name, tensor] : tensors)
      if (!names.contains(name) && count++ < 3) list += (count > 1 ? ", " : "") + in_quotes(name);
    return list.empty()
               ? ""
               : "; it has " + list + (count > 3 ? ", …" : "") + ", which this model does not have";
  };
  for (const auto& [name, shape] : expected) {
    const auto found = tensors.find(name);
    const bool is_there = found != tensors.end();
    if (!is_there || found->second->shape != shape)
      throw FormatError("its tensors: " + in_quotes(name) + " must have shape " + to_string(shape) +
                        ": the file has " +
                        (is_there ? to_string(found->second->shape) : "none" + others()));
    result.push_back(found->second);
    tensors.erase(found);
  }
  if (!tensors.empty())
    throw FormatError("its tensors: " + in_quotes(tensors.begin()->first) + " is not in the model");
  return result;
}

std::string stored_bytes(std::vector<NamedArray> arrays,
                         const std::map<std::string, std::string>& metadata) {
  std::sort(arrays.begin(), arrays.end(),
            [](const NamedArray& a, const NamedArray& b) { return a.name < b.name; });
  Json::Members notes{{"checksum", std::string(16, '0')}}, entries;
  for (const auto& [key, value] : metadata) notes.push_back({key, value});
  entries.push_back({"__metadata__", Json::object(notes)});
  std::size_t end = 0;
  for (const auto& [name, array] : arrays) {
    const std::size_t begin = end;
    end += static_cast<std::size_t>(array.size()) * sizeof(float);
    entries.push_back({name, Json::object({{"dtype", "F32"},
                                           {"shape", array.shape()},
                                           {"data_offsets", std::vector{begin, end}}})});
  }
  std::string header = Json::object(entries).text();
  header.resize((header.size() + 8 + 63) / 64 * 64 - 8, ' ');  // numbers are read to such addresses

  std::string bytes(8, '\0');
  bytes.reserve(8 + header.size() + end);
  store_little_endian(static_cast<std::uint64_t>(header.size()), bytes.data());
  bytes += header;
  bytes.resize(bytes.size() + end);
  char* to = bytes.data() + 8 + header.size();
  for (const auto& [name, array] : arrays)
    for (Dim i = 0; i < array.size(); ++i, to += sizeof(float))
      store_little_endian(static_cast<float>(value_of(array.data()[i])), to);
  stored_header(bytes);  // refuses names that could not be read again
  return with_checksum(std::move(bytes));
}

}  // namespace fledge
