# Precompiled headers. What nearly every file reads is parsed once: LibTorch's core alone is 8 s of compiling, GoogleTest's
# headers are 2 s. The files go on naming what they include: with GNNMG_PCH=OFF, as in the presets dev and asan, one that
# relies on a neighbor's includes does not compile.
set(GNNMG_PCH_STANDARD
  <algorithm> <chrono> <cstdint> <functional> <map> <memory> <mutex> <optional> <span> <string> <string_view> <thread> <vector>)
set(GNNMG_PCH_TORCH <ATen/TensorOperators.h> <ATen/core/Tensor.h> <c10/core/GradMode.h>)

# gnnmg_precompile(<target> <set>): the target reads its first headers from the precompiled set, which the first call with
# it makes: `torch` is for rooms above the torch line, `tests` and `torch_tests` for tests.
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
