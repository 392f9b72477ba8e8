// The class of a Unicode code point: letter, number, white space or other.
//
// The tables are those of Unicode 14.0 (2021), as ranges. A code point that no character has there
// is "other".
#pragma once

namespace fledge {

enum class CodePointClass {
  letter,  // \p{L}: general category Lu, Ll, Lt, Lm or Lo
  number,  // \p{N}: Nd, Nl or No
  space,   // \s: the property White_Space
  other
};

/// The class of a code point. Surrogates and numbers over U+10FFFF are "other". (Unicode 14.0,
/// section 4.5, table 4-4, and PropList.txt.)
CodePointClass class_of(char32_t point);

}  // namespace fledge
