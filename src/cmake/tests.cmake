# gnnmg_register_test: the one function that registers the project's tests with ctest.
if(NOT GNNMG_TESTS)
  return()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# gnnmg_register_test(<name> COMMAND <command> <argument>... [LABELS <label>...] [TIMEOUT <s>] [PROCESSES] [SERIAL]
#                     [ENVIRONMENT <variable=value>...])
# One ctest entry. A target as command means its file. Exit status 77 means skipped. One of the labels is the test's class,
# which limits its CPU seconds (tests/support/run_test.py), multiplied by GNNMG_TIMEOUT_FACTOR: unit (10 s, the default), dist
# (40 s, for several ranks or every kernel), bindings (100 s, mostly for compilers), long, which tests/run.sh leaves to
# tests/nightly.sh, or gpu, which is skipped without a GPU. TIMEOUT, by default 120 s, is for a plain build: sanitizers get
# GNNMG_TIMEOUT_FACTOR times as much. PROCESSES: the test starts several processes and measures time; one such
# test runs at a time. SERIAL: no other test runs at the same time.
function(gnnmg_register_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL;PROCESSES" "TIMEOUT" "COMMAND;LABELS;ENVIRONMENT")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_COMMAND)
    message(FATAL_ERROR "gnnmg_register_test(${name}): what is \"${arg_UNPARSED_ARGUMENTS}\"?")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  set(cost ${arg_TIMEOUT})
  set(lock)
  if(arg_PROCESSES)
    math(EXPR cost "${cost} + 10000")  # first: one after the other they take a third of the whole time
    set(lock processes)
  endif()
  set(class unit)
  foreach(label IN ITEMS dist bindings long gpu)
    if(label IN_LIST arg_LABELS)
      set(class ${label})
    endif()
  endforeach()
  list(APPEND arg_LABELS ${class})
  list(REMOVE_DUPLICATES arg_LABELS)
  list(POP_FRONT arg_COMMAND program)
  if(TARGET ${program})
    set(program ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${program}>)
  endif()
  math(EXPR timeout "${arg_TIMEOUT} * ${GNNMG_TIMEOUT_FACTOR}")
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -S ${PROJECT_SOURCE_DIR}/tests/support/run_test.py
           ${name} ${class} ${GNNMG_TIMEOUT_FACTOR} ${program} ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES
    LABELS "${arg_LABELS}" TIMEOUT ${timeout} COST ${cost} RESOURCE_LOCK "${lock}" RUN_SERIAL ${arg_SERIAL}
    SKIP_RETURN_CODE 77
    ENVIRONMENT "${GNNMG_TEST_ENVIRONMENT};${arg_ENVIRONMENT}")
endfunction()
