// examples/microgpt.cpp repeats the published run and notices a wrong gradient.
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "tests/examples/fledge/command.h"
#include "tests/examples/one_file/wrong_gradients.h"

using namespace testing;

namespace {

const std::string microgpt_program = FLEDGE_BINARY_DIR "/microgpt";

}  // namespace

TEST_CASE("microgpt: the 1,000 losses of the published run to 1e-9, and its 20 names") {
  std::vector<double> losses;
  std::vector<std::string> invented, names(32033, "unread");
  std::istringstream text(text_of(FLEDGE_SOURCE_DIR "/tests/examples/one_file/microgpt_run.txt"));
  for (std::string line, name; std::getline(text, line);) {
    std::istringstream words(line);
    double loss = 0;
    std::size_t place = 0;
    if (line.starts_with('#')) continue;
    if (words >> loss >> place >> name)
      losses.push_back(loss), names.at(place - 1) = name;
    else
      invented.push_back(line);
  }
  REQUIRE((losses.size() == 1000 && invented.size() == 20));
  std::string file;
  for (const std::string& name : names) file += name + "\n";
  const testing::Folder folder;
  write_file(folder / "names.txt", file);
  const Result result = run({microgpt_program, folder / "names.txt"});
  CHECK(result.status == 0);
  const std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(lines.size() == 1020);
  for (std::size_t i = 0; i < 1000; ++i) {
    char* end = nullptr;
    REQUIRE(std::strtoul(lines[i].c_str(), &end, 10) == i + 1);
    REQUIRE(std::abs(std::strtod(end, nullptr) - losses[i]) <= 1e-9);
  }
  CHECK(std::vector<std::string>(lines.begin() + 1000, lines.end()) == invented);
}

TEST_CASE("microgpt: files of names that are refused; few names; a full disk") {
  const testing::Folder folder;
  const std::string names = folder / "names.txt";
  for (const std::string text : {"", "\n\n", "emma\nOlivia\n", "emma\nolivia\x1b[2J"}) {
    CAPTURE(text);
    write_file(names, text);
    for (const std::vector<std::string>& argv : {std::vector<std::string>{microgpt_program, names},
                                                 {microgpt_program, names, "--check"},
                                                 {microgpt_program, folder.path()},
                                                 {microgpt_program}}) {
      const Result result = run(argv);
      CHECK(result.status == 2);
      CHECK(result.out.empty());
      CHECK_THAT(result.err, StartsWith("microgpt FILE: the file must have one name per line"));
    }
  }
  write_file(names, "abba\nottootto\n");
  const Result result = run({microgpt_program, names});
  CHECK(result.status == 0);
  CHECK(lines_of(result.out).size() == 1020);
  CHECK_THAT(result.out, EndsWith("abba\n") || EndsWith("ottootto\n"));
  if (std::ifstream("/dev/full").good())
    CHECK(run({"sh", "-c", "\"$0\" \"$1\" >/dev/full", microgpt_program, names}).status == 1);
}

TEST_CASE("microgpt: its check notices a wrong gradient in each line of the backward pass") {
  check_notices(text_of(FLEDGE_SOURCE_DIR "/examples/microgpt.cpp"), {"--check"},
                {
                    {"add(x.d(t), y.d(t)[i], W[i], W.columns);", ""},
                    {"add(W.d(i), y.d(t)[i], x[t], W.columns);",
                     "add(W.d(i), 2 * y.d(t)[i], x[t], W.columns);"},
                    {"add(x.d(t), r(x[t]), y.d(t), C);", "add(x.d(t), 1, y.d(t), C);"},
                    {"add(x.d(t), -r(x[t]) * dot(y[t], y.d(t), C) / C, y[t], C);", ""},
                    {"(dw[j] - mean)", "dw[j]"},
                    {"(dw[j] - mean) / std::sqrt(double{D})", "(dw[j] - mean)"},
                    {"add(qkv.d(j) + v, w[j], y.d(t) + q, D);", ""},
                    {"add(qkv.d(t) + q, ds, qkv[j] + k, D);", ""},
                    {"add(qkv.d(j) + k, ds, qkv[t] + q, D);", ""},
                    {"share * (p[t][i] - (letters[i] == next ? 1 : 0))", "share * p[t][i]"},
                    {"share * (p[t][i] -", "(p[t][i] -"},
                    {"f[t][i] > 0 ? g.d(t)[i] : 0", "g.d(t)[i]"},
                    {"add(y.d(t), 1, z.d(t), C);", ""},
                    {"add(x.d(t), 1, y.d(t), C);", ""},
                    {"rms_back(y, s, t);", ""},
                    {"rms_back(e, x, t);", ""},
                    {"add(w[wpe].d(t), 1, e.d(t), C);", ""},
                    {"add(w[wte].d(letters.find(letter)), 1, e.d(t), C);", ""},
                    {"for (size_t t = T; t-- > 0;)", "for (size_t t = 0; t < T; ++t)"},
                });
}
