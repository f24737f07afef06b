# Precompiled headers. LibTorch's core is 8 s of compiling in every file above the torch line; read once and mapped, it
# is a quarter of that. The files go on naming what they include: with GNNMG_PCH=OFF, as in the presets dev and asan,
# one that relies on a neighbour's includes does not compile.

# What nearly every file reads: each header in here costs those that do not need it a share of its templates.
set(GNNMG_PCH_HEADERS <ATen/TensorOperators.h> <ATen/core/Tensor.h> <c10/core/GradMode.h>)

# gnnmg_precompile(<target> [<compile option>...]): a target above the torch line reads those headers from the
# precompiled ones of the targets with the same options of their own, which the first call with them makes; without
# any, the targets are position-independent.
function(gnnmg_precompile target)
  if(NOT GNNMG_PCH)
    return()
  endif()
  set(shared gnnmg_pch_torch)
  if(ARGN)
    set(shared gnnmg_pch_torch_tests)
  endif()
  if(NOT TARGET ${shared})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${shared}.cpp CONTENT "// Nothing: CMake ties precompiled headers to a source.\n")
    add_library(${shared} OBJECT ${PROJECT_BINARY_DIR}/${shared}.cpp)
    target_precompile_headers(${shared} PRIVATE ${GNNMG_PCH_HEADERS})
    target_link_libraries(${shared} PRIVATE gnnmg_flags LibTorch::cpu)
    target_compile_options(${shared} PRIVATE ${ARGN})
    if(NOT ARGN)
      set_target_properties(${shared} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()
