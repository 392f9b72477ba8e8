// What `fledge generate` writes after a text: for people, as JSON, as CSV, as a picture.
#pragma once

#include "examples/fledge/generate/sample.h"
#include "examples/fledge/generate/why.h"

namespace fledge {

/// The sample number `number` of the task, counted from 1. `why`: of --why, if the word was drawn.
struct Written {
  const Task& task;
  const Sample& sample;
  std::int64_t number;
  const std::optional<Why>& why;
};

/// For people: the rest of the text, then what --attention, --probs and --why found.
void print_rest(const Written& written);
/// One object and a line end.
void print_json(const Written& written);
/// The rows of the table that was asked for. The names of the columns come before the first sample.
void print_csv(const Written& written);
/// Writes the file of --svg.
void draw_picture(const Written& written);

}  // namespace fledge
