#include "examples/lessons/lesson_page.h"

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, *support::LessonProgram::of_this_program);
}
