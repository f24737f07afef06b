# Finds LibTorch as imported targets LibTorch::c10 and LibTorch::cpu, without TorchConfig.cmake (which needs a CUDA toolkit and
# edits global flags). GNNMG_TORCH_DIR holds include/ and lib/; if it is unset, Python is asked for torch's folder.
set(GNNMG_TORCH_DIR "$ENV{GNNMG_TORCH_DIR}" CACHE PATH "An unpacked LibTorch, or the torch folder of a Python installation")
if(NOT GNNMG_TORCH_DIR)
  find_program(GNNMG_PYTHON NAMES python3 HINTS ${PROJECT_SOURCE_DIR}/.deps/venv/bin NO_CACHE)
  if(GNNMG_PYTHON)
    execute_process(
      COMMAND ${GNNMG_PYTHON} -c "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set(GNNMG_TORCH_DIR "${found}" CACHE PATH "" FORCE)
  endif()
endif()

find_path(LibTorch_INCLUDE_DIR torch/headeronly/version.h PATHS ${GNNMG_TORCH_DIR}/include NO_DEFAULT_PATH)
find_library(LibTorch_CPU_LIBRARY torch_cpu PATHS ${GNNMG_TORCH_DIR}/lib NO_DEFAULT_PATH)
find_library(LibTorch_C10_LIBRARY c10 PATHS ${GNNMG_TORCH_DIR}/lib NO_DEFAULT_PATH)
if(LibTorch_INCLUDE_DIR)
  file(STRINGS ${LibTorch_INCLUDE_DIR}/torch/headeronly/version.h lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE ".*MAJOR ([0-9]+).*MINOR ([0-9]+).*PATCH ([0-9]+).*" "\\1.\\2.\\3" LibTorch_VERSION "${lines}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR
  VERSION_VAR LibTorch_VERSION HANDLE_VERSION_RANGE
  REASON_FAILURE_MESSAGE "run src/cmake/setup.sh, or point GNNMG_TORCH_DIR at a folder with LibTorch's include/ and lib/")

if(LibTorch_FOUND AND NOT TARGET LibTorch::cpu)
  execute_process(COMMAND ${CMAKE_NM} -D ${LibTorch_C10_LIBRARY} OUTPUT_VARIABLE symbols)
  if(NOT symbols MATCHES "__cxx11")
    message(FATAL_ERROR "${LibTorch_C10_LIBRARY} uses the old C++ ABI; take a LibTorch built with the C++11 ABI (every wheel since 2.7)")
  endif()
  add_library(LibTorch::c10 SHARED IMPORTED)
  set_target_properties(LibTorch::c10 PROPERTIES
    IMPORTED_LOCATION "${LibTorch_C10_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_INCLUDE_DIR};${LibTorch_INCLUDE_DIR}/torch/csrc/api/include"
    # Files include the operators that they name instead of all two thousand, which take 3.4 s of a compilation.
    INTERFACE_COMPILE_DEFINITIONS "AT_PER_OPERATOR_HEADERS;USE_DISTRIBUTED;USE_C10D_GLOO;USE_RPC;USE_TENSORPIPE")
  add_library(LibTorch::cpu SHARED IMPORTED)
  set_target_properties(LibTorch::cpu PROPERTIES
    IMPORTED_LOCATION "${LibTorch_CPU_LIBRARY}" INTERFACE_LINK_LIBRARIES LibTorch::c10)
endif()
