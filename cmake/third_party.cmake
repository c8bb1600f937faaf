# External libraries, which must be installed on the system; nothing is downloaded. They are linked
# statically where start-up time matters. linked.cmake has the libraries that the binary links; this
# file has those that only the build, the tests and the loadable modules use.
include(${CMAKE_CURRENT_LIST_DIR}/linked.cmake)
message(STATUS "LLVM: ${GRAPNEL_LLVM}")

# Under ThreadSanitizer, protobuf's headers give maps two more fields, which Debian's library does
# not have, so the macro that the headers check is undefined; libstdc++, which checks the same
# macro, gets its own.
if(CMAKE_CXX_FLAGS MATCHES "sanitize=thread")
  add_compile_options(-U__SANITIZE_THREAD__)
  add_compile_definitions(_GLIBCXX_TSAN=1 GRAPNEL_TSAN)
endif()
find_package(Eigen3 REQUIRED CONFIG)
find_package(CLI11 REQUIRED CONFIG)
find_path(GRAPNEL_TOML toml++/toml.h REQUIRED)  # header-only, for one file of lib/check
mark_as_advanced(GRAPNEL_TOML)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED CONFIG)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# For directories that are not part of the library.
grapnel_archives(grapnel_sqlite HEADER sqlite3.h ARCHIVES libsqlite3.a)
target_link_libraries(grapnel_sqlite INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)

# Writes DOT.
grapnel_archives(grapnel_cgraph HEADER cgraph.h ARCHIVES libcgraph.so libcdt.so PATHS /usr/include/graphviz)
target_link_libraries(grapnel_cgraph INTERFACE ${CMAKE_DL_LIBS})

# For the loadable modules only: the binary never links these.
grapnel_archives(grapnel_icuuc HEADER unicode/ucnv.h ARCHIVES libicuuc.so)
grapnel_archives(grapnel_dnnl HEADER oneapi/dnnl/dnnl.hpp ARCHIVES libdnnl.so)
target_link_libraries(grapnel_dnnl INTERFACE gomp)

# Line editing at a terminal: tools/line_editor.cpp loads the library when it reads from one.
grapnel_archives(grapnel_edit HEADER editline/readline.h ARCHIVES)

# Only for the loadable module of lib/serve. Boost's headers are enough.
grapnel_archives(grapnel_boost HEADER boost/beast/version.hpp ARCHIVES)
grapnel_archives(grapnel_packers HEADER brotli/encode.h ARCHIVES libbrotlienc.so libz.so)

# Only for the loadable module of lib/render: runs scripts and paints pixels, with letters from Debian's DejaVu Sans.
find_package(PkgConfig REQUIRED)
pkg_check_modules(JavaScriptCore REQUIRED IMPORTED_TARGET javascriptcoregtk-4.1)
pkg_check_modules(Freetype REQUIRED IMPORTED_TARGET freetype2)
find_path(GRAPNEL_FONTS DejaVuSans-Bold.ttf REQUIRED NO_DEFAULT_PATH PATHS /usr/share/fonts/truetype/dejavu)

# Eigen's alignment depends on -march, so only kernels may include it.
target_compile_definitions(Eigen3::Eigen INTERFACE EIGEN_MPL2_ONLY)
