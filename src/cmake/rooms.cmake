# gnnmg_add_room and gnnmg_add_test: the two functions by which every target of the project is made.
include(precompiled)

# The tests' own code need not be fast, and compiles in half the time, under sanitizers in a quarter.
set(GNNMG_TEST_LEVEL $<$<NOT:$<CONFIG:Debug>>:-O1>)
if(GNNMG_SANITIZE)
  set(GNNMG_TEST_LEVEL $<$<NOT:$<CONFIG:Debug>>:-Og>)
endif()

# gnnmg_add_room(<room> SOURCES <file>... [DEPS <room>...] [LIBS <target>...] [TORCH])
# One static library gnnmg_<room> from src/<room>; DEPS are rooms of a lower level, LIBS anything else.
# TORCH marks a room above the torch line: it links LibTorch and is left out with GNNMG_TORCH=OFF.
function(gnnmg_add_room room)
  cmake_parse_arguments(arg "TORCH" "" "SOURCES;DEPS;LIBS" ${ARGN})
  if(arg_TORCH AND NOT GNNMG_TORCH)
    return()
  endif()
  set(target gnnmg_${room})
  add_library(${target} STATIC ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  list(TRANSFORM arg_DEPS PREPEND gnnmg_)
  target_link_libraries(${target} PUBLIC gnnmg_flags ${arg_DEPS} ${arg_LIBS})
  if(arg_TORCH)
    target_link_libraries(${target} PUBLIC LibTorch::cpu)
    set_target_properties(${target} PROPERTIES GNNMG_READS_TORCH ON)
    gnnmg_precompile(${target})
  endif()
endfunction()

# For the tests' code in <target>, where one of the rooms' targets reads LibTorch.
function(gnnmg_precompile_readers target)
  foreach(room IN LISTS ARGN)
    get_target_property(reads_torch ${room} GNNMG_READS_TORCH)
    if(reads_torch)
      gnnmg_precompile(${target} ${GNNMG_TEST_LEVEL})
      break()
    endif()
  endforeach()
endfunction()

# gnnmg_add_cases(<name> SOURCES <file>... ROOMS <room>...)
# Compiled test files for LIBS of several test programs, whose other files say what the cases run on.
function(gnnmg_add_cases name)
  cmake_parse_arguments(arg "" "" "SOURCES;ROOMS" ${ARGN})
  add_library(${name} OBJECT ${arg_SOURCES})
  list(TRANSFORM arg_ROOMS PREPEND gnnmg_)
  target_link_libraries(${name} PUBLIC ${arg_ROOMS} gnnmg_test_support gnnmg_flags)
  target_compile_options(${name} PRIVATE ${GNNMG_TEST_LEVEL})
  gnnmg_precompile_readers(${name} ${arg_ROOMS})
endfunction()

# gnnmg_add_test(<name> SOURCES <file>... ROOMS <room>... [LABELS <label>...] [LIBS <target>...] [TIMEOUT <s>] [TORCH]
#                [SERIAL])
# One GoogleTest program with tests/support, one ctest entry; "skipped" when any of its tests was skipped. TIMEOUT is for
# a plain build; sanitizers get GNNMG_TIMEOUT_FACTOR times as much. SERIAL: nothing else runs beside it.
function(gnnmg_add_test name)
  cmake_parse_arguments(arg "TORCH;SERIAL" "TIMEOUT" "SOURCES;ROOMS;LABELS;LIBS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gnnmg_add_test(${name}): what is \"${arg_UNPARSED_ARGUMENTS}\"?")
  endif()
  if(arg_TORCH AND NOT GNNMG_TORCH)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  math(EXPR timeout "${arg_TIMEOUT} * ${GNNMG_TIMEOUT_FACTOR}")
  add_executable(${name} ${arg_SOURCES})
  list(TRANSFORM arg_ROOMS PREPEND gnnmg_)
  target_link_libraries(${name} PRIVATE ${arg_LIBS} ${arg_ROOMS} gnnmg_test_support gnnmg_flags)
  target_compile_options(${name} PRIVATE ${GNNMG_TEST_LEVEL})
  gnnmg_precompile_readers(${name} ${arg_ROOMS})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${timeout} LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77 RUN_SERIAL ${arg_SERIAL}
    ENVIRONMENT "${GNNMG_TEST_ENVIRONMENT}")
endfunction()
