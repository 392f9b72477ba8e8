// What can be shown of a text while it grows, up to a stop string.
#include "examples/fledge/generate/sample.h"
#include "nn/io/utf8.h"
#include "tests/support/catch.h"

using namespace fledge;

TEST_CASE("final_size: an end that may become the stop string is not shown yet") {
  CHECK(final_size("we E", "END") == 3);
  CHECK(final_size("we EN", "END") == 3);
  CHECK(final_size("we ENG", "END") == 6);
  CHECK(final_size("aaaa", "aab") == 2);
  CHECK(final_size("a\n", "\n\n") == 1);
  CHECK(final_size("", "END") == 0);
  CHECK(final_size("END of", "") == 6);
}

TEST_CASE("final_size: a code point is not split") {
  CHECK(final_size("caf\xC3", "") == 3);
  CHECK(final_size("caf\xC3\xA9", "") == 5);
  for (const std::size_t bytes : {1U, 2U, 3U})
    CHECK(final_size(std::string("x\xF0\x9F\x90\xA6").substr(0, 1 + bytes), "") == 1);
  CHECK(final_size("x\xF0\x9F\x90\xA6", "") == 5);
  CHECK(final_size("x\xE2\x82y", "") == 4);  // no code point any more
  CHECK(final_size("\x80\x80\x80\x80", "") == 4);
  CHECK(final_size("l'\xC3\xA9t\xC3", "\xC3\xA9t\xC3\xA9") == 2);
}

TEST_CASE("final_size: however a text is cut, the same is shown, in whole code points") {
  Rng rng(1);
  const std::vector<std::string> letters{
      "a", "b", "\n", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x90\xA6"};
  Dim stopped = 0, held = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto word = [&](Dim most) {
      std::string text;
      for (Dim n = 1 + rng.below(most); n > 0; --n)
        text += letters[static_cast<std::size_t>(rng.below(rng.below(2) == 0 ? 2 : 6))];
      return text;
    };
    const std::string stop = rng.below(3) == 0 ? "" : word(4), text = word(30);
    const std::size_t end = stop.empty() ? text.npos : text.find(stop);
    std::size_t printed = 0, size = 0;
    while (size < std::min(text.size(), end == text.npos ? end : end + stop.size())) {
      size = std::min(text.size(), size + 1 + static_cast<std::size_t>(rng.below(5)));
      if (end != text.npos && size >= end + stop.size()) break;
      const std::size_t now = final_size(text.substr(0, size), stop);
      REQUIRE(now >= printed);
      REQUIRE(now <= std::min(size, end));
      REQUIRE(first_not_utf8(text.substr(0, now)) == text.npos);
      held += now < size;
      printed = now;
    }
    stopped += end != text.npos;
    if (end == text.npos) REQUIRE(final_size(text + "c", stop) == text.size() + 1);
  }
  CHECK(stopped > 300);
  CHECK(held > 300);
}
