// library: fledge
// Held-out pairs: an association that was never read, predicted all the same.
//
// Works out note 000 (Birds sometimes walk), its question how a network comes to know that a word
// goes with another. Adds to the capacity of 10_capacity what a table of counts has none of: two
// animals that share some words come to lie close together, and then share the others too.
// Key idea: what is learned about one word is learned about all whose vectors are like it.
// Next: nn/layers/embedding.h, nn/models/language_model.h.
#include <algorithm>
#include <array>

#include "engine/autograd.h"
#include "examples/support/lesson.h"
#include "examples/support/table.h"
#include "nn/models/language_model.h"
#include "nn/optim/adamw.h"
#include "nn/text/words.h"

using namespace fledge;
using namespace fledge::support;

namespace {

constexpr Dim kinds = 3, animals_of_a_kind = 4, adverbs = 4;
constexpr std::size_t sentence_count = kinds * animals_of_a_kind * adverbs;

const std::array<const char*, kinds * animals_of_a_kind> animal_words = {
    "birds", "hens", "gulls", "crows", "carps", "eels", "trouts", "pikes", "cats", "lions", "foxes", "dogs"};
const std::array<const char*, adverbs> adverb_words = {"sometimes", "often", "rarely", "always"};
const std::array<const char*, kinds * adverbs> verb_words = {
    "walk", "fly", "dive", "sing", "jump", "swim", "rest", "glide", "climb", "run", "bark", "sleep"};

/// What the animals do: kind_of(animal, adverb) says whose verb.
struct Sentence {
  Dim animal, adverb, verb;
};

}
