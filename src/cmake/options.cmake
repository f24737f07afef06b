# Options and the compiler flags that all targets of the project share.
option(GNNMG_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(GNNMG_EXAMPLES "Build the example programs" ${PROJECT_IS_TOP_LEVEL})
option(GNNMG_TORCH "Build the rooms above the torch line; OFF leaves the torch-free static libraries" ON)
option(GNNMG_WERROR "Treat compiler warnings as errors" OFF)
option(GNNMG_FUZZ "Build the libFuzzer targets; needs clang, and GNNMG_SANITIZE and GNNMG_TORCH as the preset fuzz sets them" OFF)
option(GNNMG_BENCH "Build the programs of tests/bench; needs Google Benchmark (libbenchmark-dev)" OFF)
option(GNNMG_PCH "Precompile the headers of the standard library, GoogleTest and LibTorch" ON)
option(GNNMG_UBSAN_TESTS "Compile the tests' own code with UndefinedBehaviorSanitizer too, where GNNMG_SANITIZE has it" ON)
option(GNNMG_BATCH "Compile the files of a room in batches" ON)
option(GNNMG_COVERAGE "Count executed lines and branches for gcov" OFF)
set(GNNMG_TEST_FOLDERS "" CACHE STRING "Folders of tests/ to build; empty: all")
set(GNNMG_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them, e.g. address,undefined")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_program(GNNMG_CCACHE ccache)
if(GNNMG_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${GNNMG_CCACHE})
  # ccache needs the first setting to cache files that are compiled with precompiled headers. With the second, checkouts in
  # different folders share a cache although GNNMG_TORCH_PATHS names them.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_IGNOREOPTIONS=-fmacro-prefix-map=/* ${GNNMG_CCACHE})
endif()

if(GNNMG_SANITIZE MATCHES "thread" AND GNNMG_TORCH)
  message(FATAL_ERROR "ThreadSanitizer reports false races in LibTorch, which is not built for it: "
                      "use the preset tsan, or add -DGNNMG_TORCH=OFF")
endif()
if(GNNMG_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "The fuzz targets need clang's libFuzzer, but the compiler is ${CMAKE_CXX_COMPILER}: "
                      "use the preset fuzz, or add -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++")
endif()

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
if(GNNMG_TORCH)
  find_package(LibTorch 2.11...<2.12 REQUIRED)
  # Texts of LibTorch's macros name the files that use them. These options remove the builder's folder from the names, as CMake
  # writes it and as ccache does, relative to the build folder, and as GCC does, without links.
  file(RELATIVE_PATH from_build ${PROJECT_BINARY_DIR} ${LibTorch_INCLUDE_DIR})
  set(GNNMG_TORCH_PATHS -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= -fmacro-prefix-map=${LibTorch_INCLUDE_DIR}/=
      -fmacro-prefix-map=${from_build}/=)
  file(REAL_PATH ${LibTorch_INCLUDE_DIR} without_links)
  if(NOT without_links STREQUAL LibTorch_INCLUDE_DIR)
    file(RELATIVE_PATH from_build ${PROJECT_BINARY_DIR} ${without_links})
    list(APPEND GNNMG_TORCH_PATHS -fmacro-prefix-map=${without_links}/= -fmacro-prefix-map=${from_build}/=)
  endif()
endif()

add_library(gnnmg_flags INTERFACE)
target_compile_features(gnnmg_flags INTERFACE cxx_std_20 c_std_99)
target_compile_options(gnnmg_flags INTERFACE
  -Wall -Wextra -fvisibility=hidden
  # GCC 12 warns about its own std::string (PR 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
# clang does not know all of GCC's warnings that are turned off. Without times in precompiled headers, ccache can cache files
# that use them.
target_compile_options(gnnmg_flags INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Wno-unknown-warning-option -Xclang -fno-pch-timestamp>")
target_link_libraries(gnnmg_flags INTERFACE Threads::Threads)
if(GNNMG_WERROR)
  target_compile_options(gnnmg_flags INTERFACE -Werror)
endif()
if(GNNMG_COVERAGE)
  target_compile_options(gnnmg_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(gnnmg_flags INTERFACE --coverage)
endif()
if(GNNMG_FUZZ)
  target_compile_options(gnnmg_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(GNNMG_SANITIZE)
  # Tests check thousands of conditions, and UndefinedBehaviorSanitizer makes them slow to compile.
  string(REPLACE "," ";" sanitizers ${GNNMG_SANITIZE})
  foreach(sanitizer IN LISTS sanitizers)
    set(watched 1)
    if(sanitizer STREQUAL "undefined" AND NOT GNNMG_UBSAN_TESTS)
      set(watched $<NOT:$<BOOL:$<TARGET_PROPERTY:GNNMG_IS_TEST>>>)
    endif()
    target_compile_options(gnnmg_flags INTERFACE $<${watched}:-fsanitize=${sanitizer}>)
  endforeach()
  target_compile_options(gnnmg_flags INTERFACE -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND GNNMG_SANITIZE MATCHES "address")
    target_compile_definitions(gnnmg_flags INTERFACE __SANITIZE_ADDRESS__=1)  # GCC defines it itself
  endif()
  target_link_options(gnnmg_flags INTERFACE -fsanitize=${GNNMG_SANITIZE})
endif()

# Tests expect an error, not the end of the program, for allocations that are too large. OpenMP's waiting threads sleep; by
# default they spin, which takes the processor from concurrent tests.
set(GNNMG_TEST_ENVIRONMENT
  OMP_WAIT_POLICY=passive
  ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1
  TSAN_OPTIONS=allocator_may_return_null=1:second_deadlock_stack=1
  UBSAN_OPTIONS=print_stacktrace=1)

# Sanitizers and valgrind slow programs down; this factor multiplies the time limits of the tests.
set(GNNMG_TIMEOUT_FACTOR "" CACHE STRING "Multiplies the time limits of the tests; empty: 5 with sanitizers, else 1")
if(NOT GNNMG_TIMEOUT_FACTOR)
  set(GNNMG_TIMEOUT_FACTOR 1)
  if(GNNMG_SANITIZE)
    set(GNNMG_TIMEOUT_FACTOR 5)
  endif()
endif()
