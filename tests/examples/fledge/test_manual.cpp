// fledge help man: a page that man formats without a warning, with every command and option.
#include "examples/fledge/pages/pages.h"
#include "examples/support/version.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"
#include "tests/support/skipped.h"

using namespace testing;

namespace {

std::string with_replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("manual: every command, option, explanation and example is in it") {
  const Result result = fledge_says({"help", "man"});
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  CHECK_THAT(result.out,
             ContainsSubstring("\n.TH FLEDGE 1 \"\" \"" + support::version_of("fledge") + "\""));
  const std::string text = with_replaced(with_replaced(result.out, "\\-", "-"), "\\e", "\\");
  for (const fledge::Command& command : fledge::commands())
    CHECK_THAT(text, ContainsSubstring("\\fBfledge " + command.name + "\\fR"));
  for (const support::OptionTable& table : fledge::pages::command_tables()) {
    CAPTURE(table.program);
    CHECK_THAT(text, ContainsSubstring(table.purpose));
    CHECK_THAT(text, ContainsSubstring(table.exit_statuses));
    for (const support::OptionRow& row : table.rows) {
      CHECK_THAT(text, ContainsSubstring("\\fB" + row.name + "\\fR"));
      CHECK_THAT(text, ContainsSubstring(row.help));
    }
    for (const auto& example : table.examples) CHECK_THAT(text, ContainsSubstring(example.first));
  }
}

TEST_CASE("manual: no line is taken for a command of roff") {
  for (const std::string& line : lines_of(fledge_says({"help", "man"}).out)) {
    CAPTURE(line);
    CHECK(line.find('\'') != 0);
    if (!line.starts_with('.')) continue;
    const std::string request = first_word(line);
    CHECK((request == ".\\\"" || request == ".TH" || request == ".SH" || request == ".SS" ||
           request == ".TP" || request == ".PP" || request == ".br"));
  }
}

TEST_CASE("manual: groff, where it is installed, formats it without a warning") {
  if (in_shell("command -v groff >/dev/null").status != 0) {
    testing::report_skipped("groff is not installed");
    return;
  }
  const Result plain = in_shell("\"$0\" help man | groff -man -Tascii -ww 2>&1 >/dev/null");
  CHECK(plain.status == 0);
  CHECK(plain.out.empty());
  const Result page = in_shell("\"$0\" help man | groff -man -Tascii -P-cbou");
  CHECK_THAT(page.out, ContainsSubstring("fledge - gradients you can check"));
  CHECK_THAT(page.out, ContainsSubstring("--tokens char|word|byte|bpe"));
}
