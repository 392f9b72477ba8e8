#!/bin/sh
# run.sh COMPILER FOLDER: check_backward.h with a compiler for C++17 and nothing else. The right
# layers of examples/plain pass with 700 random inputs each; each planted bug of theirs is found, with
# four inputs each, and nothing else is. Prints how many of each were judged wrongly: 0 and 0.
set -eu
compiler=$1 folder=$2
cd "$(dirname "$0")/../.."
mkdir -p "$folder"
source=$folder/plain.cpp
names=$(tests/planted/plant.sh --list --only plain- | awk '{ gsub("-", "_", $1); print $1 }')
{
  echo '#include "engine/gradcheck/check_backward.h"'
  echo 'namespace right {'
  cat examples/plain/plain_backward.cpp
  echo '}'
  for name in $names; do
    echo "namespace $name {"
    tests/planted/plant.sh --patched --only "$(echo "$name" | tr _ -)"
    echo '}'
  done
  echo 'int main() {'
  echo '  int right = 0, alarms = 0, wrong = 0, missed = 0;'
  echo '  for (unsigned seed = 1; seed <= 700; ++seed, right += 3) alarms += right::refused(seed, false);'
  for name in $names; do
    echo "  std::puts(\"$name\");"
    echo "  for (unsigned seed = 1; seed <= 4; ++seed, ++wrong) missed += $name::refused(seed, false) != 1;"
  done
  printf '%s\n' '  std::printf("%d right: %d refused; %d wrong: %d missed\n", right, alarms, wrong, missed);'
  echo '  return right == 0 || wrong == 0 || alarms + missed > 0;'
  echo '}'
} >"$source"
"$compiler" -std=c++17 -I. "$source" -o "$folder/plain"
"$folder/plain"
