#include "examples/lessons/lesson_page.h"

#include <cstdio>
#include <deque>
#include <set>

#include "examples/support/errors.h"
#include "examples/support/picture_file.h"
#include "examples/support/run_main.h"

namespace support {

namespace {

void print_opening(const LessonPage& page, Paint paint, bool wait) {
  print_line(paint.bold(page.title) + "\n");
  print_labelled("   question: ", page.question);
  print_labelled("   predict:  ", page.prediction);
  if (wait) {
    print_labelled("   ", "Write your prediction down, then press the return key.");
    for (int c = std::getchar(); c != '\n' && c != EOF; c = std::getchar()) {
    }
  }
  print_line("");
}

void print_closing(const LessonPage& page, Paint paint) {
  print_line("\n" + paint.bold("Read in the code"));
  for (const Reading& reading : page.reading)
    print_labelled("   " + reading.file + ", " + reading.name + ": ", reading.what);
  if (page.plays.empty() && !page.picture) return;
  print_line("\n" + paint.bold("Try"));
  const std::string program = "build/lessons/" + page.name;
  for (const Play& play : page.plays) {
    print_line("   " + program + " " + play.option + " " + shell_word(play.value));
    print_labelled("      ", play.help);
  }
  if (page.picture) print_line("   " + program + " -o picture.svg\n      writes the picture");
}

int print_verdict(const LessonPage& page, const Lesson& lesson, bool needs_claims) {
  const int wrong = lesson.false_claims(), claims = lesson.claims();
  std::string verdict = counted(claims, "claim") + (claims == 1 ? " holds" : " hold");
  if (wrong > 0) verdict = std::to_string(wrong) + " of " + counted(claims, "claim") + " FALSE";
  if (claims == 0) verdict = "nothing was claimed";
  if (claims > 0 || needs_claims) print_line("\n" + page.name + ": " + verdict);
  return wrong == 0 && (claims > 0 || !needs_claims) ? 0 : 1;
}

}  // namespace

int run_lesson(int argc, const char* const* argv, const LessonPage& page) {
  return run_main(page.name, [&] {
    Options options(page.name, page.title);
    bool ask = false;
    std::string picture;
    std::deque<double> numbers;  // the variables stay where they are
    std::deque<std::string> texts;
    options.add("--ask", "", ask, "waits after the question, so that you can predict");
    if (page.picture) options.add("-o, --out", "FILE", picture, "writes the picture (SVG)");
    for (const Play& play : page.plays) {
      if (play.with_number)
        options.add(play.option, "X", numbers.emplace_back(), play.help, play.limits);
      else
        options.add(play.option, "TEXT", texts.emplace_back(), play.help);
      options.without_default();
    }
    options.exit_statuses("0 every claim holds, 1 one does not, 2 wrong usage");
    options.parse(argc, argv);

    Lesson lesson(Paint{colour_wanted(stdout)});
    const std::set<std::string> given = options.given();
    if (given.contains("--out")) {
      write_picture(picture, page.picture());
      return 0;
    }
    auto number = numbers.begin();
    auto text = texts.begin();
    bool played = false;
    for (const Play& play : page.plays) {
      const bool wanted = given.contains(play.option);
      if (play.with_number && wanted) play.with_number(lesson, *number);
      if (play.with_text && wanted) play.with_text(lesson, *text);
      play.with_number ? void(++number) : void(++text);
      played = played || wanted;
    }
    if (played) return print_verdict(page, lesson, false);
    print_opening(page, lesson.paint(), ask);
    page.body(lesson);
    print_closing(page, lesson.paint());
    return print_verdict(page, lesson, true);
  });
}

}  // namespace support
