// What is shown on a terminal, in colours and without, in any width; and that no text of a user
// commands a terminal.
#include <algorithm>

#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "tests/examples/fledge/models.h"
#include "tests/support/sanitized.h"

using namespace testing;

namespace {

const Words one_op{"gradcheck", sanitized ? "neg" : "matmul"};
const Words one_op_json{"gradcheck", "--json", one_op.back()};

std::string all_replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::size_t occurrences_of(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
  return found;
}

/// Whether a line of the screen begins with this text. ESC[J erases what the line showed before.
bool begins_a_line(const std::string& out, const std::string& text) {
  return occurrences_of(out, "\n" + text) + occurrences_of(out, "\x1b[J" + text) > 0;
}

}  // namespace

TEST_CASE("terminals: colours where they are wanted, and the same words under them") {
  const std::string good = support::Paint{true}.bold(support::Paint{true}.good("ok"));
  const std::string plain = without_seconds(fledge_says(one_op).out),
                    plain_json = fledge_says(one_op_json).out;
  for (const Result& shown :
       {run_on_terminal(with_program(one_op)), fledge_says(one_op, {{"FORCE_COLOR", "1"}})}) {
    CHECK(shown.status == 0);
    CHECK(occurrences_of(shown.out, good) == lines_of(plain).size() - 4);
    CHECK(without_seconds(without_colours(shown.out)) == plain);
  }
  for (const Environment& without : {Environment{{"NO_COLOR", "1"}},
                                     {{"TERM", "dumb"}},
                                     {{"NO_COLOR", "1"}, {"FORCE_COLOR", "1"}}})
    CHECK(without_seconds(run_on_terminal(with_program(one_op), without).out) == plain);
  CHECK(run_on_terminal(with_program(one_op_json)).out == plain_json);
  CHECK(fledge_says(one_op_json, {{"FORCE_COLOR", "1"}}).out == plain_json);
  for (const Words& words : {Words{"--help"}, {"gradcheck", "--help"}, {"gradcheck", "--jsn"}})
    CHECK(occurrences_of(run_on_terminal(with_program(words)).out, "\x1b") == 0);
  const Result wrong = run_on_terminal({FLEDGE_BINARY_DIR "/fledge_wrong", "gradcheck", "halved"});
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.out, ContainsSubstring("\x1b[1m" + support::Paint{true}.bad("FAIL")));
}

TEST_CASE("terminals: the same bytes in every language, save the rule where there is UTF-8") {
  const std::string plain = without_seconds(fledge_says(one_op).out),
                    plain_json = fledge_says(one_op_json).out;
  REQUIRE(occurrences_of(plain, "\n---") == 1);
  for (const char* language : {"C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "fr_FR"})
    for (const char* variable : {"LC_ALL", "LANG", "LC_NUMERIC"}) {
      if (sanitized && *language != 'd') continue;
      CAPTURE(language, variable);
      CHECK(fledge_says(one_op_json, {{variable, language}}).out == plain_json);
      const std::string shown = fledge_says(one_op, {{variable, language}}).out;
      CHECK(all_replaced(without_seconds(shown), "─", "-") == plain);
    }
  CHECK(occurrences_of(fledge_says(one_op, {{"LC_ALL", "C.UTF-8"}}).out, "\n───") == 1);
}

TEST_CASE("terminals: messages are wrapped between words, results fit the width") {
  const Words wrong{"gradcheck", "softmax", "layernorm"};
  const std::string whole = fledge_says(wrong).err, indent(18, ' ');
  for (const int columns : {50, 80}) {
    const std::string shown = run_on_terminal(with_program(wrong), {}, columns).out;
    const std::vector<std::string> lines = lines_of(shown);
    CHECK(lines.size() > 2);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      CHECK(lines[i].size() <= static_cast<std::size_t>(columns));
      CHECK((i == 0 || lines[i].starts_with(indent)));
    }
    CHECK(all_replaced(all_replaced(shown, "\n" + indent, " "), "\n", "") ==
          all_replaced(all_replaced(whole, "\n" + indent, " "), "\n", ""));
  }
  const std::string run = models().words();
  for (const Words& what : {Words{"inspect", run},
                            {"inspect", run, "--near", "birds"},
                            {"eval", run},
                            {"plot", run},
                            {"inspect", run, "--what-if", "birds walk", "--row", "walk=birds:1"},
                            {"train", models().poems(), "--no-save", "--no-progress"}})
    for (const char* language : {"C", "C.UTF-8"}) {
      const Words line = what[0] == "train" ? what + tiny : what;
      for (const std::string& row :
           lines_of(run_on_terminal(with_program(line), {{"LC_ALL", language}}, 40).out)) {
        CAPTURE(what, row);
        if (row.starts_with("step=")) continue;  // for other programs
        CHECK(support::display_width(without_colours(row)) <= 40);
      }
    }
}

TEST_CASE("terminals: a bar of the training, plain lines where the terminal has no commands") {
  const Desk desk;
  const Words line = with_program(Words{"train", desk.poems(), "--no-save"} + tiny);
  for (const int columns : {20, 40, 80}) {
    const Result bar = run_on_terminal(line, {}, columns);
    CHECK(bar.status == 0);
    CHECK(begins_a_line(bar.out, "100%"));
    CHECK(occurrences_of(bar.out, "step=20 of=20") == 0);
  }
  CHECK(occurrences_of(run_on_terminal(line).out, "Counting tables 100%|") == 1);
  for (const auto& [words, extra] :
       {std::pair<Words, Environment>{{}, {{"TERM", "dumb"}}}, {{"--no-progress"}, {}}}) {
    const Result plain = run_on_terminal(line + words, extra);
    CHECK(plain.status == 0);
    CHECK(occurrences_of(plain.out, "\r") == 0);
    CHECK(occurrences_of(plain.out, "step=20 of=20 loss=") == 1);
  }
  CHECK(run(line).err.find_first_of("\x1b\r\b") == std::string::npos);
  CHECK(run_on_terminal(line + Words{"--quiet"}).out.empty());
  // A run that diverges has no bar that ends happily behind that of its tables.
  const Result lost = run_on_terminal(line + Words{"--lr", "1e6", "--clip", "0", "--warmup", "4"});
  CHECK(lost.status == 4);
  const std::string counted = "Counting tables 100%";
  CHECK(lost.out.rfind("100%") + 4 == lost.out.find(counted) + counted.size());
  CHECK_THAT(lost.out, EndsWith("try --lr 0.004, or --clip 1\n"));
}

TEST_CASE("terminals: on a tall one the plot is redrawn in place, on another it is not") {
  const Desk desk;
  const Words line =
      with_program(Words{"train", desk.poems(), "--no-save", "--accumulate", "400"} + tiny);
  const Result tall = run_on_terminal(line, {}, 80, 50), low = run_on_terminal(line, {}, 80, 24);
  CHECK(tall.status == 0);
  CHECK_THAT(tall.out, ContainsSubstring("\x1b[15A\r\x1b[J"));
  CHECK(low.out.find("A\r\x1b[J") == low.out.npos);
  CHECK_THAT(low.out, ContainsSubstring("held-out"));
}

TEST_CASE("terminals: no word of a user reaches one raw, in names, in texts and in tokens") {
  const Desk desk;
  std::string text = small_text();
  for (int i = 0; i < 300; ++i) text += "\x1b[2J\x07";
  write_text(desk / "hostile.txt", text + "\xc2\x9b \xe2\x80\xae \xd8\x9c\x7f\n");
  const std::string run = desk / "run", hostile = "\x1b[31m\xc2\x9b\xe2\x80\xae";
  const Result json = trained({desk / "hostile.txt", "-o", run, "--json", "-q"});
  CHECK(json.out.find_first_of("\xc2\xe2\xd8\x7f\x1b\x07") == std::string::npos);
  CHECK(json_lines(json.out).size() > 20);
  const Words drawn = with_seed({run, "\x1b[2J", "--tokens-out", "60"});
  for (const Words& line :
       {Words{"train", hostile},
        {"generate", hostile},
        {"eval", run, hostile},
        {hostile},
        {"train", desk.poems(), "-o", desk.poems() + "/" + hostile},
        {"eval", hostile},
        {"train", "--resume", hostile},
        Words{"train", desk / "hostile.txt", "--no-progress", "--no-save"} + tiny,
        drawn,
        drawn + Words{"--probs"},
        drawn + Words{"--attention"},
        drawn + Words{"--why", "b"}}) {
    const Result shown = run_on_terminal(
        with_program(line), {{"LC_ALL", hostile}, {"LANG", hostile}, {"NO_COLOR", "1"}}, 0);
    CAPTURE(line);
    CHECK_FALSE(shown.out.empty());
    CHECK(shown.out.find_first_of("\x1b\x07\xc2\xe2") == std::string::npos);
  }
  CHECK_THAT(run_on_terminal(with_program(drawn)).out, StartsWith("\\x1b[2J"));
  // Through a pipe, and with --raw, a text goes as it is.
  const std::string piped = fledge_says(drawn).out;
  CHECK_THAT(piped, StartsWith("\x1b[2J"));
  CHECK(run_on_terminal(with_program(drawn + Words{"--raw"})).out == piped);
  CHECK(read_line(fledge_says(drawn + Words{"--json"}).out)["prompt"].string() == "\x1b[2J");
}
