# Installs fledge into a folder of its own, builds a user's project against it and runs the
# programs.
#   cmake -DBUILD=build -DGENERATOR=... -DCOMPILER=... -DFLAGS=... -P tests/install/run.cmake
cmake_minimum_required(VERSION 3.22)
cmake_path(SET root NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../..)
set(folder ${BUILD}/tests/install)
file(REMOVE_RECURSE ${folder})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${code}:\n${output}")
  endif()
endfunction()

# The ```cpp blocks of README.md, each kept in the line where it stands so that errors point there.
file(READ ${root}/README.md readme)
foreach(program readme_loop readme_check)
  string(FIND "${readme}" "\n```cpp\n" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "README.md: two blocks that begin with ```cpp are expected")
  endif()
  math(EXPR begin "${begin} + 8")
  string(SUBSTRING "${readme}" 0 ${begin} before)
  string(SUBSTRING "${readme}" ${begin} -1 readme)
  string(FIND "${readme}" "\n```" end)
  string(SUBSTRING "${readme}" 0 ${end} text)
  if(program STREQUAL readme_loop)  # it is compiled with the other programs of examples/library
    file(READ ${root}/examples/library/xor.cpp loop)
    if(NOT "${text}\n" STREQUAL "${loop}")
      message(FATAL_ERROR "README.md: its first program is not examples/library/xor.cpp")
    endif()
  endif()
  string(APPEND passed "${before}")
  string(REGEX MATCHALL "\n" lines "${passed}")
  list(LENGTH lines line)
  math(EXPR line "${line} + 1")
  file(WRITE ${folder}/${program}.cpp "#line ${line} \"README.md\"\n${text}\n")
endforeach()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder}/prefix)

run(${folder}/prefix/bin/fledge --help)

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${folder}/build -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_PREFIX_PATH=${folder}/prefix -DREADME_PROGRAMS=${folder})
run(${CMAKE_COMMAND} --build ${folder}/build --parallel 2)
foreach(program user_fledge user_fledge_dual readme_check)
  run(${folder}/build/${program})
endforeach()

# The programs of examples/library, in a copy, as their CMakeLists.txt says. Each ends with 0 only if
# its model has learned.
file(COPY ${root}/examples/library DESTINATION ${folder})
run(${CMAKE_COMMAND} -S ${folder}/library -B ${folder}/library/build -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_PREFIX_PATH=${folder}/prefix)
run(${CMAKE_COMMAND} --build ${folder}/library/build --parallel 2)
foreach(program xor bigram attention_classifier)
  execute_process(COMMAND ${folder}/library/build/${program} WORKING_DIRECTORY ${folder}
    OUTPUT_VARIABLE output RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${program} ended with ${code}:\n${output}")
  endif()
endforeach()

# The commonest slips: one sentence of ours is in what the compiler says.
foreach(slip "FORGOTTEN_VISIT:must list its parts" "TENSOR_RULE:a rule takes const Array&"
    "INDICES_AS_TENSOR:whole numbers without a gradient")
  string(REGEX MATCH "(.*):(.*)" both ${slip})
  set(sentence ${CMAKE_MATCH_2})
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -D${CMAKE_MATCH_1}
    -I${folder}/prefix/include/fledge ${CMAKE_CURRENT_LIST_DIR}/slips.cpp
    ERROR_VARIABLE errors RESULT_VARIABLE code)
  string(REGEX MATCHALL "error:" all "${errors}")
  list(LENGTH all count)
  if(code EQUAL 0 OR NOT count EQUAL 1 OR NOT errors MATCHES "${sentence}")
    message(FATAL_ERROR "${slip}: ${count} errors:\n${errors}")
  endif()
endforeach()
