// What fledge and fledge gradcheck refuse: two lines on stderr, nothing on stdout, status 2.
#include <algorithm>
#include <cctype>

#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"

using namespace testing;

namespace {

/// "PROGRAM: what came | what to do" of a wrong use.
std::string refused_command(const std::vector<std::string>& arguments) {
  CAPTURE(arguments);
  const Result result = fledge_says(arguments);
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  return two_lines(result.err);
}

std::string refused_option(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "gradcheck");
  return refused_command(arguments);
}

}  // namespace

TEST_CASE("fledge: no command and unknown commands") {
  CHECK(refused_command({}) == "fledge: needs a command | all commands: fledge --help");
  CHECK(refused_command({""}) == refused_command({}));
  CHECK(refused_command({"dance"}) ==
        "fledge: unknown command 'dance' | all commands: fledge --help");
  CHECK(refused_command({"help", "dance"}) ==
        "fledge help: unknown command 'dance' | all commands: fledge --help");
  CHECK(refused_command({"gradchek"}) ==
        "fledge: unknown command 'gradchek' | did you mean 'gradcheck'? all commands: fledge "
        "--help");
  CHECK_THAT(refused_command({"--json"}), StartsWith("fledge: unknown command '--json' | "));
  CHECK_THAT(refused_command({"--json", "gradcheck"}),
             StartsWith("fledge: unknown command '--json' | "));
  CHECK_THAT(refused_command({"Gradcheck"}), StartsWith("fledge: unknown command 'Gradcheck' | "));
  CHECK_THAT(refused_command({"dance\x1b[2J\r\nnow"}),
             StartsWith("fledge: unknown command 'dance\\x1b[2J\\x0d\\x0anow' | "));
}

TEST_CASE("fledge gradcheck NAME: a name that stands in no row") {
  CHECK_THAT(refused_option({"sofmax"}),
             StartsWith("fledge gradcheck: nothing is named 'sofmax' | "));
  for (const char* name : {"soft", "Softmax", "softmax ", " softmax", "causal", "*", "dual"})
    CHECK_THAT(refused_option({name}),
               StartsWith("fledge gradcheck: nothing is named '" + std::string(name) + "' | "));
  CHECK_THAT(refused_option({"sofmax", "--json"}), ContainsSubstring("'sofmax'"));
  CHECK_THAT(refused_option({"add\nitself\x1b]0;x\x07"}),
             StartsWith("fledge gradcheck: nothing is named 'add\\x0aitself\\x1b]0;x\\x07' | "));
  CHECK(refused_option({std::string(100000, 'x')}).size() < 300);
}

TEST_CASE("fledge gradcheck --seed: what is not a whole number from 0") {
  for (const char* seed : {"-1", "18446744073709551616", "-99999999999999999999", "1.5", "1e3",
                           "0x10", "one", "+1", " 1", "1 ", "١", "nan"})
    CHECK(refused_option({"--seed", seed}) ==
          "fledge gradcheck: --seed must be a whole number from 0 to 18446744073709551615: got '" +
              std::string(seed) + "' | write --seed N; all options: fledge gradcheck --help");
  CHECK(refused_option({"--seed=-1"}) == refused_option({"--seed", "-1"}));
  CHECK(refused_option({"--seed"}) == "fledge gradcheck: --seed needs a value | write --seed N");
  CHECK_THAT(refused_option({"--seed", ""}), ContainsSubstring("--seed has an empty value"));
}

TEST_CASE("fledge gradcheck: unknown, repeated and stray words") {
  CHECK(refused_option({"--jsn"}) ==
        "fledge gradcheck: unknown option '--jsn' | did you mean '--json'? all options: "
        "fledge gradcheck --help");
  CHECK(refused_option({"--tolerance", "1"}) ==
        "fledge gradcheck: unknown option '--tolerance' | see 'fledge gradcheck --help'");
  CHECK_THAT(refused_option({"-j"}), StartsWith("fledge gradcheck: unknown option '-j' | "));
  CHECK_THAT(refused_option({"add", "--all"}), ContainsSubstring("'--all'"));
  CHECK_THAT(refused_option({"--json=1"}), ContainsSubstring("--json takes no value"));
  CHECK_THAT(refused_option({"--json", "--json"}), ContainsSubstring("--json was given twice"));
  CHECK_THAT(refused_option({"--seed", "1", "--seed", "1"}), ContainsSubstring("twice"));
  CHECK(refused_option({"softmax", "layernorm"}) ==
        "fledge gradcheck: nothing is named 'layernorm' | did you mean 'layer_norm'? the first "
        "column of 'fledge gradcheck' has the names");
  CHECK_THAT(refused_option({"softmax", "dance"}), ContainsSubstring("nothing is named 'dance'"));
  CHECK_THAT(refused_option({"causal", "softmax"}), ContainsSubstring("nothing is named 'causal'"));
  CHECK_THAT(refused_option({"--", "--json"}), ContainsSubstring("nothing is named '--json'"));
  CHECK_THAT(refused_option({""}), ContainsSubstring("nothing is named ''"));
}
