// Catch2 under one set of names, whether the system has version 2 (Debian 12) or 3.
//
// Write Approx, WithinAbs, WithinRel, Equals, StartsWith, EndsWith and ContainsSubstring
// unqualified; an error's text is tested with REQUIRE_THROWS_WITH(f(), ContainsSubstring("...")).
#pragma once

#if __has_include(<catch2/catch_all.hpp>)

#include <catch2/catch_all.hpp>

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

#else

#include <catch2/catch.hpp>

inline auto ContainsSubstring(const std::string& part) { return Catch::Matchers::Contains(part); }

#endif

using Catch::Matchers::EndsWith;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
