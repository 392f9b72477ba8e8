// The list of exercises: for each its file, its title, its grader and its hints.
//
// Not here: the question, which stands at the top of the learner's file. None of this depends on
// Real. Next: ../main.cpp.
#pragma once

#include <string>
#include <vector>

#include "examples/exercises/graders/grading.h"

namespace exercises {

struct Exercise {
  std::string file;    // "01_forget_birds", in examples/exercises
  std::string title;   // as in the first line of the file
  std::string source;  // "note 000"
  void (*grade)(Grading&);
  std::vector<std::string> hints;  // from a gentle one to nearly the answer
};

/// All exercises; the number of one is its place, from 1.
std::vector<Exercise> all_exercises();

// Each is defined in the file of the same name in this folder.
Exercise forget_birds();
Exercise largest_association();
Exercise control();
Exercise turn_a_head();
Exercise copy_a_value();
Exercise average_values();
Exercise three_to_one();
Exercise noisy_key();
Exercise blue_bird();
Exercise mask_in_columns();
Exercise word_order();
Exercise row_by_hand();
Exercise residual();
Exercise rock_paper_scissors();
Exercise rank_of_scores();
Exercise mend_a_rule();
Exercise find_the_slip();

}  // namespace exercises
