// fledge train: a run.
#include <memory>

#include "examples/fledge/commands.h"
#include "examples/fledge/train/run.h"
#include "examples/support/text.h"

namespace fledge {

int train_command(int argc, char** argv) {
  const train::TrainConfig config = train::train_config(argc, argv);
  const std::string advice = config.resumes() ? "make the file readable, or move it away"
                                              : "all options: fledge train --help-all";
  const std::unique_ptr<train::Run> run =
      support::with_advice(advice, [&] { return train::set_up(config); });
  try {
    return train::train(*run);
  } catch (const FileError& error) {  // a problem with writing to the run's folder
    throw support::CommandError(support::Exit::failed, error.what(),
                                support::remedy(error) +
                                    "; then go on with: fledge train --resume " +
                                    support::shell_word(run->config.folder()));
  }
}

}  // namespace fledge
