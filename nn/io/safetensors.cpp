// Reads the header of a safetensors file and compares it with the size of the file.
#include "nn/io/safetensors.h"

#include <algorithm>
#include <limits>

#include "nn/io/json_reader.h"

namespace fledge {

namespace {

constexpr std::size_t most_tensors = 1'000'000;
constexpr std::int64_t most_number = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void refuse(const std::string& problem) { throw FormatError(problem); }

// Bytes of a tensor: the product of its sizes and the width of its type. The product must not
// overflow even if one size is 0, because strides are products of the other sizes.
std::uint64_t bytes_of(const std::string& name, const std::vector<Dim>& sizes, unsigned bits) {
  std::int64_t numbers = 1, span = bits;
  for (const Dim size : sizes) {
    if (size > most_number / span) refuse(in_quotes(name) + " has more bytes than a file can");
    span *= std::max<Dim>(size, 1);
    numbers *= size;
  }
  if (numbers * bits % 8 != 0) refuse(in_quotes(name) + " does not fill whole bytes");
  return static_cast<std::uint64_t>(numbers) * bits / 8;
}

// Offsets in the file count from `data`, the end of the header.
StoredTensor tensor_of(const std::string& name, const JsonValue& json, std::size_t data) {
  if (!is_tensor_name(name))
    refuse("a tensor's name must have 1 to 1,024 bytes and no control characters: got " +
           in_quotes(name));
  json.allow_only({"dtype", "shape", "data_offsets"});
  const JsonValue dtype = json["dtype"], shape = json["shape"], range = json["data_offsets"];
  StoredTensor tensor;
  tensor.name = name;
  tensor.dtype = dtype.string();
  const unsigned bits = bits_of(tensor.dtype);
  if (bits == 0)
    dtype.fail("is a dtype that the format does not know: got " + in_quotes(tensor.dtype));
  std::vector<Dim> sizes;
  shape.each_item([&](const JsonValue& size) {
    if (sizes.size() == Shape::max_rank) shape.fail("has more than 8 axes");
    sizes.push_back(size.integer(0, most_number));
  });
  std::vector<std::uint64_t> offsets;
  range.each_item([&](const JsonValue& offset) {
    const std::int64_t number = offset.integer(0, most_number - most_header_bytes - 8);
    if (offsets.size() < 3) offsets.push_back(data + static_cast<std::uint64_t>(number));
  });
  if (offsets.size() != 2) range.fail("must be two offsets");
  tensor.begin = offsets[0];
  tensor.end = offsets[1];
  const std::uint64_t bytes = bytes_of(name, sizes, bits);
  if (tensor.end < tensor.begin || tensor.end - tensor.begin != bytes)
    refuse(in_quotes(name) + " has bytes " + std::to_string(offsets[0] - data) + " to " +
           std::to_string(offsets[1] - data) + ", and its shape has " + std::to_string(bytes) +
           " bytes");
  tensor.shape = Shape(sizes);
  return tensor;
}

std::map<std::string, std::string> metadata_of(const JsonValue& json) {
  std::map<std::string, std::string> metadata;
  std::size_t size = 0;
  json.each_member([&](const std::string& key, const JsonValue& value) {
    const std::string& text = metadata[key] = value.string();
    size += key.size() + text.size();
    if (size > most_metadata_bytes) refuse("the header has more than 1 MB of __metadata__");
  });
  return metadata;
}

// The numbers must lie end to end, without gaps, up to the end of the file.
void sort_and_check_ranges(StoredHeader& header, std::uint64_t file_size) {
  const auto earlier = [](const StoredTensor& a, const StoredTensor& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  };
  if (!std::is_sorted(header.tensors.begin(), header.tensors.end(), earlier))
    std::stable_sort(header.tensors.begin(), header.tensors.end(), earlier);
  std::uint64_t end = header.data;
  for (const StoredTensor& tensor : header.tensors) {
    if (tensor.begin != end)
      refuse(in_quotes(tensor.name) + " has bytes " + std::to_string(tensor.begin - header.data) +
             " to " + std::to_string(tensor.end - header.data) + ", and must begin at " +
             std::to_string(end - header.data));
    end = tensor.end;
  }
  if (end != file_size)
    refuse("the header describes " + std::to_string(end - header.data) +
           " bytes of numbers, and the file has " + std::to_string(file_size - header.data));
}

// The format of a file that is not safetensors, guessed from its first bytes.
std::string looks_like(std::string_view file) {
  constexpr std::string_view known[][2] = {{"version https://git-lfs", "a pointer of Git LFS"},
                                           {"<!DOCTYPE", "a web page"},
                                           {"<!doctype", "a web page"},
                                           {"<html", "a web page"},
                                           {"PK\x03\x04", "a zip file, such as PyTorch's .pt"},
                                           {"\x1f\x8b", "a gzip file"},
                                           {"GGUF", "a GGUF file"},
                                           {"\x80\x02", "a Python pickle"},
                                           {"\x80\x04", "a Python pickle"},
                                           {"{", "JSON alone"}};
  for (const auto& [magic, name] : known)
    if (file.substr(0, magic.size()) == magic) return "; it looks like " + std::string(name);
  return "";
}

}  // namespace

bool is_tensor_name(std::string_view name) {
  return !name.empty() && name.size() <= 1024 && first_not_utf8(name) == std::string_view::npos &&
         std::none_of(name.begin(), name.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

StoredHeader stored_header(std::string_view file) {
  if (file.size() < 8)
    refuse("a safetensors file has at least 8 bytes: got " + std::to_string(file.size()) +
           looks_like(file));
  std::uint64_t length = 0;
  for (std::size_t i = 8; i > 0; --i)
    length = length << 8 | static_cast<unsigned char>(file[i - 1]);
  if (length > most_header_bytes)
    refuse("the header would have " + std::to_string(length) + " bytes, over 100,000,000" +
           looks_like(file));
  if (length > file.size() - 8)
    refuse("the header would have " + std::to_string(length) + " bytes, and the file has " +
           std::to_string(file.size() - 8) + " behind its length");
  StoredHeader header;
  header.data = 8 + static_cast<std::size_t>(length);
  located_at("the header", [&] {
    const JsonValue json =
        read_json(std::string(file.substr(8, header.data - 8)), most_header_bytes);
    std::size_t count = 0;
    json.each_member([&](const std::string&, const JsonValue&) { ++count; });
    if (count > most_tensors) json.fail("has more than 1,000,000 tensors");
    header.tensors.reserve(count);
    json.each_member([&](const std::string& key, const JsonValue& value) {
      if (key == "__metadata__")
        header.metadata = metadata_of(value);
      else
        header.tensors.push_back(tensor_of(key, value, header.data));
    });
  });
  sort_and_check_ranges(header, file.size());
  return header;
}

}  // namespace fledge
