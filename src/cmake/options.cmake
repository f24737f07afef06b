# Options and the compiler flags that every target of the project shares.
option(GNNMG_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(GNNMG_TORCH "Build the rooms above the torch line; OFF leaves the torch-free static libraries" ON)
set(GNNMG_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them, e.g. address,undefined")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_program(GNNMG_CCACHE ccache)
if(GNNMG_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${GNNMG_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${GNNMG_CCACHE})
endif()

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

add_library(gnnmg_flags INTERFACE)
target_compile_features(gnnmg_flags INTERFACE cxx_std_20 c_std_99)
target_compile_options(gnnmg_flags INTERFACE
  -Wall -Wextra -fvisibility=hidden
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden -fno-gnu-unique>)
target_link_libraries(gnnmg_flags INTERFACE Threads::Threads)
if(GNNMG_SANITIZE)
  target_compile_options(gnnmg_flags INTERFACE -fsanitize=${GNNMG_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(gnnmg_flags INTERFACE -fsanitize=${GNNMG_SANITIZE})
endif()
