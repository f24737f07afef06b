# Tests the choice of NCCL and of headers in src/cmake/toolkit.cmake, on folders with fake files:
#   cmake -DWORLD=<folder to make> -P toolkit_test.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../../src/cmake/toolkit.cmake)
set(CMAKE_FIND_LIBRARY_PREFIXES lib)
set(CMAKE_FIND_LIBRARY_SUFFIXES .so .a)

function(make_nccl folder library header_version library_version)
  string(REPLACE "." ";" parts ${header_version})
  list(GET parts 0 major)
  list(GET parts 1 minor)
  list(GET parts 2 patch)
  file(WRITE ${folder}/include/nccl.h
       "#define NCCL_MAJOR ${major}\n#define NCCL_MINOR ${minor}\n#define NCCL_PATCH ${patch}\n")
  file(WRITE ${folder}/lib/${library} "something NCCL version ${library_version}+cuda13.0 and more\n")
endfunction()

# expect(<value> <expected expression>), with the first argument's text in the message
function(expect found wanted)
  if(NOT "${found}" MATCHES "${wanted}")
    message(SEND_ERROR "found \"${found}\", expected ${wanted}")
  endif()
endfunction()

# find(<folder of wheels> <a system's>): found_library, found_include, found_wrong
macro(find wheels system)
  unset(GNNMG_NCCL CACHE)
  unset(GNNMG_NCCL_INCLUDE CACHE)
  set(CMAKE_PREFIX_PATH ${system})
  gnnmg_find_nccl(${wheels})
  gnnmg_check_nccl(found_wrong)
endmacro()

file(REMOVE_RECURSE ${WORLD})
# A wheel has the library's name only with its version; a system's has the plain name.
make_nccl(${WORLD}/wheels/nccl libnccl.so.2 2.28.9 2.28.9)
make_nccl(${WORLD}/system libnccl.so 2.27.3 2.27.3)
find(${WORLD}/wheels ${WORLD}/system)
expect("${GNNMG_NCCL}" "^${WORLD}/wheels/nccl/lib/libnccl.so.2$")
expect("${GNNMG_NCCL_INCLUDE}" "^${WORLD}/wheels/nccl/include$")
expect("${found_wrong}" "^$")
find(${WORLD}/nowhere ${WORLD}/system)
expect("${GNNMG_NCCL}" "^${WORLD}/system/lib/libnccl.so$")
expect("${GNNMG_NCCL_INCLUDE}" "^${WORLD}/system/include$")
expect("${found_wrong}" "^$")
# Header and library of different versions.
make_nccl(${WORLD}/mixed libnccl.so 2.28.9 2.27.3)
find(${WORLD}/nowhere ${WORLD}/mixed)
expect("${found_wrong}" "nccl.h is of \"2.28.9\", .*/mixed/lib/libnccl.so of \"2.27.3\"")
file(WRITE ${WORLD}/mixed/lib/libnccl.so "no word of it")
find(${WORLD}/nowhere ${WORLD}/mixed)
expect("${found_wrong}" "nccl.h is of \"2.28.9\", .*/mixed/lib/libnccl.so of \"\"")

file(WRITE ${WORLD}/toolkit/cuda_runtime_api.h "")
file(WRITE ${WORLD}/wheels/cu13/cublas_v2.h "")
gnnmg_check_headers(lacking "${WORLD}/toolkit;${WORLD}/wheels/cu13" cuda_runtime_api.h cublas_v2.h)
expect("${lacking}" "^$")
gnnmg_check_headers(lacking "${WORLD}/toolkit" cuda_runtime_api.h cublas_v2.h cusparse.h)
expect("${lacking}" "^cublas_v2.h;cusparse.h$")
