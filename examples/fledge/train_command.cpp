#include "examples/fledge/commands.h"

#include <optional>

#include "examples/fledge/train/train_run.h"
#include "examples/fledge/unusable.h"
#include "examples/support/text.h"

namespace fledge {

int train_command(int argc, char** argv) {
  const train::TrainConfig config = train::train_config(argc, argv);
  const char* const program = "fledge train";
  std::optional<train::TrainRun> run;
  with_usable_input(program, "all options: fledge train --help", [&] {
    try {
      run.emplace(config);
    } catch (const WriteError&) {
      throw;
    } catch (const FileError& error) {
      if (!config.resumes()) throw;
      throw InputError(error.what(), "make the file readable, or move it away");
    }
    return 0;
  });
  try {
    return run->run();
  } catch (const FileError& error) {  // a problem with writing to the run's folder
    throw support::CommandError(support::Exit::failed, program, error.what(),
                                remedy(error) + "; then go on with: fledge train --resume " +
                                    support::shell_word(config.folder()));
  }
}

}  // namespace fledge
