// Files with random damage: whatever is read, the program goes on.
#include "engine/array.h"
#include "nn/text/tokenizer_export.h"
#include "nn/text/tokenizer_files.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/sanitized.h"

using namespace fledge;
using testing::write_file;

TEST_CASE("tokenizer files: damaged files are accepted or refused with a place, and nothing else") {
  const std::string text = "birds sometimes walk\nbirds sometimes fly\n";
  const auto files = tokenizer_files(Tokenizer(Tokens::bpe, text + text, 262), 64);
  const std::vector<std::string> parts{"\"",      "{",    "}",   "[",    "]",       ",",
                                       ":",       "null", "1",   "true", "\"a b\"", "a b\n",
                                       "\\u0100", " ",    "Ġ a", "\n"};
  Rng rng(6);
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(rng.below(static_cast<Dim>(n)));
  };
  const std::string birds = "birds fly<|endoftext|>\n";
  int accepted = 0, refused = 0;
  const int rounds = testing::sanitized ? 300 : 3000;
  for (int round = 0; round < rounds; ++round) {
    auto damaged = files;
    if (round % 2 == 1) damaged.erase(damaged.begin());
    std::string& file = round % 2 == 0    ? damaged[0].second
                        : round % 10 == 1 ? damaged[1].second
                                          : damaged[2].second;
    for (std::size_t times = 1 + below(3); times > 0; --times) {
      const std::size_t at = below(file.size()), length = below(20);
      switch (below(4)) {
        case 0:
          file[at] = static_cast<char>(below(256));
          break;
        case 1:
          file.erase(at, length);
          break;
        case 2:
          file.insert(at, parts[below(parts.size())]);
          break;
        default:
          file.insert(below(file.size()), file.substr(at, length));
      }
    }
    const testing::Folder folder;
    for (const auto& [name, contents] : damaged) write_file(folder / name, contents);
    try {
      const Tokenizer tokens = read_tokenizer_files(Folder(folder.path())).value();
      ++accepted;
      if (tokens.decode(tokens.encode(birds)) != birds) FAIL("round " << round);
    } catch (const FormatError& error) {
      CHECK_THAT(error.what(), ContainsSubstring(folder.path()));
      ++refused;
    } catch (const UnknownSymbol&) {  // a byte lost its symbol
    }
  }
  CHECK(accepted > rounds / 60);
  CHECK(refused > rounds / 30);
}
