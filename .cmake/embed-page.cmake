# Makes OUT, a C++ file with the style and the script of a page: FOLDER/style.css, and the files of
# FOLDER/script, then those of FOLDER/figures, each in the order of their names, as one strict script,
# after what the terms of a page mean, by FOLDER/../GLOSSARY.md; and MODULE, the engine as
# WebAssembly, compressed and in base64, if this file is there.

# "sha256-…" of a text, in base64 as a Content-Security-Policy has it.
function(hash_of text result)
  string(SHA256 hex "${text}")
  set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(base64 "")
  # 64 hexadecimal digits are 10 groups of 6, each four digits of base64, and 4 more with padding.
  foreach(group RANGE 0 9)
    math(EXPR at "6 * ${group}")
    string(SUBSTRING "${hex}" ${at} 6 six)
    foreach(shift 18 12 6 0)
      math(EXPR digit "(0x${six} >> ${shift}) & 63")
      string(SUBSTRING "${digits}" ${digit} 1 letter)
      string(APPEND base64 "${letter}")
    endforeach()
  endforeach()
  string(SUBSTRING "${hex}" 60 4 four)
  foreach(shift 10 4)
    math(EXPR digit "(0x${four} >> ${shift}) & 63")
    string(SUBSTRING "${digits}" ${digit} 1 letter)
    string(APPEND base64 "${letter}")
  endforeach()
  math(EXPR digit "(0x${four} << 2) & 63")
  string(SUBSTRING "${digits}" ${digit} 1 letter)
  set(${result} "sha256-${base64}${letter}=" PARENT_SCOPE)
endfunction()

# A text as C++ literals of a few thousand bytes each: one has at most 65,536.
function(literals_of text result)
  string(LENGTH "${text}" length)
  set(literals "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND literals "    R\"fledge(${piece})fledge\",\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  set(${result} "${literals}" PARENT_SCOPE)
endfunction()

file(READ ${FOLDER}/style.css style)
# Without comments, and blanks that only a reader needs.
string(REGEX REPLACE "/\\*[^*]*\\*/" "" style "${style}")
string(REGEX REPLACE "[ \n]*([{};,])[ \n]*" "\\1" style "${style}")
string(REGEX REPLACE ": +" ":" style "${style}")
file(READ ${FOLDER}/../GLOSSARY.md glossary)
set(script "\"use strict\";\nconst glossary = {")
foreach(term query key score softmax "causal mask" embedding loss floor gradient MLP)
  if(NOT "${glossary}" MATCHES "\n\\| ${term} \\| ([^|\"\\]*) \\|")
    message(FATAL_ERROR "GLOSSARY.md has no row for '${term}' without quotation marks and backslashes")
  endif()
  string(APPEND script "\"${term}\":\"${CMAKE_MATCH_1}\",")
endforeach()
string(APPEND script "};\n")
set(files "")
foreach(part script figures)
  file(GLOB some ${FOLDER}/${part}/*.js)
  list(SORT some)
  list(APPEND files ${some})
endforeach()
foreach(file IN LISTS files)
  file(READ ${file} text)
  string(APPEND script "${text}")
endforeach()
# Without comments and indentation: a fifth of the bytes. No text of a script goes over a line end.
string(REGEX REPLACE "\n *//[^\n]*" "" script "${script}")
string(REGEX REPLACE "\n[ \n]+" "\n" script "${script}")
hash_of("${style}" style_hash)
hash_of("${script}" script_hash)
literals_of("${style}" style_literals)
literals_of("${script}" script_literals)
set(module "")
if(EXISTS "${MODULE}")
  execute_process(COMMAND gzip -9nc ${MODULE} COMMAND base64 OUTPUT_VARIABLE module
    COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" "" module "${module}")
endif()
literals_of("${module}" module_literals)
file(WRITE ${OUT} "// Made from examples/page and examples/GLOSSARY.md: see page_file.h.
#include <initializer_list>
#include <string>
#include <string_view>

namespace fledge::page {

static std::string joined(std::initializer_list<std::string_view> pieces) {
  std::string text;
  for (const std::string_view piece : pieces) text += piece;
  return text;
}

extern const std::string style, script, engine_module;
extern const char *const style_hash, *const script_hash;
const std::string style = joined({
${style_literals}});
const std::string script = joined({
${script_literals}});
const char* const style_hash = \"${style_hash}\";
const char* const script_hash = \"${script_hash}\";
const std::string engine_module = joined({
${module_literals}});

}  // namespace fledge::page
")
