// One HTML file: a text, the engine as WebAssembly, and the page that shows it learn. It opens from
// disk, without a network.
//
// The only script of the file is the same for every page of a release, and its hash stands in the
// Content-Security-Policy. Text from users is data.
#pragma once

#include <string>

#include "examples/page/page_data.h"

namespace fledge::page {

/// The style and the script as they stand in each page, and their hashes as the policy names them:
/// "sha256-…". CMake makes them from the files.
extern const std::string style, script, style_hash, script_hash;
/// fledge.wasm, compressed by gzip, as base64; empty if it was not built. A page is then without
/// its live part.
extern const std::string engine_module;

/// The whole file. Without JavaScript, or without the engine, a reader sees the story as text, and
/// a picture of page.look.
std::string page_file(const Page& page);

/// Throws CommandError unless a page can be written there: a file can be made in the folder, which
/// is tried, and the path is free, or has an empty file or a page that fledge made.
/// `makes_folder`: the folder may be missing, because it is made before the file.
void require_place(const std::string& path, bool makes_folder = false);

/// Replaces the file, or makes it. Throws as above, and WriteError; then the file is as it was.
/// Returns what is to be said about it: its notices, and that it has no live part.
std::vector<std::string> write_page(const std::string& path, const Page& page);

}  // namespace fledge::page
