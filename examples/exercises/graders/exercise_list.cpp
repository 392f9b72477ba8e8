#include "examples/exercises/graders/exercise_list.h"

namespace exercises {

std::vector<Exercise> all_exercises() {
  return {forget_birds(), largest_association(), control(),        turn_a_head(),
          copy_a_value(), average_values(),      three_to_one(),   noisy_key(),
          blue_bird(),    mask_in_columns(),     word_order(),     row_by_hand(),
          residual(),     rock_paper_scissors(), rank_of_scores(), mend_a_rule(),
          find_the_slip()};
}

}  // namespace exercises
