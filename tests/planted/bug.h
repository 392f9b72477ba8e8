// A planted bug: a mistake that was really made, or that an operator proposes. It is made again in a
// copy of the sources.
#pragma once

#include <string_view>

namespace planted {

struct Bug {
  std::string_view name;     // in lower case and hyphens
  std::string_view file;     // of the source it is planted in
  std::string_view find;     // stands exactly once in that file, white space aside
  std::string_view replace;  // what it becomes
  std::string_view seen;     // where the bug was seen in the wild, or the operator
  // For a header that everything includes: the sources that call what changes, between spaces. They
  // alone are compiled again.
  std::string_view callers = "";
  // Where no gradient can tell, tests32 is asked, and nothing else.
  bool tests_alone = false;
};

}  // namespace planted
