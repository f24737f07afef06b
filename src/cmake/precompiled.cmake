# Precompiled headers. Headers that nearly every file includes are parsed once: LibTorch's core alone takes 8 s to compile,
# GoogleTest's headers 2 s. Files still include all that they use: with GNNMG_PCH=OFF, as in the presets dev and asan, a file
# that relies on another's includes does not compile.
set(GNNMG_PCH_STANDARD
  <algorithm> <chrono> <cstdint> <functional> <map> <memory> <mutex> <optional> <span> <string> <string_view> <thread> <vector>)
set(GNNMG_PCH_TORCH <ATen/TensorOperators.h> <ATen/core/Tensor.h> <c10/core/GradMode.h>)

# gnnmg_precompile(<target> <set>): makes the target use a set of precompiled headers, which the first call with the set
# creates: `standard` is for rooms below the torch line, `torch` for those above it, `tests` and `torch_tests` for tests. A
# file with compiler options of its own cannot use them: it has the property SKIP_PRECOMPILE_HEADERS.
function(gnnmg_precompile target set)
  if(NOT GNNMG_PCH)
    return()
  endif()
  set(shared gnnmg_pch_${set})
  if(NOT TARGET ${shared})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${shared}.cpp CONTENT "// Nothing: CMake ties precompiled headers to a source.\n")
    add_library(${shared} OBJECT ${PROJECT_BINARY_DIR}/${shared}.cpp)
    target_link_libraries(${shared} PRIVATE gnnmg_flags)
    target_precompile_headers(${shared} PRIVATE ${GNNMG_PCH_STANDARD})
    if(set MATCHES "torch")
      target_precompile_headers(${shared} PRIVATE ${GNNMG_PCH_TORCH})
      target_link_libraries(${shared} PRIVATE LibTorch::cpu)
    endif()
    if(set STREQUAL "torch")
      target_compile_options(${shared} PRIVATE ${GNNMG_TORCH_PATHS})
    endif()
    if(set MATCHES "tests")
      target_precompile_headers(${shared} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
      target_link_libraries(${shared} PRIVATE gnnmg_test_support)
      target_compile_options(${shared} PRIVATE ${GNNMG_TEST_LEVEL})
      set_target_properties(${shared} PROPERTIES GNNMG_IS_TEST ON)
    else()
      set_target_properties(${shared} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()
