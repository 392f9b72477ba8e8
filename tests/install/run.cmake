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
foreach(program user_fledge user_fledge_dual readme_loop readme_check)
  run(${folder}/build/${program})
endforeach()
