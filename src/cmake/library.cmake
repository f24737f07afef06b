# libgnnmg.so: all rooms in one shared library that exports only the functions of gnnmg.h; its installation, and its files for
# CMake and pkg-config.
include(CMakePackageConfigHelpers)

# gnnmg_add_library(): makes target gnnmg from the room capi and its dependencies. Does nothing without the room.
function(gnnmg_add_library)
  if(NOT TARGET gnnmg_capi)
    return()
  endif()
  # The object files of capi are linked directly: --exclude-libs would hide them in an archive.
  add_library(gnnmg SHARED $<TARGET_OBJECTS:gnnmg_capi>)
  add_library(gnnmg::gnnmg ALIAS gnnmg)
  target_link_libraries(gnnmg PRIVATE $<TARGET_PROPERTY:gnnmg_capi,LINK_LIBRARIES>)
  target_sources(gnnmg PUBLIC FILE_SET HEADERS
                 BASE_DIRS ${PROJECT_SOURCE_DIR}/include
                 FILES ${PROJECT_SOURCE_DIR}/include/gnnmg.h ${PROJECT_SOURCE_DIR}/include/gnnmg_util.h)

  # Every symbol is bound when the library is loaded, and missing ones of LibTorch are found before their use: see below. The
  # library stays loaded, because an abandoned collective may still be running on one of its threads.
  set(map ${PROJECT_SOURCE_DIR}/src/capi/gnnmg.map)
  target_link_options(gnnmg PRIVATE
    "LINKER:--version-script=${map}" LINKER:--exclude-libs,ALL LINKER:-z,now LINKER:-z,nodelete)
  if(NOT GNNMG_SANITIZE)  # the program contains the run time of the sanitizers
    target_link_options(gnnmg PRIVATE LINKER:-z,defs)
  endif()
  set_property(TARGET gnnmg APPEND PROPERTY LINK_DEPENDS ${map})
  # If the process has loaded another LibTorch before, loading would fail at the first missing symbol. So imports from LibTorch
  # are weak, and gnnmg_context_create() reports the versions and the missing symbols.
  add_executable(gnnmg_weak_imports EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/src/cmake/weak_imports.cpp)
  target_compile_features(gnnmg_weak_imports PRIVATE cxx_std_20)
  add_dependencies(gnnmg gnnmg_weak_imports)
  add_custom_command(TARGET gnnmg POST_BUILD VERBATIM
    COMMAND gnnmg_weak_imports $<TARGET_FILE:gnnmg> ${LibTorch_CPU_LIBRARY} ${LibTorch_C10_LIBRARY})

  get_filename_component(torch_lib ${LibTorch_CPU_LIBRARY} DIRECTORY)
  set_target_properties(gnnmg PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    INSTALL_RPATH "$ORIGIN;${torch_lib}"
    BUILD_WITH_INSTALL_RPATH ON)  # otherwise CMake adds empty entries to the build tree's RPATH, which mean the current folder

  set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gnnmg)
  install(TARGETS gnnmg EXPORT gnnmg
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
  gnnmg_install_run_path(gnnmg runtime)
  gnnmg_bundle_torch(${torch_lib})
  install(EXPORT gnnmg NAMESPACE gnnmg:: FILE gnnmgConfig.cmake DESTINATION ${cmake_dir} COMPONENT dev)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/gnnmgConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/gnnmgConfigVersion.cmake DESTINATION ${cmake_dir} COMPONENT dev)
  gnnmg_install_pkg_config()
endfunction()

# gnnmg_bundle_torch(<folder of LibTorch's libraries>): has bundle.cmake run by an installation of the component runtime.
function(gnnmg_bundle_torch torch_lib)
  install(CODE "
    set(gnnmg_built \"$<TARGET_FILE:gnnmg>\")
    set(gnnmg_torch \"${torch_lib}\")
    set(gnnmg_licenses \"${PROJECT_SOURCE_DIR}/src/cmake/package\")
    set(gnnmg_libdir \"${CMAKE_INSTALL_LIBDIR}\")
    set(gnnmg_docdir \"${CMAKE_INSTALL_DOCDIR}\")" COMPONENT runtime)
  install(SCRIPT ${PROJECT_SOURCE_DIR}/src/cmake/package/bundle.cmake COMPONENT runtime)
endfunction()

# gnnmg_install_run_path(<target> <component>): the installed library looks for LibTorch in the folder that bundle.cmake fills.
function(gnnmg_install_run_path target component)
  set(file "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:${target}>")
  install(CODE "
    if(EXISTS \"${file}\")
      file(RPATH_SET FILE \"${file}\" NEW_RPATH \"\\\$ORIGIN/gnnmg\")
    endif()" COMPONENT ${component})
endfunction()

# gnnmg_pc(<file> <prefix> <libdir> <includedir> <run path, as linker flags>): writes a file for pkg-config.
function(gnnmg_pc file pc_prefix pc_libdir pc_includedir pc_run_path)
  configure_file(${PROJECT_SOURCE_DIR}/src/cmake/gnnmg.pc.in ${file} @ONLY)
endfunction()

# gnnmg_install_pkg_config(): the files for pkg-config. An installed tree may be moved as a whole, so its prefix is relative to
# the file, and programs get the folder of the library as their run path. Below /usr and /usr/local the loader knows the folder.
function(gnnmg_install_pkg_config)
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(pc ${PROJECT_BINARY_DIR}/installed)
  set(libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
  gnnmg_pc(${pc}/moving/gnnmg.pc "\${pcfiledir}/${up}" ${libdir} ${includedir} " -Wl,-rpath,\${libdir}")
  foreach(system usr usr/local)
    gnnmg_pc(${pc}/${system}/gnnmg.pc /${system} ${libdir} ${includedir} "")
  endforeach()
  install(CODE "
    set(kind moving)
    if(CMAKE_INSTALL_PREFIX MATCHES \"/(usr|usr/local)/?$\")
      set(kind \${CMAKE_MATCH_1})
    endif()
    file(INSTALL \"${pc}/\${kind}/gnnmg.pc\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig\")"
    COMPONENT dev)
  # Another file is for programs that use the library from the build tree.
  gnnmg_pc(${PROJECT_BINARY_DIR}/pkgconfig/gnnmg.pc ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/include
           " -Wl,-rpath,\${libdir}")
endfunction()
