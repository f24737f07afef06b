# Runs during an installation, for the component runtime: copies the libraries of LibTorch that libgnnmg.so needs, and their own
# requirements, into a folder next to it, and their licenses. They get run paths that begin at the file, so that the installed
# tree works anywhere. The caller, library.cmake, sets:
#   gnnmg_built     libgnnmg.so in the build folder, whose run path leads to LibTorch
#   gnnmg_torch     the folder of LibTorch's libraries
#   gnnmg_licenses  the folder of the licenses that the source tree has
#   gnnmg_libdir, gnnmg_docdir   folders below the prefix
cmake_policy(VERSION 3.25)
set(libraries ${CMAKE_INSTALL_PREFIX}/${gnnmg_libdir}/gnnmg)  # file(INSTALL) adds DESTDIR itself

file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${gnnmg_built}
     RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
     POST_EXCLUDE_REGEXES "^/(usr/)?lib(64)?/[^/]*(/[^/]*)?$")
if(missing)
  message(FATAL_ERROR "${gnnmg_built} needs ${missing}, which was found nowhere: src/cmake/setup.sh installs the requirements "
                      "of LibTorch, which is in ${gnnmg_torch}")
endif()
set(names "")
foreach(library IN LISTS found)
  get_filename_component(name ${library} NAME)
  file(REAL_PATH ${library} file)
  file(INSTALL ${file} DESTINATION ${libraries} TYPE FILE RENAME ${name})
  unset(old_path)
  unset(run_path)
  file(READ_ELF ${file} RPATH old_path RUNPATH run_path)
  if(NOT "${old_path}${run_path}" STREQUAL "")
    file(RPATH_SET FILE $ENV{DESTDIR}${libraries}/${name} NEW_RPATH "$ORIGIN")
  endif()
  list(APPEND names ${name})
endforeach()
if(NOT "libtorch_cpu.so" IN_LIST names)
  message(FATAL_ERROR "libtorch_cpu.so is not among the libraries that ${gnnmg_built} needs: ${found}")
endif()

# gnnmg_install_license(<name> <pattern>): copies the first file of the pattern.
function(gnnmg_install_license name pattern)
  file(GLOB texts ${pattern})
  if(NOT texts)
    message(WARNING "No ${pattern}: the installed tree lacks ${name}, and may not be passed on without it")
    return()
  endif()
  list(GET texts 0 text)
  file(INSTALL ${text} DESTINATION ${CMAKE_INSTALL_PREFIX}/${gnnmg_docdir} RENAME ${name})
endfunction()
# The licenses are next to the folder of LibTorch, where Python's wheels have them.
get_filename_component(tree ${gnnmg_torch}/../.. REALPATH)
gnnmg_install_license(LICENSE.libtorch ${tree}/torch-*.dist-info/licenses/LICENSE)
gnnmg_install_license(NOTICE.libtorch ${tree}/torch-*.dist-info/licenses/NOTICE)
if(names MATCHES "libcu")
  gnnmg_install_license(LICENSE.cuda ${tree}/nvidia_cuda_runtime-*.dist-info/licenses/License.txt)
endif()
if(names MATCHES "libgomp")
  gnnmg_install_license(LICENSE.libgomp ${gnnmg_licenses}/LICENSE.libgomp)
endif()
