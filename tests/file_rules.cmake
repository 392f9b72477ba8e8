# Rules about files that no compiler checks. As a script: cmake -P tests/file_rules.cmake
cmake_minimum_required(VERSION 3.22)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)
set(faults "")

# The programs of one file: at most 250 lines, 180 of the one to read first, no header of ours, and a
# transcript. The text that the birds learn is data: the same file as in
# examples/support/built_in_text.inc.
file(READ ${root}/tests/command/one_file.txt transcript)
file(GLOB one_file RELATIVE ${root} ${root}/examples/*.cpp)
list(REMOVE_ITEM one_file examples/birds.cpp)
foreach(path IN LISTS one_file)
  file(READ ${root}/${path} text)
  string(REGEX MATCHALL "\n" line_ends "${text}")
  list(LENGTH line_ends lines)
  set(most 250)
  if(path MATCHES "birds_first")
    set(most 180)
  endif()
  if(lines GREATER most)
    string(APPEND faults "  ${path}: ${lines} lines, at most ${most}\n")
  endif()
  string(REPLACE "#include \"support/built_in_text.inc\"" "" text "${text}")
  string(FIND "${text}" "#include \"" found)
  if(NOT found EQUAL -1)
    string(APPEND faults "  ${path}: a program of one file includes no header of fledge\n")
  endif()
  cmake_path(GET path STEM name)
  string(FIND "${transcript}" "${name} " found)
  if(found EQUAL -1)
    string(APPEND faults "  ${path}: tests/command/one_file.txt does not run it\n")
  endif()
endforeach()

# engine/real.h: each header of engine/base/ is read before `fledge` becomes another namespace.
file(READ ${root}/engine/real.h real_header)
file(GLOB base_headers RELATIVE ${root} ${root}/engine/base/*.h)
foreach(path IN LISTS base_headers)
  string(FIND "${real_header}" "#include \"${path}\"" found)
  if(found EQUAL -1)
    string(APPEND faults "  ${path}: engine/real.h does not include it\n")
  endif()
endforeach()

# The other headers of engine/ are of one number type: they include real.h, themselves or by another.
# A unit of many files would not notice. check_backward.h is for programs without fledge.
file(GLOB_RECURSE headers RELATIVE ${root} ${root}/engine/*.h)
list(FILTER headers EXCLUDE REGEX "^engine/(base/|(dual|real|gradcheck/check_backward)\\.h)")
foreach(path IN LISTS headers)
  file(STRINGS ${root}/${path} includes REGEX "#include \"engine/")
  list(FILTER includes EXCLUDE REGEX "engine/base/")
  if(NOT includes)
    string(APPEND faults "  ${path}: it does not include engine/real.h\n")
  endif()
endforeach()

if(faults)
  message(FATAL_ERROR "These files break a rule:\n${faults}")
endif()
