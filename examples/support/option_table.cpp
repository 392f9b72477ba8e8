#include "examples/support/option_table.h"

#include <stdexcept>
#include <utility>

namespace support {

namespace {

bool table_is_wanted = false;

/// What ends the call of a command.
struct TableFound {
  OptionTable table;
};

}  // namespace

OptionTable table_of(const std::function<void()>& command) {
  struct Wanted {
    Wanted() { table_is_wanted = true; }
    ~Wanted() { table_is_wanted = false; }
  } wanted;
  try {
    command();
  } catch (TableFound& found) {
    return std::move(found.table);
  }
  throw std::logic_error("a command must parse its options before it ends");
}

void give_table(const std::function<OptionTable()>& table) {
  if (table_is_wanted) throw TableFound{table()};
}

}  // namespace support
