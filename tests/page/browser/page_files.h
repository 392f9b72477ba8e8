// The pages under test. Each is made once, by the programs that readers use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/folder.h"
#include "tests/support/json_reader.h"

namespace testing {

/// The page of the main job: birds --page. One layer, one head.
const std::string& birds_page();
/// The page of a poem: fledge train --page. Two layers with two heads.
const std::string& poem_page();
/// The page of the course, build/fledge.html; "" if it was not built.
std::string course_page();
/// All of these.
std::vector<std::string> all_pages();

/// A page of fledge train over this text, in this folder. Returns its path.
std::string trained_page(const Folder& folder, const std::string& text,
                         const std::vector<std::string>& options, const std::string& text_name);

std::string read_file(const std::string& path);
/// What stands between two marks; "" if either is missing.
std::string between(std::string_view text, std::string_view begin, std::string_view end);
/// The JSON text of a page, and the value "run" in it.
std::string data_text(const std::string& html);
StrictJson run_of(const std::string& path);

/// A copy of a page in which the program's attention weights w of the last step, in the first
/// sentence, are 1 - w.
std::string with_wrong_weights(const std::string& html);
/// A copy of a page in which the tokens have these labels.
std::string with_words(const std::string& html, const std::vector<std::string>& words);

/// The weights of a snapshot's sentence as they stand in the page: layer, head, query, key.
std::vector<double> weights_of(const StrictJson& snapshot, std::size_t sentence);

}  // namespace testing
