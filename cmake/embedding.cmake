# For python/, a separate CMake project that scikit-build-core drives: lists the already compiled
# objects of this build that the Python module links. All objects of the binary go into a shared
# object with hidden symbols, from a list of object files.
get_property(libraries GLOBAL PROPERTY GRAPNEL_LIBRARIES)
get_property(objects GLOBAL PROPERTY GRAPNEL_OBJECTS)
set(embedded "")
foreach(name IN LISTS libraries objects ITEMS grapnel_tools)
  list(APPEND embedded $<TARGET_OBJECTS:${name}>)
endforeach()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/embedding.rsp CONTENT "$<JOIN:${embedded},\n>\n")
# The module of `serve` is linked once more, for older systems.
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/embedding_http.rsp CONTENT "$<JOIN:$<TARGET_OBJECTS:grapnel_http>,\n>\n")
get_target_property(packers grapnel_packers INTERFACE_LINK_LIBRARIES)
set(outside ${GRAPNEL_OUTSIDE})
foreach(name IN ITEMS sqlite cgraph)
  get_target_property(some grapnel_${name} INTERFACE_LINK_LIBRARIES)
  list(FILTER some INCLUDE REGEX "^/")
  list(APPEND outside ${some})
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/embedding.cmake @ONLY CONTENT [[
set(GRAPNEL_OBJECTS "@PROJECT_BINARY_DIR@/embedding.rsp")
set(GRAPNEL_OUTSIDE "@outside@")
set(GRAPNEL_HTTP_OBJECTS "@PROJECT_BINARY_DIR@/embedding_http.rsp")
set(GRAPNEL_HTTP_OUTSIDE "@packers@")
set(GRAPNEL_INCLUDES "@PROJECT_SOURCE_DIR@")
set(GRAPNEL_SYSTEM_INCLUDES "@GRAPNEL_GENERATED@;@grapnel_llvm_INCLUDE@")
set(GRAPNEL_FONTS "@GRAPNEL_FONTS@")
set(GRAPNEL_BIN "@CMAKE_RUNTIME_OUTPUT_DIRECTORY@")
]])
