// The parameters of any module in a file: safetensors, which Python reads too.
#pragma once

#include <string>
#include <vector>

#include "nn/module.h"

namespace fledge {

void write_parameters(const std::vector<NamedTensor>& parameters, const std::string& path);
void read_parameters(const std::vector<NamedTensor>& parameters, const std::string& path);

/// Writes the parameters of a module, in float, under their dotted names. A file of this path is
/// replaced as a whole. Throws WriteError; ValueError for a number that is not finite in float, which
/// load() would refuse.
template <class M>
void save(const M& module, const std::string& path) {
  write_parameters(named_parameters(module), path);
}

/// Reads such a file into the parameters of a module: all of them, or after an error none. Throws
/// FileError; GraphError if a graph still needs the old values; FormatError naming the file if its
/// checksum, which other writers need not give, does not match, or naming the first tensor that is
/// missing, of another shape, or not in the module.
template <class M>
void load(const M& module, const std::string& path) {
  read_parameters(named_parameters(module), path);
}

}  // namespace fledge
