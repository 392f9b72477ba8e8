#include "nn/io/checksum.h"

#include "nn/io/files.h"
#include "nn/io/hex.h"

namespace fledge {

std::string checksum_of(std::string_view file, const StoredHeader& header) {
  std::string all;
  for (const auto& [key, value] : header.metadata) {
    if (key == "checksum") continue;
    // The first checkpoints had one more key, "run", and its value alone in their checksum.
    if (key == "run")
      all += value;
    else
      all.append(key).append("=").append(value).append("\n");
  }
  for (const StoredTensor& tensor : header.tensors) {
    all.append("\n").append(tensor.name).append(" ").append(tensor.dtype);
    for (const std::uint64_t size : tensor.sizes) all += ' ' + std::to_string(size);
  }
  return hexadecimal(hash_of(all.append(file.substr(header.data))));
}

std::string bytes_with_checksum(const std::vector<NamedArray>& arrays,
                                std::map<std::string, std::string> metadata) {
  const std::string without = stored_bytes(arrays, metadata);
  metadata["checksum"] = checksum_of(without, stored_header(without));
  return stored_bytes(arrays, metadata);
}

std::string require_checksum(std::string_view file, const StoredHeader& header) {
  const auto found = header.metadata.find("checksum");
  if (found == header.metadata.end()) return "";
  if (found->second != checksum_of(file, header))
    throw StoredError(SafetensorsFault::bad_value,
                      "the file is damaged: its checksum does not match its contents");
  return found->second;
}

}  // namespace fledge
