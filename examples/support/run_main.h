// The frame of every main() of this project: errors, exit status and standard streams.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace support {

/// The body of main(): runs `body` and turns what it throws into a message on stderr and an exit
/// status: HelpRequest 0, CommandError its own, any other error 1. The message of a WriteError also
/// says what to do. If results could not be written to stdout (a full disk), the status is 1 with a
/// message; if the reader of a pipe has closed it, 1 without a message. A closed standard stream is
/// not mistaken for a file that is opened later, and a limit on the size of files is an error, not a
/// signal. Without memory, and for an exception that nothing catches, in any thread and before main()
/// begins, the message is one line, for which no memory is needed, and the status 1. A stack of less
/// than least_stack bytes is refused.
int run_main(std::string_view program, const std::function<int()>& body);

inline constexpr unsigned long least_stack = 128 * 1024;

/// The name that stands before the message of an error of the body, such as "fledge train"; at first
/// the program's.
void set_command_name(std::string name);

}  // namespace support
