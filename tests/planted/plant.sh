#!/bin/sh
# Plants every bug of bugs.txt into a copy of the sources, one at a time, and asks the checks: which
# of them see it? A bug that none sees is a hole in the checks, and a failure here. Or plants one
# for a reader to find, the zoo.
set -eu
usage='plant.sh: plants known bugs into a copy of the sources; the checks must see each

  --full         the tests too, also for bugs that both oracles saw: "spared" otherwise, as the
                 oracles are where there is no gradient
  --only NAME    the bugs whose names begin so, such as softmax
  --jobs N       workers, each with a copy of its own; as many as there are cores by default
  --list         the bugs and where they were seen, and nothing else
  --check        whether every bug still fits its source
  --patched      the source with the one bug of --only
  --zoo N        builds fledge with a bug that you are to find, in build/zoo
  --answer       which bug is in the zoo

A line each, as they come: rows of the table of gradients that an oracle refuses (dual numbers,
differences), what the tests say, and "-" where the bug was not seen.

Exit  0 every bug was seen  1 one was not, or does not fit  2 usage'
full= only= mode=plant number=0 jobs=$(getconf _NPROCESSORS_ONLN)
refuse() { echo "plant.sh: $1" >&2; echo 'see: plant.sh --help' >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --only | --jobs | --zoo) [ $# -gt 1 ] || refuse "$1 needs a value" ;;
  esac
  case $1 in
    --help | -h) echo "$usage"; exit 0 ;;
    --full) full=yes ;;
    --list | --check | --patched | --answer) mode=${1#--} ;;
    --only) only=$2; shift ;;
    --jobs) jobs=$2; shift ;;
    --zoo) mode=zoo number=$2; shift ;;
    *) refuse "unknown option '$1'" ;;
  esac
  shift
done
case $jobs-$number in
  0-* | -* | *- | *[!0-9-]* | *?????????) refuse '--jobs and --zoo take a number' ;;
esac
cd "$(dirname "$0")/../.."
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES  # of the make that called
export CCACHE_DISABLE=1  # it may know an object of a header whose time is set back here

# bugs list     of each bug its name, file, gradient, callers, and where it was seen, between bars
# bugs check    what does not fit
# bugs find, bugs replace, bugs patch    of the bug $bug: its texts, or its file with it
# White space does not count, so that a new layout of a source leaves the table as it is.
bugs() {
  LC_ALL=C awk -v mode="$1" -v only="${bug-}" '
  function dense(text) { gsub(/[ \t\r\n]/, "", text); return text }
  function contents(file,   line, text) {
    while ((getline line <file) > 0) text = text line "\n"
    close(file)
    return text
  }
  function occurrences(text, part,   count, at) {
    for (count = 0; part != "" && (at = index(text, part)) > 0; ++count)
      text = substr(text, at + length(part))
    return count
  }
  function fault(what) { printf "%s: %s\n", f["bug"], what; failed = 1 }
  function check(   text, callers, i, n) {
    n = occurrences(dense(contents(f["in"])), dense(f["-"]))
    if (n != 1) fault("stands " n " times in " f["in"] ", not once: " f["-"])
    if (dense(f["-"]) == dense(f["+"])) fault("changes nothing")
    if (f["seen"] == "") fault("does not say where it was seen")
    if (f["bug"] ~ /[^a-z-]/) fault("names are of small letters and hyphens")
    if (names[f["bug"]]++) fault("is the name of two bugs")
    if (f["gradient"] != "" && f["gradient"] != "none") fault("gradient " f["gradient"])
    for (i = split(f["callers"], callers, /[ \n]+/); i > 0; --i)
      if (contents(callers[i]) == "") fault("no caller " callers[i])
    if (f["same"] == "") ++kinds[f["gradient"] == "none"]
  }
  # The places of the first and the last letter are those behind as many letters of the text.
  function patched(text, find, replace,   before, i, begin, left) {
    before = index(dense(text), dense(find)) - 1
    left = length(dense(find))
    for (i = 1; left > 0; ++i) {
      if (substr(text, i, 1) ~ /[ \t\r\n]/) continue
      if (before-- == 0) begin = i
      if (before < 0) --left
    }
    return substr(text, 1, begin - 1) replace substr(text, i)
  }
  function finish() {
    if (!("bug" in f)) return
    if (mode == "check") check()
    if (mode == "list" && f["same"] == "") {
      gsub(/\n/, " ", f["callers"])
      printf "%s|%s|%s|%s|%s\n", f["bug"], f["in"], f["gradient"], f["callers"], f["seen"]
    }
    if (f["bug"] == only && mode == "find") print f["-"]
    if (f["bug"] == only && mode == "replace") print f["+"]
    if (f["bug"] == only && mode == "patch")
      printf "%s", patched(contents(f["in"]), f["-"], f["+"])
    split("", f)
  }
  /^#/ || /^$/ { next }
  {
    space = index($0 " ", " ")
    key = substr($0, 1, space - 1)
    if (key == "bug") finish()
    if (key !~ /^(bug|in|seen|-|\+|gradient|callers|same)$/ || (key != "bug" && !("bug" in f))) {
      printf "bugs.txt, line %d: neither a field of a bug nor a comment: %s\n", NR, $0
      exit failed = 1
    }
    before = key in f ? f[key] "\n" : ""
    f[key] = before substr($0, space + 1)
  }
  END {
    if (!failed) finish()
    if (mode == "check" && (kinds[0] < 60 || kinds[1] < 60)) fault("fewer than 60 of a kind")
    exit failed
  }' tests/planted/bugs.txt
}

# Makes $copy/source equal to what is built here. Files that are equal already keep their times, so
# that a second run compiles little.
refresh() {
  find engine nn examples tests .cmake CMakeLists.txt -type f | while read -r path; do
    cmp -s "$path" "$copy/source/$path" && continue
    mkdir -p "$(dirname "$copy/source/$path")"
    cp "$path" "$copy/source/$path"
  done
  (cd "$copy/source" && find . -type f) | while read -r path; do
    [ -e "$path" ] || rm "$copy/source/$path"
  done
}

configure() {
  cmake -S "$copy/source" -B "$copy/build" -DFLEDGE_TESTS="$1" \
    -DFLEDGE_NATIVE=OFF -DFLEDGE_WERROR=OFF -DFLEDGE_UNITY=OFF \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 >"$logs.configure" 2>&1
}
compile() {
  stage=$1
  shift
  cmake --build "$copy/build" --parallel "$jobs" --target "$@" >"$logs.$stage" 2>&1
}

# Copies $copy with all that it has built to another folder, whose name is as long, because files of
# all kinds contain it. make compares times. A precompiled header is found by its place.
copy_to() {
  rm -rf "$1"
  cp -a "$copy" "$1"
  grep -rlF --exclude='*.gch' "$copy" "$1/build" | while read -r path; do
    touch -r "$path" "$1/time"
    LC_ALL=C sed "s|$copy|$1|g" "$path" >"$1/text"
    cat "$1/text" >"$path"
    touch -r "$1/time" "$path"
  done
}

# Gives $file of the copy the text that comes. A header with named callers keeps its time, and the
# callers alone look new to make.
write() {
  touch -r "$copy/source/$file" "$copy/time"
  cat >"$copy/source/$file"
  [ -z "$callers" ] && return
  touch -r "$copy/time" "$copy/source/$file"
  (cd "$copy/source" && touch $callers)
}

# What the run of a program says, in $verdict. It computes for three minutes at most, waits for ten
# times as many, and has 4 GB: a bug may never end, or never free.
run() {
  status=0
  log=$logs.$1
  shift
  (ulimit -S -c 0; ulimit -S -v 4194304; ulimit -S -t 180
    exec timeout -k 10 -s ALRM 1800 "$@") >"$log" 2>&1 </dev/null || status=$?
  case $status in
    0) verdict=- ;;
    124 | 137 | 152) verdict=time ;;
    *) [ "$status" -gt 128 ] && verdict=crash || verdict=fails ;;
  esac
}
run_tests() {
  run "$@"
  tests=$verdict
  [ "$tests" != - ] && ! grep -q 'no test is in /' "$log"
}

# Asks the oracles about the bug that is in the copy, and the tests where an oracle has not seen it.
# A bug that both have seen is dead: building and running the tests would triple its time. Of the
# tests those of the changed source come first, or those of its folder: most bugs die there.
ask() {
  dual=spared differences=spared tests=spared programs=tests32 bin=$copy/build/tests
  case $file in
    engine/gradcheck/*) programs=tests_dual ;;  # where the tests of the checker are
    examples/*)  # a program of one file checks its own gradients
      program=$(basename "$file" .cpp)
      compile build "$program" || return 1
      run check "$copy/build/$program" $([ "$program" != microgpt ] || echo --check)
      tests=$verdict
      return 0 ;;
  esac
  if [ "$gradient" != none ]; then
    programs='tests32 tests_dual'
    compile build planted_oracles || return 1
    run gradcheck "$bin/planted_oracles"
    dual=crash differences=crash
    counts=$(sed -n '$s/^wrong: dual \([0-9]*\), differences \([0-9]*\)$/\1 \2/p' "$log")
    case $verdict-$counts in
      time-*) dual=time differences=time ;;
      --'0 0') dual=- differences=- ;;
      fails-'0 0') ;;
      fails-?*) dual=${counts% *} differences=${counts#* } ;;
    esac
    [ "$dual" != 0 ] || dual=-
    [ "$differences" != 0 ] || differences=-
    [ -n "$full" ] || [ "$dual" = - ] || [ "$differences" = - ] || return 0
  fi
  compile build_tests $programs || return 1
  own=tests/${file%/*}/test_$(basename "${file%.*}").cpp
  [ -e "$copy/source/$own" ] || own=tests/${file%/*}/
  for program in $programs; do
    run_tests likely_tests "$bin/$program" --file "/$own" --abort && return 0
  done
  for program in $programs; do
    run_tests tests "$bin/$program" --abort && return 0
  done
  compile build_programs $(ls tests/programs | sed -n 's/^\(.*\).cpp/program_\1/p') || return 1
  run_tests programs ctest --test-dir "$copy/build" -R '^programs/' --stop-on-failure || :
}

row='%-38s %-28s %6s %12s %6s %8s  %s\n'

# Plants the bugs of these files, one after the other, into $copy.
work() {
  while IFS='|' read -r bug file gradient callers seen; do
    case " $1 " in *" $file "*) ;; *) continue ;; esac
    logs=$folder/logs/$bug
    begin=$(date +%s)
    bugs patch | write
    ask || dual='does' differences='not' tests='build'
    printf "$row" "$bug" "$file" "$dual" "$differences" "$tests" $(($(date +%s) - begin)) "$seen" |
      tee -a "$folder/rows"
    write <"$file"
  done <"$folder/bugs"
}

plant() {
  bugs check
  folder=$PWD/build/planted copy=$folder/worker01
  mkdir -p "$folder/logs" "$copy/source"
  bugs list | grep "^$only" >"$folder/bugs" || refuse 'no bug has a name that begins so: --list'
  echo "plant.sh: building the sources, in $folder" >&2
  # The sources as they are must pass all checks.
  logs=$folder/logs/clean gradient= file=engine/autograd.cpp callers=
  refresh
  configure ON && ask && [ "$dual$differences$tests" = --- ] || {
    echo "plant.sh: the sources must pass without a bug: see $logs.*" >&2
    exit 1
  }
  # Each file belongs to one worker: a second bug in a file that is changed saves a compilation.
  files=$(cut -d '|' -f 2 "$folder/bugs" | sort | uniq -c | sort -rn | awk '{ print $2 }')
  [ "$jobs" -le "$(echo "$files" | wc -l)" ] || jobs=$(echo "$files" | wc -l)
  workers=$jobs jobs=1
  [ "$workers" -gt 1 ] || jobs=$(getconf _NPROCESSORS_ONLN)
  for worker in $(seq 2 "$workers"); do copy_to "$folder/worker$(printf %02d "$worker")"; done
  : >"$folder/rows"
  printf "$row" bug 'planted in' dual differences tests seconds 'seen in'
  for worker in $(seq "$workers"); do
    copy=$folder/worker$(printf %02d "$worker")
    work "$(echo "$files" | awk "NR % $workers == $worker % $workers" | tr '\n' ' ')" &
  done
  wait
  awk '
  ($3 $4 $5) ~ /[0-9]|time|crash|fails/ { ++seen; next }
  { print ($4 == "not" ? "does not build: " : "not seen: ") $1 " in " $2 }
  END { printf "%d passed, %d failed\n", seen, NR - seen; exit seen < NR }' "$folder/rows"
}

# Of the bugs of gradients this one. The checker's own bugs would be judges in their own case, and
# an optimiser has no gradient. Neighbours in the table are alike; 7919, a prime, parts them.
choose() {
  gradients=$(bugs list | grep -v '|none|\|gradcheck\|/optim/')
  count=$(echo "$gradients" | wc -l)
  IFS='|' read -r bug file gradient callers seen <<END
$(echo "$gradients" | sed -n "$((number % count * 7919 % count + 1))p")
END
}

# Plants the bug of this number, or the next that `fledge gradcheck` refuses, so that it can be
# found. Prints how to look for it, not which it is.
zoo() {
  copy=$PWD/build/zoo logs=$PWD/build/zoo/log
  mkdir -p "$copy/source"
  rm -f "$copy/number"
  echo "zoo: building fledge with one wrong line in $copy (minutes at first)" >&2
  refresh
  configure OFF
  while choose; do
    callers=
    bugs patch | write
    compile build fledge_command lessons
    run gradcheck "$copy/build/fledge" gradcheck
    [ "$status" -ne 1 ] || break
    write <"$file"
    number=$((number + 1))
  done
  echo "$number" >"$copy/number"
  cat <<END
One line of engine/ or nn/ is wrong now, in a copy of the sources.

  ask    $copy/build/fledge gradcheck  which gradients are wrong?
  run    $copy/build/lessons/*/*     which claims fail, and which hold all the same?
  read   $copy/source            the rule that does not follow from its formula
  then   make zoo ANSWER=1

Another: make zoo BUG=$((number + 1)) (of $count).
END
}

answer() {
  number=$(cat build/zoo/number 2>/dev/null) || refuse 'no bug is in: make zoo first'
  choose
  line=$(cmp "$file" "build/zoo/source/$file" | sed 's/.*line //')
  printf '%s, in %s, line %s\n\n  right  %s\n  wrong  %s\n\n%s\n' "$bug" "$file" "$line" \
    "$(bugs find | xargs -d '\n')" "$(bugs replace | xargs -d '\n')" "$seen"
}

case $mode in
  list) bugs list | awk -F '|' -v only="$only" \
    'index($1, only) == 1 { printf "%-38s %-28s %s\n", $1, $2, $5 }' ;;
  check) bugs check ;;
  patched) bug=$only; bugs patch ;;
  *) $mode ;;
esac
