#include "nn/generate/stop_strings.h"

#include <algorithm>

#include "engine/base/errors.h"
#include "engine/random_array.h"
#include "nn/io/utf8.h"
#include "tests/support/catch.h"

using namespace fledge;

namespace {

using Strings = std::vector<std::string>;

// What each piece lets through, and at last the rest in brackets.
Strings printed(StopStringFilter stop, const Strings& pieces) {
  Strings out;
  for (const std::string& piece : pieces) out.push_back(stop.feed(piece));
  out.push_back("[" + stop.rest() + "]");
  if (stop.stopped()) out.push_back("stopped");
  return out;
}

// The text in front of the stop string that ends first, looked for at every place.
std::string before_stop(const std::string& text, const Strings& stops) {
  for (std::size_t end = 0; end <= text.size(); ++end) {
    std::size_t longest = 0;
    for (const std::string& stop : stops)
      if (stop.size() <= end && text.compare(end - stop.size(), stop.size(), stop) == 0)
        longest = std::max(longest, stop.size());
    if (longest > 0) return text.substr(0, end - longest);
  }
  return text;
}

bool whole_code_points(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (!point.valid) return false;
    at += point.bytes;
  }
  return true;
}

}  // namespace

TEST_CASE("StopStringFilter: a stop string is found across pieces, and never printed") {
  CHECK(printed(StopStringFilter({"END"}), {"we E", "N", "Gage EN", "D more", "more"}) ==
        Strings{"we ", "", "ENGage ", "", "", "[]", "stopped"});
  CHECK(printed(StopStringFilter({"END"}), {"the EN"}) == Strings{"the ", "[EN]"});
  CHECK(printed(StopStringFilter({"aab"}), {"aa", "aa", "b"}) ==
        Strings{"", "aa", "", "[]", "stopped"});
  CHECK(printed(StopStringFilter({"\n\n", "User:"}), {"hi\n", "Us", "er\n", "\nUser:"}) ==
        Strings{"hi", "\n", "User", "", "[]", "stopped"});
  // of two the one that is complete first
  CHECK(printed(StopStringFilter({"abcd", "bc"}), {"xabcd"}) == Strings{"xa", "[]", "stopped"});
  CHECK(printed(StopStringFilter({"bc", "abc"}), {"xabc"}) == Strings{"x", "[]", "stopped"});
}

TEST_CASE(
    "StopStringFilter: code points are not split; what breaks off is printed at the end as it is") {
  CHECK(printed(StopStringFilter(), {"caf\xC3", "\xA9!", "\xF0\x9F", "\x90", "\xA6", "\xE2\x82"}) ==
        Strings{"caf", "\xC3\xA9!", "", "", "\xF0\x9F\x90\xA6", "", "[\xE2\x82]"});
  // what cannot become a code point is not waited for
  CHECK(
      printed(StopStringFilter(), {"\xC0", "\xFF", "\x80", "\xE0\x80", "\xF4\x90", "\xC3", "x"}) ==
      Strings{"\xC0", "\xFF", "\x80", "\xE0\x80", "\xF4\x90", "", "\xC3x", "[]"});
  CHECK(printed(StopStringFilter({"\xA9"}), {"\xC3", "\xA9"}) ==
        Strings{"", "\xC3", "[]", "stopped"});
  CHECK(printed(StopStringFilter({"\xC3\xA9t\xC3\xA9"}), {"l'\xC3\xA9", "t\xC3", "\xA0"}) ==
        Strings{"l'", "", "\xC3\xA9t\xC3\xA0", "[]"});
}

TEST_CASE("StopStringFilter: however a text is cut, the same is printed") {
  Rng rng(1);
  const Strings letters{"a", "b", "\n", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x90\xA6"};
  Dim stopped = 0, held = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto word = [&](Dim most) {
      std::string text;
      for (Dim n = 1 + rng.below(most); n > 0; --n)
        text += letters[static_cast<std::size_t>(rng.below(rng.below(2) == 0 ? 2 : 6))];
      return text;
    };
    Strings stops;
    for (Dim n = rng.below(3); n > 0; --n) stops.push_back(word(4));
    const std::string text = word(30);
    StopStringFilter stop(stops);
    std::string found;
    for (std::size_t at = 0, next = 0; at < text.size(); at = next) {
      next = std::min(text.size(), at + 1 + static_cast<std::size_t>(rng.below(5)));
      const std::string now = stop.feed(text.substr(at, next - at));
      REQUIRE(whole_code_points(now));
      found += now;
    }
    const std::string rest = stop.rest();
    const std::string expected = before_stop(text, stops);
    REQUIRE(found + rest == expected);
    REQUIRE(stop.stopped() == (expected.size() < text.size()));
    stopped += stop.stopped();
    held += !rest.empty();
  }
  CHECK(stopped > 300);
  CHECK(held > 300);
}

TEST_CASE("StopStringFilter refuses an empty stop string") {
  CHECK_THROWS_WITH(StopStringFilter({"x", ""}),
                    "StopStringFilter: a stop string must not be empty");
}
