// Whether a header is true of the bytes that are there.             Next: safetensors_numbers.cpp.
#include "nn/io/safetensors.h"

#include <algorithm>
#include <limits>

#include "nn/io/safetensors_header.h"

namespace fledge {

namespace {

constexpr std::uint64_t most_bits = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void refuse(SafetensorsFault fault, const std::string& message) {
  throw StoredError(fault, message);
}
std::string quoted(std::string_view name) { return "'" + escaped_name(name) + "'"; }

// Bytes of a tensor: the product of its sizes and the width of its type. A size of 0 does not hide
// an overflow of the others, which strides would run into.
std::uint64_t bytes_of(const StoredTensor& tensor) {
  const std::uint64_t bits = bits_of(tensor.dtype);
  std::uint64_t numbers = 1, span = bits;
  for (const std::uint64_t size : tensor.sizes) {
    if (size > most_bits / span)
      refuse(SafetensorsFault::size_overflow,
             quoted(tensor.name) + " has more bytes than a file can");
    span *= std::max<std::uint64_t>(size, 1);
    numbers *= size;
  }
  if (numbers * bits % 8 != 0)
    refuse(SafetensorsFault::misaligned_size, quoted(tensor.name) + " does not fill whole bytes");
  return numbers * bits / 8;
}

// The numbers lie end to end, without gaps, and end where the file does.
void check_ranges(std::vector<StoredTensor>& tensors, std::uint64_t available) {
  const auto earlier = [](const StoredTensor& a, const StoredTensor& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  };
  if (!std::is_sorted(tensors.begin(), tensors.end(), earlier))
    std::stable_sort(tensors.begin(), tensors.end(), earlier);
  std::uint64_t end = 0;
  for (const StoredTensor& tensor : tensors) {
    const auto [begin, until] = std::pair(tensor.begin, tensor.end);
    if (begin != end || until < begin)
      refuse(SafetensorsFault::invalid_offset,
             quoted(tensor.name) + " has bytes " + std::to_string(begin) + " to " +
                 std::to_string(until) + ", and must begin at " + std::to_string(end));
    const std::uint64_t bytes = bytes_of(tensor);
    if (until - begin != bytes)
      refuse(SafetensorsFault::size_mismatch, quoted(tensor.name) + " has " +
                                                  std::to_string(until - begin) +
                                                  " bytes, and its shape " + std::to_string(bytes));
    end = until;
  }
  if (end != available)
    refuse(SafetensorsFault::incomplete_buffer, "the header describes " + std::to_string(end) +
                                                    " bytes of numbers, and the file has " +
                                                    std::to_string(available));
}

void check_names(const std::vector<StoredTensor>& tensors) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const StoredTensor& tensor : tensors) names.emplace_back(tensor.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    refuse(SafetensorsFault::duplicate_key, quoted(*twice) + " stands twice");
}

// What such a file usually is instead.
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

const StoredTensor* StoredHeader::find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const StoredTensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

Shape shape_of(const StoredTensor& tensor) {
  const std::vector<Dim> sizes(tensor.sizes.begin(), tensor.sizes.end());
  return Shape(sizes);
}

StoredHeader stored_header(std::string_view file) {
  if (file.size() < 8)
    refuse(SafetensorsFault::header_too_small, "a safetensors file has at least 8 bytes: got " +
                                                   std::to_string(file.size()) + looks_like(file));
  std::uint64_t length = 0;
  for (std::size_t i = 8; i > 0; --i)
    length = length << 8 | static_cast<unsigned char>(file[i - 1]);
  if (length > most_header_bytes)
    refuse(SafetensorsFault::header_too_large, "the header would have " + std::to_string(length) +
                                                   " bytes, over 100,000,000" + looks_like(file));
  if (length > file.size() - 8)
    refuse(SafetensorsFault::invalid_header_length,
           "the header would have " + std::to_string(length) + " bytes, and the file has " +
               std::to_string(file.size() - 8) + " behind its length");
  const std::string_view text = file.substr(8, static_cast<std::size_t>(length));
  StoredHeader header = header_of(text);
  check_names(header.tensors);
  check_ranges(header.tensors, file.size() - header.data);
  return header;
}

}  // namespace fledge
