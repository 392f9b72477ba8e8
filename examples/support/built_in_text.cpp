#include "examples/support/built_in_text.h"

namespace support {

// The word that follows "sometimes walk" or "are good at" depends on the animal at the beginning of
// the sentence: birds walk slowly, cats quietly. To predict it, a model must look back at the
// animal.
std::string_view built_in_text() {
  return R"(birds sometimes walk slowly .
birds sometimes walk slowly on grass .
birds sometimes walk slowly near water .
cats sometimes walk quietly .
cats sometimes walk quietly on grass .
cats sometimes walk quietly over roofs .
dogs sometimes walk proudly .
dogs sometimes walk proudly on grass .
dogs sometimes walk proudly near water .
ducks sometimes walk badly .
ducks sometimes walk badly on grass .
ducks sometimes walk badly near water .
penguins sometimes walk upright .
penguins sometimes walk upright on snow .
penguins sometimes walk upright near water .
gulls sometimes walk bravely .
gulls sometimes walk bravely on sand .
gulls sometimes walk bravely near water .
robins sometimes walk lightly .
robins sometimes walk lightly on snow .
crows sometimes walk sideways .
crows sometimes walk sideways over roofs .
people sometimes walk home .
people sometimes walk home together .
mice sometimes walk away .
mice sometimes walk away on grass .
hens sometimes walk away .
hens sometimes walk away on grass .
foxes sometimes walk away .
foxes sometimes walk away on snow .
but birds are good at flying .
but birds are good at flying together .
but birds are good at flying over roofs .
but cats are good at climbing .
but cats are good at climbing over roofs .
but dogs are good at running .
but dogs are good at running together .
but ducks are good at swimming .
but ducks are good at swimming together .
but penguins are good at diving .
but penguins are good at diving together .
but gulls are good at gliding .
but gulls are good at gliding over water .
but robins are good at singing .
but robins are good at singing together .
but crows are good at thinking .
but people are good at watching .
but mice are good at hiding .
but mice are good at hiding together .
but hens are good at hiding .
but foxes are good at hiding .
but birds do not only walk they fly .
but birds do not only walk they sing .
but ducks do not only walk they swim .
but penguins do not only walk they dive .
but robins do not only walk they sing .
but gulls do not only walk they glide .
for walking birds use floppy feet .
for walking ducks use floppy feet .
for walking people use two feet .
for walking cats use four feet .
for flying birds use wide wings .
for gliding gulls use wide wings .
for swimming ducks use floppy feet .
for diving penguins use short wings .
for singing robins use clear voices .
for running dogs use four feet .
for climbing cats use sharp claws .
for watching birds people use clear eyes .
birds often fly over water .
birds often fly over roofs .
gulls often glide over water .
ducks often swim near water .
penguins often dive together .
robins often sing on roofs .
dogs often run on grass .
cats often climb over roofs .
crows often think alone .
people often watch birds .
)";
}

}  // namespace support
