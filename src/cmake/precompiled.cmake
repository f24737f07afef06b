# Precompiled headers. LibTorch's core is 8 s of compiling in every file above the torch line; read once and mapped, it
# is a quarter of that. GoogleTest is half of what a small test takes. The files go on naming what they include: with
# GNNMG_PCH=OFF, as in the presets dev and asan, one that relies on a neighbour's includes does not compile.

# What nearly every file reads: each header in here costs those that do not need it a share of its templates.
set(GNNMG_PCH_TORCH <ATen/TensorOperators.h> <ATen/core/Tensor.h> <c10/core/GradMode.h>)
set(GNNMG_PCH_TESTS <gmock/gmock.h> <gtest/gtest.h>)

# gnnmg_precompile(<target> <kind>): the target reads the precompiled headers of this kind, which the first such call makes.
# torch: code above the torch line, position-independent; tests: what is compiled with GNNMG_TEST_LEVEL and links
# gnnmg_test_support; torch_tests: such tests that read LibTorch as well.
function(gnnmg_precompile target kind)
  if(NOT GNNMG_PCH)
    return()
  endif()
  set(shared gnnmg_pch_${kind})
  if(NOT TARGET ${shared})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${shared}.cpp CONTENT "// Nothing: CMake ties precompiled headers to a source.\n")
    add_library(${shared} OBJECT ${PROJECT_BINARY_DIR}/${shared}.cpp)
    target_link_libraries(${shared} PRIVATE gnnmg_flags)
    if(kind MATCHES "torch")
      target_precompile_headers(${shared} PRIVATE ${GNNMG_PCH_TORCH})
      target_link_libraries(${shared} PRIVATE LibTorch::cpu)
    endif()
    if(kind MATCHES "tests")
      target_precompile_headers(${shared} PRIVATE ${GNNMG_PCH_TESTS})
      target_link_libraries(${shared} PRIVATE gnnmg_test_support)
      target_compile_options(${shared} PRIVATE ${GNNMG_TEST_LEVEL})
    else()
      set_target_properties(${shared} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()
