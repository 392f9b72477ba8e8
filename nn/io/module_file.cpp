#include "nn/io/module_file.h"

#include <fcntl.h>

#include <map>

#include "nn/io/checksum.h"
#include "nn/io/folder.h"
#include "nn/io/safetensors.h"

namespace fledge {

namespace {

const StoredTensor& find_tensor(const std::map<std::string_view, const StoredTensor*>& stored,
                                const std::string& name, const Shape& shape) {
  const auto found = stored.find(name);
  require<FormatError>(found != stored.end(), in_quotes(name), "must have shape ", shape,
                       ": the file has no tensor of this name");
  require<FormatError>(found->second->shape == shape, in_quotes(name), "must have shape ", shape,
                       ": in the file it has shape ", found->second->shape);
  return *found->second;
}

}  // namespace

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
    std::map<std::string_view, const StoredTensor*> stored;
    for (const StoredTensor& tensor : header.tensors) stored.emplace(tensor.name, &tensor);
    for (const auto& [name, tensor] : parameters) {
      values.emplace_back(tensor.shape());
      read_numbers(file, find_tensor(stored, name, tensor.shape()), values.back().write());
      stored.erase(name);
    }
    require<FormatError>(stored.empty(), "load", "the file has ",
                         stored.empty() ? "" : in_quotes(stored.begin()->first),
                         ", which is not in the module");
  });
  std::vector<Real*> to;
  for (const auto& [name, tensor] : parameters) to.push_back(tensor.write());
  for (std::size_t i = 0; i < to.size(); ++i)
    std::copy_n(values[i].data(), values[i].size(), to[i]);
}

}  // namespace fledge
