// The bug zoo: the library with one planted bug, which the reader is to find.
#pragma once

#include "copy.h"

namespace planted {

/// Of the bugs that change a gradient plants that of this number in `folder`, or the next that `fledge
/// gradcheck` refuses, so that it can be found. Prints how to look for it, not which it is.
void let_in(const std::vector<Bug>& bugs, unsigned number, const fs::path& sources,
            const fs::path& folder);

/// Prints which bug is in, as `folder`/number has it.
void tell(const std::vector<Bug>& bugs, const fs::path& sources, const fs::path& folder);

}  // namespace planted
