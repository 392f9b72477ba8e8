#include "examples/fledge/train_command.h"

#include "examples/fledge/train/session.h"
#include "examples/fledge/unusable.h"

namespace fledge {

int train_command(int argc, char** argv) {
  support::Options options = train::declared_options();
  options.parse(argc, argv);
  const train::Plan plan = train::plan_of(options);
  return with_usable_input("fledge train", "all options: fledge train --help", [&] {
    train::Session session(plan);
    return session.run();
  });
}

}  // namespace fledge
