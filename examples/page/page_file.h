// One HTML file that shows a run, or the course. It opens from disk, without a network.
//
// Not here: its data (page_data.h); its style and script, which are files of their own and are
// compiled in (style.css, script/). Key idea: the only script of the file is the same for every page
// of a release, and its hash stands in the Content-Security-Policy. Text from users is data.
#pragma once

#include <string>

#include "examples/support/output_file.h"
#include "nn/io/json.h"

namespace fledge::page {

inline constexpr support::OutputKind page_kind{"page", "<!-- a page made by fledge -->",
                                               "page.html"};

/// The style and the script as they stand in each page, and their hashes as the policy names them:
/// "sha256-…". CMake makes them from the files.
extern const std::string style, script;
extern const char* const style_hash;
extern const char* const script_hash;

/// The whole file. data: {"kind":"run","run":{…}} or {"kind":"course",…}. Without JavaScript a reader
/// sees the tables of the last snapshot.
std::string page_file(const std::string& title, const Json& data);

}  // namespace fledge::page
