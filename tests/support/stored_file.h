// Bytes of safetensors files, made by hand.
#pragma once

#include <cstdint>
#include <string>

#include "nn/io/safetensors.h"
#include "tests/support/catch.h"

namespace tests {

/// A length as the format writes it: 8 bytes, the lowest first.
inline std::string length_bytes(std::uint64_t n) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(n >> (8 * i) & 0xFF);
  return bytes;
}

inline std::string stored_file(const std::string& header, const std::string& data) {
  return length_bytes(header.size()) + header + data;
}
/// With so many zeros as its numbers.
inline std::string stored_file(const std::string& header, std::size_t zeros = 0) {
  return stored_file(header, std::string(zeros, '\0'));
}

/// "NAME": an entry of a header.
inline std::string entry(const std::string& name, const std::string& dtype,
                         const std::string& shape, const std::string& offsets) {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
         offsets + "}";
}

/// Checks that the file is refused in words that have `part` and harm no terminal.
inline void check_refused(const std::string& bytes, const std::string& part) {
  INFO("a file that begins " << fledge::escaped_name(bytes));
  try {
    fledge::stored_header(bytes);
    FAIL_CHECK("it was accepted");
  } catch (const fledge::FormatError& error) {
    INFO(error.what());
    CHECK_THAT(error.what(), ContainsSubstring(part));
    CHECK(std::string(error.what()).find_first_of("\x1b\n\r\t") == std::string::npos);
  }
}

/// The numbers of a tensor. Throws as read_numbers() does.
inline fledge::Array stored_array(const std::string& file, const fledge::StoredTensor& tensor) {
  fledge::Array array(tensor.shape);
  fledge::read_numbers(file, tensor, array.write());
  return array;
}

/// A file with this text under a key of its metadata instead, and a new checksum.
inline std::string with_metadata(const std::string& file, const std::string& key,
                                 const std::string& text) {
  const fledge::StoredHeader header = fledge::stored_header(file);
  std::vector<fledge::NamedArray> arrays;
  for (const fledge::StoredTensor& tensor : header.tensors)
    arrays.push_back({tensor.name, stored_array(file, tensor)});
  std::map<std::string, std::string> metadata;
  header.metadata.each_member([&](const std::string& name, const fledge::JsonValue& value) {
    if (name != "checksum") metadata[name] = name == key ? text : value.string();
  });
  return fledge::stored_bytes(std::move(arrays), metadata);
}

/// The tensor of this name; null when there is none.
inline const fledge::StoredTensor* find(const fledge::StoredHeader& header,
                                        const std::string& name) {
  for (const fledge::StoredTensor& tensor : header.tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

}  // namespace tests
