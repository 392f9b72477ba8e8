# Makes OUT, a C++ file with the style and the script of a page: FOLDER/style.css, and the files of
# FOLDER/script, then those of FOLDER/figures, each in the order of their names, as one strict script,
# after what the terms of a page mean, by FOLDER/../GLOSSARY.md; and MODULE, the engine as
# WebAssembly, compressed and in base64, if this file is there.

# The bytes of the SHA-256 of a text, as they stand in a C++ literal.
function(hash_of text result)
  string(SHA256 hex "${text}")
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${hex}")
  set(${result} "${bytes}" PARENT_SCOPE)
endfunction()

# A text as a sum of C++ literals of a few thousand bytes each: one has at most 65,536.
function(literals_of text result)
  string(LENGTH "${text}" length)
  set(literals "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND literals "\n    + R\"fledge(${piece})fledge\"")
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
file(GLOB scripts ${FOLDER}/script/*.js)  # GLOB sorts
file(GLOB figures ${FOLDER}/figures/*.js)
foreach(file IN LISTS scripts figures)
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
#include \"examples/page/base64.h\"
#include \"examples/page/page_file.h\"

namespace fledge::page {

const std::string style = std::string()${style_literals};
const std::string script = std::string()${script_literals};
const std::string style_hash = \"sha256-\" + base64(std::string(\"${style_hash}\", 32));
const std::string script_hash = \"sha256-\" + base64(std::string(\"${script_hash}\", 32));
const std::string engine_module = std::string()${module_literals};

}  // namespace fledge::page
")
