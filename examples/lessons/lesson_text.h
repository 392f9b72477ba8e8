// The text of a lesson: a Markdown file whose numbers, tables and claims are computed.
//
// Key idea: the prose stands in attention/softmax.md, and softmax.cpp gives a value to each name
// in it: to.set("sum", x) for {{sum|%.3f}}, to.claim("equal", a == b) for [equal]. The text is
// printed as far as its values are known, so a reader watches a long computation part by part. A name
// without a value, or a value that no name asks for, is an error. The text is read when the lesson
// runs: make lessons builds all of them, and a changed .md needs no build.
//
// What may stand in such a file, each block between empty lines; anything else is refused:
//
//     # Title                                      once, at the top
//     **Question.** How do scores become …?        then the prediction: **Predict.** …
//     **Guess.** the sum = {{sum}}                 a number that the reader guesses, and the answer
//     **Guess.** Which rises? a | b | c = b        a choice
//     - `a`: what this guess would have meant      behind a guess; `other`: any other guess
//     **Figure.** mask: what to do with it         a figure of the page, examples/page/figures
//     ## A part                                    the parts are numbered when they are printed
//     Words, with {{sum}} where a value stands     a paragraph; its lines are joined and wrapped
//     {{sum|%.3f}}                                 a number in this format of printf, else in %g
//         1 + 1 = {{sum}}                          four blanks: a line of its own, not
//                                                  joined; the page shows it as a formula
//     {{table}}                                    alone: a table or picture, printed unchanged; its
//                                                  lines must fit into 80 columns
//     **softmax**                                  alone: a new word; GLOSSARY.md has its meaning, and
//                                                  no lesson before this one may use it
//     - [name] what holds                          a claim that the program checks
//     **Exercise.** 10: what it asks               behind the parts: an exercise to do now
//     [the mask](mask.md)                          in a text: a lesson, which the page links
//     ## Read in the code                          behind the parts: places in the sources
//     - `engine/ops/softmax.cpp`, `softmax`: what stands there
//     ## Try                                       behind it: arguments of the lesson
//     - `10`: what the program does with them; the blocks behind it are printed then
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "examples/lessons/text_values.h"
#include "examples/support/text.h"

namespace support {

/// What the parts of a lesson print: sentences, new words, numbers, and claims that are checked.
/// One false claim makes its exit status 1. Sentences are broken between words, so that they fit
/// into 80 columns.
class Lesson {
 public:
  /// Takes a line that was printed, without its line end.
  using Output = std::function<void(const std::string& line)>;

  /// Lines go to `output`, or to stdout if there is none.
  explicit Lesson(Paint paint = {}, Output output = {})
      : paint_(paint), output_(std::move(output)) {}

  /// Prints paragraphs, one a line of the text: three columns to the right, and wrapped. A paragraph
  /// that begins with blanks stands further to the right, all its lines.
  void say(std::string_view text = "");
  /// "   ok     what", or "   FALSE  what", wrapped below `what`.
  void claim(bool holds, std::string_view what);

  /// Prints a line as it is.
  void print(const std::string& line) const;
  /// Prints the label and the text behind it, in 80 columns; later lines begin where the text begins.
  void print_labelled(const std::string& label, std::string_view text) const;

  int claims() const { return claims_; }
  int false_claims() const { return false_claims_; }
  Paint paint() const { return paint_; }

 private:
  Paint paint_;
  Output output_;
  int claims_ = 0, false_claims_ = 0;
};

/// A place in the sources. A test looks for the name in the file.
struct SourcePlace {
  std::string file, name, what;  // "engine/ops/softmax.cpp", "softmax", "the formula and its rule"
};

/// A block of a text, as it is printed.
struct TextBlock {
  enum class Kind { part, paragraph, line, picture, word, claim };
  Kind kind;
  std::string text, name;  // the name of a picture or claim; the meaning of a word
};

/// What the reader guesses before the parts: a number, or one of the choices.
struct Guess {
  std::string question, answer;  // the answer may be a {{name}}
  std::vector<std::string> choices{};
  std::map<std::string, std::string> others{};  // what another guess would have meant
};

/// A figure of the page, or an exercise: "mask", "10".
struct Pointer {
  std::string name, what;
};

/// Arguments as an example, and what is printed for them.
struct Trial {
  std::string arguments, what;  // "10", "whether 'walk' still looks at 'birds'"
  std::vector<TextBlock> blocks{};
};

class LessonText {
 public:
  /// Reads the text and the glossary. Throws ValueError, with the name of the file and the block, for
  /// what is not listed above.
  LessonText(std::string name, const std::string& markdown, const std::string& glossary,
             Lesson& to);

  const std::string& title() const { return title_; }
  const std::string& question() const { return question_; }
  const std::string& prediction() const { return prediction_; }
  const std::vector<Guess>& guesses() const { return guesses_; }
  const Pointer& exercise() const { return exercise_; }
  const std::vector<SourcePlace>& reading() const { return reading_; }
  const Trial& trial() const { return trial_; }  // without arguments: there is none
  /// The command of the trial: "build/lessons/attention/attention_position_effect 10".
  std::string command() const { return "build/lessons/" + name_ + " " + trial_.arguments; }

  /// Throws ValueError if a link leads to no lesson in this folder, or the exercise is not in the
  /// folder beside it.
  void require_targets(const std::string& folder) const;

  /// The blocks of the trial are to be printed, in place of the parts.
  void begin_trial();
  /// Prints as far as all values are known.
  void print_known();
  /// Gives {{name}} a value. Prints what is known then.
  void set(const std::string& name, TextValue value);
  /// The same for a text that printf would print.
  template <class Value, class... Values>
  void set(const std::string& name, const char* format, Value value, Values... values) {
    set(name, formatted(format, value, values...));
  }
  /// Several names, each with its value: set_all("sum", x, "mean", x / n).
  template <class Value, class... Others>
  void set_all(const char* name, const Value& value, const Others&... others) {
    set(name, value);
    if constexpr (sizeof...(others) > 0) set_all(others...);
  }
  /// Whether the claim [name] holds. `before` and `after` stand around its text.
  void claim(const std::string& name, bool holds, const std::string& before = "",
             const std::string& after = "");
  /// |value − expected| ≤ tolerance, which no NaN is: "   ok     what: 0.043".
  void claim_near(const std::string& name, double value, double expected, double tolerance);
  /// Holds if count is `least` or more of `runs`: "   ok     97 of 100 seeds (95 needed): what".
  void claim_rate(const std::string& name, int count, int runs, int least);

  /// Prints the rest. Throws ValueError when a name has no value, or a value no name, and for a guess
  /// whose answer is neither a number nor one of its choices.
  void finish();

  /// Behind finish(): what came out, against this guess of the reader; without one the answer alone.
  /// A small count is met exactly, another number within 2 % of the answer.
  std::string verdict(const Guess& guess, const std::string& given) const;
  /// Behind finish(): the whole lesson as JSON, for the page.
  std::string json() const;

  std::function<void()> before_part = [] {};  // called before each part but the first

 private:
  using Kind = TextBlock::Kind;
  struct Claim {
    bool holds;
    std::string before, after;
  };

  void read_block(const std::vector<std::string>& lines);
  bool is_known(const TextBlock& block) const;
  std::string shown(const TextBlock& block) const;
  void print(const TextBlock& block);
  [[noreturn]] void refuse(const std::string& what) const;

  std::string name_, title_, question_, prediction_;
  std::map<std::string, std::string> glossary_;
  std::vector<Guess> guesses_;
  Pointer figure_, exercise_;
  std::vector<std::string> links_;
  std::vector<SourcePlace> reading_;
  Trial trial_;
  std::vector<TextBlock> blocks_;
  std::size_t printed_ = 0;
  int parts_ = 0;  // that were printed
  bool reads_places_ = false, reads_trial_ = false;
  Kind last_ = Kind::part;
  TextValues values_;
  std::map<std::string, Claim> claims_;
  Lesson& to_;
};

/// The text without the targets of its links: "[the mask](mask.md)" is "the mask".
std::string without_links(const std::string& text);

}  // namespace support
