// What a page shows without JavaScript, in print previews and in text browsers: the losses, the
// attention of the last snapshot and the continuations, as plain HTML.
#pragma once

#include <string>

#include "nn/io/json.h"

namespace fledge::page {

/// <header> and <main> of a page. `title` is escaped already; data as in page_file().
std::string static_tables(const std::string& title, const Json& data);

}  // namespace fledge::page
