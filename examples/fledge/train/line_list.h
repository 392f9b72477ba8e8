// Whether a text is a list, such as of names or records, for which --lines is meant.
#pragma once

#include <string_view>

namespace fledge::train {

/// True if nearly all lines are entries of a list: at most 40 characters and 4 words long, without
/// a blank at the beginning or a punctuation mark at the end. So verses, prose and source code are
/// no lists. Also true only for 20 lines or more, with few blank lines, half of them different. Each
/// Chinese or Japanese character counts as a word.
bool is_list_of_lines(std::string_view text);

}  // namespace fledge::train
