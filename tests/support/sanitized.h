// Whether the tests are built under sanitizers, where a program takes ten times as long.
//
// A sanitizer looks at what the code does with memory, not at what it computes: a run again, over
// other seeds, in another language, shows it nothing new. Tests of that kind do fewer runs there.
// What each does at least once in every build, and what it claims of every run, is the same.
#pragma once

namespace testing {

#ifdef FLEDGE_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace testing
