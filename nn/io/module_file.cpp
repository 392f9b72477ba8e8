#include "nn/io/module_file.h"

#include <fcntl.h>

#include "nn/io/checksum.h"
#include "nn/io/folder.h"
#include "nn/io/safetensors.h"

namespace fledge {

void write_parameters(const std::vector<NamedTensor>& parameters, const std::string& path) {
  std::vector<NamedArray> arrays;
  for (const auto& [name, tensor] : parameters) {
    const Array value = tensor.value();
    const auto is_lost = [](Real x) { return !std::isfinite(static_cast<float>(value_of(x))); };
    const Dim at = std::find_if(value.data(), value.data() + value.size(), is_lost) - value.data();
    require<ValueError>(at == value.size(), "save", in_quotes(name),
                        " must hold numbers that are finite: number ", at, " is not; ",
                        in_quotes(path), " has not been written");
    arrays.push_back({name, value});
  }
  replace_file(path, stored_bytes(std::move(arrays)));
}

void read_parameters(const std::vector<NamedTensor>& parameters, const std::string& path) {
  const ByteSource file(Descriptor(AT_FDCWD, path, O_RDONLY), path);
  std::vector<Array> values;
  located_at(in_quotes(path), [&] {
    const StoredHeader header = stored_header(file);
    if (!header.text("checksum").empty()) require_checksum(file, header.end);
    NamedTensors stored;
    for (const StoredTensor& tensor : header.tensors) stored.emplace(tensor.name, &tensor);
    NamedShapes expected;
    for (const auto& [name, tensor] : parameters) expected.emplace_back(name, tensor.shape());
    for (const StoredTensor* tensor : find_tensors(std::move(stored), expected))
      values.push_back(read_array(file, *tensor));
  });
  std::vector<Real*> to;
  for (const auto& [name, tensor] : parameters) to.push_back(tensor.write());
  for (std::size_t i = 0; i < to.size(); ++i)
    std::copy_n(values[i].data(), values[i].size(), to[i]);
}

}  // namespace fledge
