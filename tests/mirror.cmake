# The tests mirror the folders: engine/ops/softmax.cpp is tested by
# tests/engine/ops/test_softmax.cpp. A source without its test, or a file of more than 300 lines,
# stops the configuration; as a script (cmake -P) it fails the suite.
cmake_minimum_required(VERSION 3.22)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)
set(most_lines 300)

# Headers that hold nothing a test could call.
set(without_test
  engine/base/dim.h  # the name Dim
  engine/ops.h       # declarations; each op is tested with its source in engine/ops
  engine/real.h)     # the name Real; all that is tested is tested through it

# CONFIGURE_DEPENDS is refused in a script.
if(CMAKE_SCRIPT_MODE_FILE)
  set(watch)
else()
  set(watch CONFIGURE_DEPENDS)
endif()

set(faults "")

file(GLOB_RECURSE tested RELATIVE ${root} ${watch}
  ${root}/engine/*.cpp ${root}/engine/*.h ${root}/nn/*.cpp ${root}/nn/*.h
  ${root}/examples/support/*.cpp)
list(REMOVE_ITEM tested ${without_test})
foreach(path IN LISTS tested)
  cmake_path(REMOVE_EXTENSION path OUTPUT_VARIABLE source)
  if(path MATCHES "\\.h$" AND EXISTS ${root}/${source}.cpp)
    continue()  # tested with its .cpp
  endif()
  cmake_path(REPLACE_FILENAME source test_ OUTPUT_VARIABLE twin)
  cmake_path(GET source FILENAME name)
  if(NOT EXISTS ${root}/tests/${twin}${name}.cpp)
    string(APPEND faults "  ${path}: its test tests/${twin}${name}.cpp is missing\n")
  endif()
endforeach()

file(GLOB_RECURSE written RELATIVE ${root} ${watch}
  ${root}/engine/*.cpp ${root}/engine/*.h ${root}/nn/*.cpp ${root}/nn/*.h
  ${root}/examples/*.cpp ${root}/examples/*.h
  ${root}/tests/*.cpp ${root}/tests/*.h ${root}/tests/*.cmake ${root}/tests/CMakeLists.txt)
foreach(path IN LISTS written)
  file(READ ${root}/${path} text)
  string(REGEX MATCHALL "\n" line_ends "${text}")
  list(LENGTH line_ends lines)
  if(lines GREATER most_lines)
    string(APPEND faults "  ${path}: ${lines} lines, the most is ${most_lines}\n")
  endif()
endforeach()

# The programs of one file: at most 250 lines, no header of ours, and a test. The text that the
# birds learn is data: the same file as in examples/support/built_in_text.cpp.
file(GLOB one_file RELATIVE ${root} ${watch} ${root}/examples/*.cpp)
list(REMOVE_ITEM one_file examples/birds.cpp)
foreach(path IN LISTS one_file)
  file(READ ${root}/${path} text)
  string(REGEX MATCHALL "\n" line_ends "${text}")
  list(LENGTH line_ends lines)
  if(lines GREATER 250)
    string(APPEND faults "  ${path}: ${lines} lines, the most for a program of one file is 250\n")
  endif()
  string(REPLACE "#include \"support/built_in_text.inc\"" "" text "${text}")
  string(FIND "${text}" "#include \"" found)
  if(NOT found EQUAL -1)
    string(APPEND faults "  ${path}: a program of one file includes no header of fledge\n")
  endif()
  cmake_path(GET path STEM name)
  if(NOT EXISTS ${root}/tests/examples/one_file/test_${name}.cpp)
    string(APPEND faults "  ${path}: its test tests/examples/one_file/test_${name}.cpp is missing\n")
  endif()
endforeach()

# engine/real.h: each header of engine/base/ is read before `fledge` becomes another namespace.
file(READ ${root}/engine/real.h real_header)
file(GLOB base_headers RELATIVE ${root} ${watch} ${root}/engine/base/*.h)
foreach(path IN LISTS base_headers)
  string(FIND "${real_header}" "#include \"${path}\"" found)
  if(found EQUAL -1)
    string(APPEND faults "  ${path}: engine/real.h does not include it\n")
  endif()
endforeach()

if(faults AND (FLEDGE_MIRROR_STRICT OR CMAKE_SCRIPT_MODE_FILE))
  message(FATAL_ERROR "The tests do not mirror the sources:\n${faults}")
elseif(faults)
  message(WARNING "The tests do not mirror the sources:\n${faults}")
endif()
