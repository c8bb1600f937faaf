# The tree of headers that a program or a plugin includes as "grapnel/...": those in public_headers.txt and their includes, with
# "lib/" replaced by "grapnel/", below build/PRESET/include, and installed from there. lib/support/version.h is made at the same
# time.
set(GRAPNEL_INCLUDE ${PROJECT_BINARY_DIR}/include)
set(GRAPNEL_SHARE ${PROJECT_BINARY_DIR}/share/grapnel)

# Any header may be added to the tree; the script writes only headers that changed.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/*.h ${PROJECT_SOURCE_DIR}/lib/proto/*.proto)
set(script ${PROJECT_SOURCE_DIR}/scripts/public_headers.py)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/public_headers.stamp
                   BYPRODUCTS ${GRAPNEL_GENERATED}/lib/support/version.h ${GRAPNEL_INCLUDE}/grapnel/support/version.h
                   COMMAND ${Python3_EXECUTABLE} ${script} --tree ${GRAPNEL_INCLUDE} ${GRAPNEL_GENERATED} ${PROJECT_VERSION}
                   COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/public_headers.stamp
                   DEPENDS ${headers} ${script} ${PROJECT_SOURCE_DIR}/cmake/public_headers.txt grapnel_messages VERBATIM)
add_custom_target(grapnel_headers DEPENDS ${PROJECT_BINARY_DIR}/public_headers.stamp)

# The flags with which `grapnel trace FILE.cpp` compiles, one per line: lib/job/plugin.cpp.
set(flags -std=c++20 -fPIC -fvisibility=hidden "-I{prefix}/include" "-isystem${grapnel_llvm_INCLUDE}")
foreach(folder IN LISTS Protobuf_INCLUDE_DIRS)
  if(NOT folder STREQUAL "/usr/include")
    list(APPEND flags "-isystem${folder}")
  endif()
endforeach()
list(JOIN flags "\n" flags)
file(CONFIGURE OUTPUT ${GRAPNEL_SHARE}/plugin_flags.txt CONTENT "${flags}\n" NEWLINE_STYLE UNIX ESCAPE_QUOTES)
