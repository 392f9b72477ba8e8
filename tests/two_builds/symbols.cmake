# What the dual library defines is in namespace fledge_dual: a file that never includes engine/real.h
# would define it in fledge, where the float library has the same names.
execute_process(COMMAND ${NM} -C --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols RESULT_VARIABLE code
  ERROR_QUIET)
if(NOT code EQUAL 0 OR NOT symbols MATCHES "T fledge_dual::backward")
  message(FATAL_ERROR "${NM} lists no fledge_dual::backward in ${LIBRARY}")
endif()
string(REGEX MATCHALL "\n[0-9a-f]+ [TDBR] fledge::[^\n]*" strays "${symbols}")
if(strays)
  message(FATAL_ERROR "include engine/real.h where these are declared:${strays}")
endif()
