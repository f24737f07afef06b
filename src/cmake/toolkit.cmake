# Parts of cuda.cmake that a script can run separately (tests/structure/toolkit_test.cmake).
#
# NCCL for the plug-in: nccl.h and libnccl of one version. The wheel's, which LibTorch itself loads, takes precedence over a
# system's: the loader cannot distinguish two of them in a process, since their file names are equal.

# gnnmg_find_nccl(<folder of wheels>): sets GNNMG_NCCL_INCLUDE and GNNMG_NCCL in the cache, if found.
function(gnnmg_find_nccl wheels)
  find_path(GNNMG_NCCL_INCLUDE nccl.h PATHS ${wheels}/nccl/include NO_DEFAULT_PATH)
  find_library(GNNMG_NCCL NAMES nccl libnccl.so.2 NAMES_PER_DIR PATHS ${wheels}/nccl/lib NO_DEFAULT_PATH)
  find_path(GNNMG_NCCL_INCLUDE nccl.h)
  find_library(GNNMG_NCCL NAMES nccl libnccl.so.2 NAMES_PER_DIR)
endfunction()

# gnnmg_nccl_of_header(<variable> <nccl.h>), gnnmg_nccl_of_library(<variable> <libnccl>): a version such as 2.28.9, or an empty
# text if unknown.
function(gnnmg_nccl_of_header variable header)
  set(version "")
  file(STRINGS ${header} lines REGEX "^#define NCCL_(MAJOR|MINOR|PATCH) +[0-9]+")
  foreach(part MAJOR MINOR PATCH)
    if(lines MATCHES "NCCL_${part} +([0-9]+)")
      list(APPEND version ${CMAKE_MATCH_1})
    endif()
  endforeach()
  string(JOIN "." version ${version})
  set(${variable} "${version}" PARENT_SCOPE)
endfunction()
function(gnnmg_nccl_of_library variable library)
  set(version "")
  file(STRINGS ${library} line REGEX "NCCL version [0-9]+\\.[0-9]+\\.[0-9]+" LIMIT_COUNT 1)
  if("${line}" MATCHES "NCCL version ([0-9]+\\.[0-9]+\\.[0-9]+)")
    set(version ${CMAKE_MATCH_1})
  endif()
  set(${variable} "${version}" PARENT_SCOPE)
endfunction()

# gnnmg_check_nccl(<variable>): the fault of the header and library that were found, or an empty text.
function(gnnmg_check_nccl variable)
  set(wrong "")
  if(NOT GNNMG_NCCL_INCLUDE OR NOT GNNMG_NCCL)
    set(wrong "NCCL (nccl.h, libnccl.so.2)")
  else()
    gnnmg_nccl_of_header(header ${GNNMG_NCCL_INCLUDE}/nccl.h)
    gnnmg_nccl_of_library(library ${GNNMG_NCCL})
    if(NOT header STREQUAL library)
      set(wrong "NCCL of one version (${GNNMG_NCCL_INCLUDE}/nccl.h is of \"${header}\", ${GNNMG_NCCL} of \"${library}\"; ")
      string(APPEND wrong "GNNMG_NCCL_INCLUDE and GNNMG_NCCL name others)")
    endif()
  endif()
  set(${variable} "${wrong}" PARENT_SCOPE)
endfunction()

# gnnmg_check_headers(<variable> <folders> <header>...): the headers that are in none of the folders.
function(gnnmg_check_headers variable folders)
  set(lacking "")
  foreach(header IN LISTS ARGN)
    set(found OFF)
    foreach(folder IN LISTS folders)
      if(EXISTS ${folder}/${header})
        set(found ON)
      endif()
    endforeach()
    if(NOT found)
      list(APPEND lacking ${header})
    endif()
  endforeach()
  set(${variable} "${lacking}" PARENT_SCOPE)
endfunction()
