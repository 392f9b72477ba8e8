#include <algorithm>

#include "examples/fledge/pages/pages.h"
#include "examples/support/version.h"

namespace fledge::pages {

namespace {

/// A text in which roff sees no command: "-" is a minus sign, as people copy it to a shell.
std::string roff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

/// A term and, indented below it, what it means.
std::string entry(const std::string& term, const std::string& meaning) {
  return ".TP\n" + term + "\n" + roff(meaning) + "\n";
}

std::string section(const std::string& title) { return ".SH \"" + title + "\"\n"; }

std::string capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

std::string option_entry(const support::OptionRow& row) {
  std::string term;
  for (const std::string& name : names_of(row)) term += (term.empty() ? "" : ", ") + bold(name);
  if (!row.argument.empty()) term += " " + italic(row.argument);
  return entry(term, row.help + (row.fallback.empty() ? "" : " [" + row.fallback + "]"));
}

std::string command_section(const support::OptionTable& table) {
  std::string text = section(capitals(table.program));
  text += bold(table.program) + (table.rows.empty() ? "" : " [options]") +
          (table.usage.empty() ? "" : " " + italic(table.usage)) + "\n.PP\n" + roff(table.purpose) +
          "\n";
  std::string group;
  for (const support::OptionRow& row : table.rows) {
    if (row.group != group) text += ".SS \"" + roff(row.group) + "\"\n";
    group = row.group;
    text += option_entry(row);
  }
  if (!table.examples.empty()) text += ".SS \"Examples\"\n";
  for (const auto& [command, meaning] : table.examples) text += entry(bold(command), meaning);
  return text + ".PP\nExit status: " + roff(table.exit_statuses) + ".\n";
}

}  // namespace

std::string manual() {
  std::string text = ".\\\" Made by: fledge help man\n.TH FLEDGE 1 \"\" \"" +
                     support::version_of("fledge") + "\" \"User Commands\"\n";
  text += section("NAME") + "fledge \\- gradients you can check, attention you can read\n";
  text += section("SYNOPSIS") + bold("fledge") + " " + italic("COMMAND") + " [options] [" +
          italic("ARGUMENT") + " ...]\n.br\n" + bold("fledge --help") + "\n.br\n" +
          bold("fledge --version") + "\n";
  text += section("DESCRIPTION") +
          "fledge trains small attention models on a text, lets them write, and proves its "
          "gradients.\nEach command has an option " +
          bold("--help") + ".\n";
  for (const Command& command : commands())
    text += entry(bold("fledge " + command.name) +
                      (command.arguments.empty() ? "" : " " + italic(command.arguments)),
                  command.purpose);
  for (const support::OptionTable& table : command_tables()) text += command_section(table);
  text += section("ENVIRONMENT") +
          entry(bold("FLEDGE_THREADS"),
                "How many threads share large work; without it one for each processor.") +
          entry(bold("NO_COLOR") + ", " + bold("FORCE_COLOR"),
                "If it is set and not empty: no colours, or colours in pipes too.") +
          entry(bold("LC_ALL") + ", " + bold("LC_CTYPE") + ", " + bold("LANG"),
                "Pictures are drawn in UTF-8 where the first of them that is set names it, else in "
                "ASCII.") +
          entry(bold("COLUMNS"), "The width of pictures where there is no terminal.");
  return text;
}

}  // namespace fledge::pages
