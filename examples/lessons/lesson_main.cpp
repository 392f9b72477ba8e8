// The lessons of a number type are one program. Links to it are their commands: by the name of the
// link that was called it knows the lesson.
#include "examples/lessons/lesson_page.h"

int main(int argc, char** argv) { return support::run_lesson(argc, argv); }
