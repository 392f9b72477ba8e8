#include "examples/lessons/lesson_page.h"

#include <cstdio>
#include <deque>
#include <fstream>
#include <set>
#include <sstream>

#include "examples/support/errors.h"
#include "examples/support/picture_file.h"
#include "examples/support/run_main.h"

namespace support {

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw InputError("cannot read " + path, "run the lesson where it was built");
  return text.str();
}

void print_opening(const LessonText& text, const Lesson& to, bool wait) {
  to.print(to.paint().bold(text.title()) + "\n");
  to.print_labelled("   question: ", text.question());
  to.print_labelled("   predict:  ", text.prediction());
  if (wait) {
    to.print_labelled("   ", "Write your prediction down, then press the return key.");
    for (int c = std::getchar(); c != '\n' && c != EOF; c = std::getchar()) {
    }
  }
  to.print("");
}

void print_closing(const LessonPage& page, const LessonText& text, const Lesson& to) {
  to.print("\n" + to.paint().bold("Read in the code"));
  for (const SourcePlace& place : text.reading())
    to.print_labelled("   " + place.file + ", " + place.name + ": ", place.what);
  if (page.plays.empty() && !page.picture) return;
  to.print("\n" + to.paint().bold("Try"));
  const std::string program = "build/lessons/" + page.name;
  for (const Play& play : page.plays) {
    to.print("   " + program + " " + play.option + " " + shell_word(play.value));
    to.print_labelled("      ", play.help);
  }
  if (page.picture) to.print("   " + program + " -o picture.svg\n      writes the picture");
}

int print_verdict(const LessonPage& page, const Lesson& to, bool needs_claims) {
  const int wrong = to.false_claims(), claims = to.claims();
  std::string verdict = counted(claims, "claim") + (claims == 1 ? " holds" : " hold");
  if (wrong > 0) verdict = std::to_string(wrong) + " of " + counted(claims, "claim") + " FALSE";
  if (claims == 0) verdict = "nothing was claimed";
  if (claims > 0 || needs_claims) to.print("\n" + page.name + ": " + verdict);
  return wrong == 0 && (claims > 0 || !needs_claims) ? 0 : 1;
}

}  // namespace

int run_lesson(int argc, const char* const* argv, const LessonPage& page) {
  return run_main(page.name, [&] {
    Lesson lesson(Paint{colour_wanted(stdout)});
    LessonText text(page.name, contents(page.folder + "/" + page.name + ".md"),
                    contents(page.folder + "/../GLOSSARY.md"), lesson);
    Options options(page.name, text.title());
    bool ask = false;
    std::string picture;
    std::deque<double> numbers;  // a deque does not move what it holds
    std::deque<std::int64_t> whole_numbers;
    std::deque<std::string> texts;
    std::vector<std::function<void(Lesson&)>> run_play;  // with the value that was given
    options.add("--ask", "", ask, "waits after the question, so that you can predict");
    if (page.picture) options.add("-o, --out", "FILE", picture, "writes the picture (SVG)");
    for (const Play& play : page.plays) {
      if (play.with_number) {
        const double& x = numbers.emplace_back();
        options.add(play.option, "X", numbers.back(), play.help, play.limits);
        run_play.emplace_back([&play, &x](Lesson& to) { play.with_number(to, x); });
      } else if (play.with_whole_number) {
        const std::int64_t& n = whole_numbers.emplace_back();
        options.add(play.option, "N", whole_numbers.back(), play.help, play.limits);
        run_play.emplace_back([&play, &n](Lesson& to) { play.with_whole_number(to, n); });
      } else {
        const std::string& words = texts.emplace_back();
        options.add(play.option, "TEXT", texts.back(), play.help);
        options.is_text();
        run_play.emplace_back([&play, &words](Lesson& to) { play.with_text(to, words); });
      }
      options.without_default();
    }
    options.exit_statuses("0 every claim holds, 1 one does not, 2 wrong usage");
    options.parse(argc, argv);

    const std::set<std::string> given = options.given();
    if (given.size() > 1 && (given.contains("--out") || given.contains("--ask")))
      refuse_usage("--out and --ask stand alone", "leave out the other options");
    if (given.contains("--out")) {
      write_picture(picture, page.picture());
      return 0;
    }
    bool played = false;
    for (std::size_t i = 0; i < page.plays.size(); ++i)
      if (given.contains(page.plays[i].option)) {
        run_play[i](lesson);
        played = true;
      }
    if (played) return print_verdict(page, lesson, false);
    print_opening(text, lesson, ask);
    text.print_known();
    page.body(text);
    text.finish();
    print_closing(page, text, lesson);
    return print_verdict(page, lesson, true);
  });
}

}  // namespace support
