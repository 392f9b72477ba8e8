// The forms of a page of help: paragraphs and two columns, as wide as text_width() says.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace support {

/// A name and what it means.
using HelpRow = std::pair<std::string, std::string>;

/// Rows in two columns; meanings are wrapped in theirs. A name that is wider than half of
/// the page (38 columns of 80) stands on a line of its own, unbroken.
std::string help_columns(const std::vector<HelpRow>& rows);

/// The text in lines of text_width(stdout) columns, after `lead`, below which the lines are indented.
std::string help_paragraph(const std::string& text, const std::string& lead = "");

}  // namespace support
