// The last message of a program that has no memory left.
//
// Key idea: the text is put together in a buffer on the stack and written by write(2). A handler of
// std::terminate, set before any other static object is made, does so for exceptions that nothing
// catches. Next: failure.cpp, run_main.cpp.
#pragma once

#include <string_view>

namespace support {

inline constexpr std::string_view out_of_memory = "out of memory: use smaller sizes";

/// The name in front of these messages; at first "fledge". At most 31 bytes of it are kept.
void set_program_name(std::string_view program) noexcept;

/// Writes "PROGRAM: SENTENCE DETAIL" (without a space between the two) and the end of the line to
/// stderr and allocates nothing. What exceeds 500 bytes is cut, and each byte that is no printable
/// ASCII character becomes '?'.
void write_failure(std::string_view sentence, std::string_view detail = "") noexcept;

/// Ends the program with one sentence and status 1 if its stack may not grow to `least_stack`
/// bytes. Otherwise a signal would end it in the middle of its work.
void require_stack();
inline constexpr unsigned long least_stack = 128 * 1024;

}  // namespace support
