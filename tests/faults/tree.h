// The files of a folder as values: to be kept, compared and put back.
#pragma once

#include <map>
#include <string>

namespace fledge::faults {

/// The bytes of each file by its path in the folder; a folder in it has the name "NAME/" and no
/// bytes.
using Tree = std::map<std::string, std::string>;

Tree read_tree(const std::string& folder);
/// Makes the folder, which must not be there.
void write_tree(const std::string& folder, const Tree& tree);

/// The first difference in words: "model.safetensors is missing"; empty when there is none.
std::string difference(const Tree& expected, const Tree& found);

}  // namespace fledge::faults
