# libgnnmg.so: all rooms in one shared library that exports the functions of gnnmg.h and nothing else; its installation,
# and how CMake and pkg-config find it.
include(CMakePackageConfigHelpers)

# gnnmg_add_library(): makes target gnnmg from the room capi and what it links. Nothing without the room.
function(gnnmg_add_library)
  if(NOT TARGET gnnmg_capi)
    return()
  endif()
  # The objects of capi by themselves: out of an archive --exclude-libs would hide them too.
  add_library(gnnmg SHARED $<TARGET_OBJECTS:gnnmg_capi>)
  add_library(gnnmg::gnnmg ALIAS gnnmg)
  target_link_libraries(gnnmg PRIVATE $<TARGET_PROPERTY:gnnmg_capi,LINK_LIBRARIES>)
  target_sources(gnnmg PUBLIC FILE_SET HEADERS
                 BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${PROJECT_SOURCE_DIR}/include/gnnmg.h)

  # Every symbol is bound when the library is loaded, and missing ones of LibTorch are found before it is used: see below.
  # The library stays loaded: a collective that was given up may still be ending on a thread of ours.
  set(map ${PROJECT_SOURCE_DIR}/src/capi/gnnmg.map)
  target_link_options(gnnmg PRIVATE
    "LINKER:--version-script=${map}" LINKER:--exclude-libs,ALL LINKER:-z,now LINKER:-z,nodelete)
  if(NOT GNNMG_SANITIZE)  # the sanitizers' run time is looked up in the program
    target_link_options(gnnmg PRIVATE LINKER:-z,defs)
  endif()
  set_property(TARGET gnnmg APPEND PROPERTY LINK_DEPENDS ${map})
  # Beside another LibTorch, which the process has loaded before, loading would end with the first symbol that it lacks. What
  # is imported of LibTorch is weak, so that gnnmg_context_create() tells the versions and what is missing.
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
    BUILD_WITH_INSTALL_RPATH ON)  # else CMake makes room in the built one by empty entries, which are the current folder

  set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gnnmg)
  install(TARGETS gnnmg EXPORT gnnmg
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT gnnmg NAMESPACE gnnmg:: FILE gnnmgConfig.cmake DESTINATION ${cmake_dir})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/gnnmgConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/gnnmgConfigVersion.cmake DESTINATION ${cmake_dir})

  # An installed tree may be moved as a whole, so its prefix is found from where the file lies.
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(pc_prefix "\${pcfiledir}/${up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
  configure_file(${PROJECT_SOURCE_DIR}/src/cmake/gnnmg.pc.in ${PROJECT_BINARY_DIR}/installed/gnnmg.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/installed/gnnmg.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  # A second one serves programs that use the library from the build tree.
  set(pc_prefix ${PROJECT_BINARY_DIR})
  set(pc_libdir ${PROJECT_BINARY_DIR})
  set(pc_includedir ${PROJECT_SOURCE_DIR}/include)
  configure_file(${PROJECT_SOURCE_DIR}/src/cmake/gnnmg.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/gnnmg.pc @ONLY)
endfunction()
