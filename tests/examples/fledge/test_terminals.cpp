// What is shown on a terminal, in colours and without, in any width, the help of each command too
// (tests/command/help.txt has its pages); and that no text of a user commands a terminal.
#include <set>

#include "examples/fledge/commands.h"
#include "examples/support/text.h"
#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

const Words one_op{"gradcheck", sanitized ? "neg" : "matmul"};
const Words one_op_json{"gradcheck", "--json", one_op.back()};

std::size_t occurrences_of(const std::string& text, const std::string& part) {
  return (text.size() - all_replaced(text, part, "").size()) / part.size();
}
/// The table without the seconds of its summary, the one thing that differs between runs.
std::string without_seconds(std::string text) {
  const std::size_t begin = text.find(" compared twice, in "), end = text.find(" s\nlargest error");
  REQUIRE(begin < end);
  REQUIRE(end != text.npos);
  return text.erase(begin, end - begin);
}

/// The options that a text names, such as "--steps".
std::set<std::string> options_in(const std::string& text) {
  std::set<std::string> found;
  for (std::size_t at = 0; (at = text.find("--", at)) != text.npos; at += 2)
    found.insert(text.substr(at, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at) - at));
  return found;
}

std::string page_of(const Words& arguments, int columns = 80) {
  CAPTURE(arguments, columns);
  const Result page = fledge_says(arguments, {{"COLUMNS", std::to_string(columns)}});
  CHECK(page.status == 0);
  CHECK(page.err.empty());
  CHECK_THAT(page.out, EndsWith("\n"));
  for (const std::string& line : lines_of(page.out)) {
    CAPTURE(line);
    // A word is not broken, and neither is an example.
    const bool is_whole =
        line.find(' ', line.find_first_not_of(' ')) == line.npos || line.starts_with("  fledge");
    CHECK((support::display_width(line) <= columns || (columns < 80 && is_whole)));
  }
  return page.out;
}

}  // namespace

TEST_CASE("terminals: colours where they are wanted, and the same bytes in every language") {
  const std::string good = support::Paint{true}.bold(support::Paint{true}.good("ok"));
  const std::string in_a_file = without_seconds(fledge_says(one_op).out),
                    plain_json = fledge_says(one_op_json).out;
  for (const Result& shown :
       {run_on_terminal(with_program(one_op)), fledge_says(one_op, {{"FORCE_COLOR", "1"}})}) {
    CHECK(shown.status == 0);
    CHECK(occurrences_of(shown.out, good) == lines_of(in_a_file).size() - 4);
    CHECK(without_seconds(without_colours(shown.out)) == in_a_file);
  }
  for (const Environment& without : {Environment{{"NO_COLOR", "1"}},
                                     {{"TERM", "dumb"}},
                                     {{"NO_COLOR", "1"}, {"FORCE_COLOR", "1"}}})
    CHECK(without_seconds(run_on_terminal(with_program(one_op), without).out) == in_a_file);
  CHECK(run_on_terminal(with_program(one_op_json)).out == plain_json);
  CHECK(fledge_says(one_op_json, {{"FORCE_COLOR", "1"}}).out == plain_json);
  for (const Words& words : {Words{"--help"}, {"gradcheck", "--help"}, {"gradcheck", "--jsn"}})
    CHECK(occurrences_of(run_on_terminal(with_program(words)).out, "\x1b") == 0);
  const Result wrong = run_on_terminal({FLEDGE_BINARY_DIR "/fledge_wrong", "gradcheck", "halved"});
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.out, ContainsSubstring("\x1b[1m" + support::Paint{true}.bad("FAIL")));
  // The rule is a line of its own where there is UTF-8.
  for (const char* language : {"C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "fr_FR"})
    for (const char* variable : {"LC_ALL", "LANG", "LC_NUMERIC"}) {
      if (sanitized && *language != 'd') continue;
      CAPTURE(language, variable);
      CHECK(fledge_says(one_op_json, {{variable, language}}).out == plain_json);
      const std::string shown = fledge_says(one_op, {{variable, language}}).out;
      CHECK(all_replaced(without_seconds(shown), "─", "-") == in_a_file);
    }
  CHECK(occurrences_of(in_a_file, "\n---") == 1);
  CHECK(occurrences_of(fledge_says(one_op, {{"LC_ALL", "C.UTF-8"}}).out, "\n───") == 1);
}

TEST_CASE("terminals: messages are wrapped between words, results fit the width") {
  const Words wrong{"gradcheck", "softmax", "layernorm"};
  const std::string whole = fledge_says(wrong).err, indent(18, ' ');
  for (const int columns : {50, 80}) {
    const std::string shown = run_on_terminal(with_program(wrong), {}, columns).out;
    const Words lines = lines_of(shown);
    CHECK(lines.size() > 2);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      CHECK(lines[i].size() <= static_cast<std::size_t>(columns));
      CHECK((i == 0 || lines[i].starts_with(indent)));
    }
    const auto joined = [&](const std::string& text) {
      return all_replaced(all_replaced(text, "\n" + indent, " "), "\n", "");
    };
    CHECK(joined(shown) == joined(whole));
  }
  const Desk desk;
  const std::string run = desk.run("run", {"--tokens", "word"});
  for (const Words& what : {Words{"inspect", run},
                            {"inspect", run, "--near", "birds"},
                            {"eval", run},
                            {"plot", run},
                            Words{"train", desk.poems(), "--no-save"} + tiny})
    for (const char* language : {"C", "C.UTF-8"}) {
      const Environment no_bar{{"LC_ALL", language}, {"TERM", "dumb"}, {"FORCE_COLOR", "1"}};
      for (const std::string& row : lines_of(run_on_terminal(with_program(what), no_bar, 40).out)) {
        CAPTURE(what, row);
        if (row.starts_with("step=")) continue;  // for other programs
        CHECK(support::display_width(without_colours(row)) <= 40);
      }
    }
}

TEST_CASE("terminals: the bar loses the pair, the curve, times and itself as a terminal narrows") {
  const Desk desk;
  const Words line =
      with_program(Words{"train", desk.poems(), "--no-save", "--watch", "b:i"} + tiny);
  int before = 6;  // parts that are shown; how long each is depends on the time that it took
  for (const int columns : {200, 120, 100, 85, 80, 70, 60, 40, 20}) {
    CAPTURE(columns);
    const Result bar = run_on_terminal(line, {}, columns);
    CHECK(bar.status == 0);
    CHECK(bar.out.find("step=20 of=20") == bar.out.npos);
    const std::size_t end = bar.out.rfind("100%");
    REQUIRE(end != bar.out.npos);
    CHECK((bar.out[end - 1] == '\n' || bar.out.substr(end - 3, 3) == "\x1b[J"));
    const std::string last = without_colours(bar.out.substr(end, bar.out.find('\n', end) - end));
    CAPTURE(last);
    int shown = 0;
    bool is_shown = columns == 200;  // what goes first comes first; then all that follow are there
    for (const char* part : {"b -> i ", "@@", " gone", "100%|", " held-out ", " loss "}) {
      CHECK((last.find(part) != last.npos || !is_shown));
      is_shown = last.find(part) != last.npos;
      shown += is_shown;
    }
    CHECK(is_shown);
    if (columns == 20) CHECK(last == "100% 20/20 loss 2.8");
    CHECK(support::display_width(last) < columns);
    CHECK(shown <= before);
    before = shown;
  }
  const Result of_lines = run_on_terminal(line, {{"TERM", "dumb"}});
  CHECK(of_lines.status == 0);
  CHECK(occurrences_of(of_lines.out, "\r") == 0);
  CHECK(occurrences_of(of_lines.out, "step=20 of=20 loss=") == 1);
  CHECK(run(line).err.find_first_of("\x1b\r\b") == std::string::npos);
  CHECK(run_on_terminal(line + Words{"--quiet"}).out.empty());
  // A run that diverges has no bar that ends happily.
  const Result lost = run_on_terminal(line + words("--lr 1e6 --clip 0 --warmup 4"));
  CHECK(lost.status == 4);
  CHECK_THAT(lost.out, !ContainsSubstring("100%"));
  CHECK_THAT(lost.out, EndsWith("try --lr 0.004, or --clip 1\n"));
  // On a tall terminal the plot is redrawn in place.
  Words slow = line;
  *std::next(std::find(slow.begin(), slow.end(), "--batch")) = "800";
  for (const bool is_tall : {true, false}) {
    const Result plot = run_on_terminal(slow, {}, 80, is_tall ? 50 : 24);
    CHECK(plot.status == 0);
    CHECK((plot.out.find("\x1b[15A\r\x1b[J") != plot.out.npos) == is_tall);
    CHECK_THAT(plot.out, ContainsSubstring("held-out"));
  }
}

TEST_CASE("terminals: no word of a user reaches one raw, in names, in texts and in tokens") {
  const Desk desk;
  std::string text = small_text();
  for (int i = 0; i < 300; ++i) text += "\x1b[2J\x07";
  write_file(desk / "hostile.txt", text + "\xc2\x9b \xe2\x80\xae \xd8\x9c\x7f\n");
  const std::string run = desk / "run", hostile = "\x1b[31m\xc2\x9b\xe2\x80\xae";
  const Result json = trained({desk / "hostile.txt", "-o", run, "--json", "-q"});
  CHECK(json.out.find_first_of("\xc2\xe2\xd8\x7f\x1b\x07") == std::string::npos);
  CHECK(json_lines(json.out).size() > 20);
  const Words drawn{"generate", run, "\x1b[2J", "--tokens-out", "60", "--seed", "1"};
  for (const Words& line : {Words{"train", hostile},
                            {"generate", hostile},
                            {"eval", run, hostile},
                            {hostile},
                            {"train", desk.poems(), "-o", desk.poems() + "/" + hostile},
                            {"eval", hostile},
                            {"train", "--resume", hostile},
                            Words{"train", desk / "hostile.txt", "--no-save"} + tiny,
                            drawn,
                            drawn + Words{"--probs"},
                            drawn + Words{"--attention"},
                            drawn + Words{"--why", "b"}}) {
    const Result shown = run_on_terminal(
        with_program(line),
        {{"LC_ALL", hostile}, {"LANG", hostile}, {"NO_COLOR", "1"}, {"TERM", "dumb"}}, 0);
    CAPTURE(line);
    CHECK_FALSE(shown.out.empty());
    CHECK(shown.out.find_first_of("\x1b\x07\xc2\xe2") == std::string::npos);
  }
  CHECK_THAT(run_on_terminal(with_program(drawn)).out, StartsWith("\\x1b[2J"));
  // Through a pipe a text goes as it is.
  const std::string piped = fledge_says(drawn).out;
  CHECK_THAT(piped, StartsWith("\x1b[2J"));
  CHECK(strict_json(fledge_says(drawn + Words{"--json"}).out)["prompt"].string() == "\x1b[2J");
}

TEST_CASE("fledge: help lists every command; the pages of each fit every terminal") {
  const std::string list = page_of({"--help"}), version = page_of({"--version"});
  std::string joined = list;  // without the ends of wrapped lines
  for (std::size_t at = 0; (at = joined.find("\n      ", at)) != joined.npos;)
    joined.replace(at, joined.find_first_not_of(" \n", at) - at, " ");
  std::set<std::string> names;
  for (const fledge::Command& command : fledge::commands()) {
    CAPTURE(command.name);
    CHECK(names.insert(command.name).second);
    CHECK_THAT(list, ContainsSubstring("  fledge " + command.name + " "));
    CHECK_THAT(joined, ContainsSubstring(" " + command.purpose));
    CHECK(page_of({command.name, "--version"}) == version);
    const std::string page = page_of({command.name, "--help"}),
                      all = page_of({command.name, "--help-all"});
    CHECK_THAT(page, ContainsSubstring("usage: fledge " + command.name));
    const std::set<std::string> explained = options_in(all);
    for (const std::string& option : options_in(page)) CHECK(explained.contains(option));
    for (const int columns : {40, 60})
      for (const char* which : {"--help", "--help-all"}) page_of({command.name, which}, columns);
  }
  CHECK(lines_of(list).size() <= 24);
  for (const char* command : {"train", "generate", "gradcheck"})
    CHECK(lines_of(page_of({command, "--help"})).size() <= 24);
  CHECK(run({FLEDGE_BINARY_DIR "/birds", "--version"}).out.substr(5) == version.substr(6));
}
