#include "nn/io/checksum.h"

#include "nn/io/files.h"

namespace fledge {

namespace {

std::string checksum_of(std::string_view file, const StoredHeader& header) {
  std::string described;
  for (const auto& [key, value] : header.metadata) {
    if (key == "checksum") continue;
    // Of the key "run", only the value is part of the checksum: this keeps old checkpoints valid.
    if (key == "run")
      described += value;
    else
      described.append(key).append("=").append(value).append("\n");
  }
  for (const StoredTensor& tensor : header.tensors) {
    described.append("\n").append(tensor.name).append(" ").append(tensor.dtype);
    for (const Dim size : tensor.shape) described += ' ' + std::to_string(size);
  }
  return hexadecimal(hash_of(file.substr(header.data), hash_of(described)));
}

}  // namespace

std::string bytes_with_checksum(std::vector<NamedArray> arrays,
                                std::map<std::string, std::string> metadata) {
  const std::string no_checksum(16, '0');
  metadata["checksum"] = no_checksum;
  std::string bytes = stored_bytes(std::move(arrays), metadata);
  // This text occurs only once in the header, because JSON strings escape their quotes.
  const std::string slot = "\"checksum\":\"";
  return bytes.replace(bytes.find(slot) + slot.size(), no_checksum.size(),
                       checksum_of(bytes, stored_header(bytes)));
}

std::string require_checksum(std::string_view file, const StoredHeader& header) {
  const auto found = header.metadata.find("checksum");
  if (found == header.metadata.end()) return "";
  if (found->second != checksum_of(file, header))
    throw FormatError("the file is damaged: its checksum does not match its contents");
  return found->second;
}

}  // namespace fledge
