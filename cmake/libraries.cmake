# One target per library. LINK names other libraries of lib/ (the dependencies that tests/check_rooms.py checks), USES external
# libraries.

# Headers that nearly every file includes and that rarely change, precompiled once per build: 1.2 to 1.5 s per file become 0.1 s.
# The protobuf headers are those that protoc's output includes, and the generated ones those of lib/ir/attr.h.
set(GRAPNEL_PROTOBUF_HEADERS <functional> <map> <memory> <string> <utility> <vector> <google/protobuf/extension_set.h>
    <google/protobuf/generated_enum_reflection.h> <google/protobuf/generated_message_reflection.h>
    <google/protobuf/map_entry.h> <google/protobuf/map_field_inl.h> <google/protobuf/message.h>
    <google/protobuf/repeated_field.h> <google/protobuf/unknown_field_set.h>)
set(GRAPNEL_COMMON_HEADERS ${GRAPNEL_PROTOBUF_HEADERS} <algorithm> <chrono> <condition_variable> <optional>
    <string_view> <unordered_map> <llvm/ADT/ArrayRef.h> <llvm/ADT/DenseMap.h> <llvm/ADT/FunctionExtras.h>
    <llvm/ADT/SmallVector.h> <llvm/ADT/StringMap.h> <llvm/ADT/StringRef.h> <llvm/Support/Error.h>
    <llvm/Support/FormatVariadic.h> <lib/proto/attr_value.pb.h>)
# These headers and some of our own, for the libraries in which nearly every file includes them: a file compiles in eight
# to nine tenths of the time. The price: a change of one of these headers also recompiles the files that do not need it.
set(GRAPNEL_PASS_HEADERS ${GRAPNEL_COMMON_HEADERS} <llvm/ADT/StringSet.h> <llvm/Support/JSON.h> <lib/io/open.h>
    <lib/pass/rule.h>)
set(GRAPNEL_TRACE_HEADERS ${GRAPNEL_COMMON_HEADERS} <lib/trace/body.h>)
set(GRAPNEL_JOB_HEADERS ${GRAPNEL_PASS_HEADERS} <lib/job/run.h>)
set(GRAPNEL_KERNEL_HEADERS ${GRAPNEL_COMMON_HEADERS} <lib/exec/kernel.h> <Eigen/Core>)
set(GRAPNEL_GENERATED ${PROJECT_BINARY_DIR}/generated)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pch.cpp CONTENT "")

# grapnel_pch(NAME HEADERS <a.h> ... LINK lib ... OPTIONS flag ...): object library NAME with these headers precompiled, for
# grapnel_reuse_pch.
function(grapnel_pch name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "HEADERS;LINK;OPTIONS")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/pch.cpp)
  target_link_libraries(${name} PRIVATE grapnel_options grapnel_llvm protobuf::libprotobuf ${ARG_LINK})
  target_include_directories(${name} SYSTEM PRIVATE ${GRAPNEL_GENERATED})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
  add_dependencies(${name} grapnel_messages)
endfunction()
grapnel_pch(grapnel_pch HEADERS ${GRAPNEL_COMMON_HEADERS})
grapnel_pch(grapnel_pass_pch HEADERS ${GRAPNEL_PASS_HEADERS} OPTIONS ${GRAPNEL_O0_FLAGS_DEBUG})
grapnel_pch(grapnel_trace_pch HEADERS ${GRAPNEL_TRACE_HEADERS} OPTIONS ${GRAPNEL_O0_FLAGS_DEBUG})
grapnel_pch(grapnel_job_pch HEADERS ${GRAPNEL_JOB_HEADERS} OPTIONS ${GRAPNEL_COLD_FLAGS} ${GRAPNEL_O0_FLAGS_DEBUG})

# Compiles TARGET with the precompiled headers and the options of PCH.
function(grapnel_reuse_pch target pch)
  get_target_property(options ${pch} COMPILE_OPTIONS)
  if(options)
    target_compile_options(${target} PRIVATE ${options})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${pch})
endfunction()

function(grapnel_link target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LINK;USES")
  # Properties from which package/ writes the dependencies of the installed library.
  set_target_properties(${target} PROPERTIES GRAPNEL_LINK "${ARG_LINK}" GRAPNEL_USES "${ARG_USES}")
  list(TRANSFORM ARG_LINK REPLACE "(.+)" "$<TARGET_NAME_IF_EXISTS:grapnel_\\1>")
  target_link_libraries(${target} PUBLIC grapnel_options ${ARG_LINK} ${ARG_USES})
endfunction()

option(GRAPNEL_BATCHED "compile the files of a library of lib/ several at a time; OFF: each by itself" ON)

# grapnel_add_batches(TARGET FILE ...): compiles the files in batches. A batch is a generated source that includes some of the files:
# what they share, headers and instances of templates, is compiled once, which saves a third of the time. CMake's UNITY_BUILD would do it
# too, but it writes absolute paths, which ccache cannot share between clones, and a new file moves others to another batch. Here the
# hash of its path puts a file in one of a number of batches, a power of two: 6 to 12 files each on average. Larger ones save little more.
function(grapnel_add_batches target)
  list(LENGTH ARGN count)
  set(batches 1)
  while(count GREATER 12)
    math(EXPR batches "2 * ${batches}")
    math(EXPR count "(${count} + 1) / 2")
  endwhile()
  math(EXPR last "${batches} - 1")
  foreach(batch RANGE ${last})
    set(includes_${batch} "")
  endforeach()
  foreach(file IN LISTS ARGN)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    string(MD5 hash ${path})
    string(SUBSTRING ${hash} 0 7 hash)
    math(EXPR batch "0x${hash} % ${batches}")
    string(APPEND includes_${batch} "#include \"${path}\"\n")
  endforeach()
  foreach(batch RANGE ${last})
    if(includes_${batch})
      set(source ${CMAKE_CURRENT_BINARY_DIR}/batch_${batch}.cpp)
      file(CONFIGURE OUTPUT ${source} CONTENT "${includes_${batch}}" @ONLY)
      target_sources(${target} PRIVATE ${source})
    endif()
  endforeach()
endfunction()

# Adds the files of a library to its target, in batches; alone if they have options or dependencies of their own (grapnel_embeds).
function(grapnel_add_files target)
  get_target_property(files ${target} GRAPNEL_FILES)
  set(shared "")
  foreach(file IN LISTS files)
    get_property(has_options SOURCE ${file} PROPERTY COMPILE_OPTIONS SET)
    get_property(has_dependencies SOURCE ${file} PROPERTY OBJECT_DEPENDS SET)
    if(has_options OR has_dependencies)
      target_sources(${target} PRIVATE ${file})
    else()
      list(APPEND shared ${file})
    endif()
  endforeach()
  grapnel_add_batches(${target} ${shared})
endfunction()

# grapnel_library(ir LINK proto support USES lib FOLDERS sub): static library grapnel_ir of the *.cpp files of this directory and of
# its subdirectories FOLDERS; does nothing if there are no files. The precompiled headers are those of the highest library among
# job, pass and trace that it is or links. The libraries with readers, which are fuzzed, link none of these. ONE_BY_ONE: never in
# batches, for families of similar files to which contributors add.
function(grapnel_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "ONE_BY_ONE" "" "LINK;USES;FOLDERS")
  list(TRANSFORM ARG_FOLDERS APPEND "/*.cpp")
  file(GLOB sources CONFIGURE_DEPENDS *.cpp ${ARG_FOLDERS})
  if(sources)
    if(GRAPNEL_BATCHED AND NOT ARG_ONE_BY_ONE)
      add_library(grapnel_${name} STATIC)
      set_target_properties(grapnel_${name} PROPERTIES GRAPNEL_FILES "${sources}")
      # When the directory's CMakeLists.txt has set the properties of its files.
      cmake_language(EVAL CODE "cmake_language(DEFER CALL grapnel_add_files grapnel_${name})")
    else()
      add_library(grapnel_${name} STATIC ${sources})
    endif()
    grapnel_link(grapnel_${name} LINK ${ARG_LINK} USES ${ARG_USES})
    set(pch grapnel_pch)
    foreach(library IN ITEMS trace pass job)
      if(library IN_LIST ARG_LINK OR name STREQUAL library)
        set(pch grapnel_${library}_pch)
      endif()
    endforeach()
    grapnel_reuse_pch(grapnel_${name} ${pch})
    set_property(GLOBAL APPEND PROPERTY GRAPNEL_LIBRARIES grapnel_${name})
  endif()
endfunction()

# grapnel_objects(passes LINK pass): object library of this directory and below, for code that registers itself: the linker keeps
# objects, but drops unreferenced archive members. ONLY and BUT: regular expressions for the names (without .cpp) of files to
# include or exclude; empty: all.
function(grapnel_objects name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "ONLY;BUT" "LINK;USES")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  if(ARG_ONLY)
    list(FILTER sources INCLUDE REGEX "/(${ARG_ONLY})\\.cpp$")
  endif()
  if(ARG_BUT)
    list(FILTER sources EXCLUDE REGEX "/(${ARG_BUT})\\.cpp$")
  endif()
  if(sources)
    add_library(grapnel_${name} OBJECT ${sources})
    grapnel_link(grapnel_${name} LINK ${ARG_LINK} USES ${ARG_USES})
    set_property(GLOBAL APPEND PROPERTY GRAPNEL_OBJECTS grapnel_${name})
  endif()
endfunction()

# grapnel_module(icu a.cpp ... LINK target ...): grapnel_icu.so, which lib/support/loadable_module.h opens on first use. A module uses
# only headers of grapnel: it links none of its libraries, the binary exports nothing to it, and it has one entry point. The target
# grapnel_modules stands for all modules.
add_custom_target(grapnel_modules)
function(grapnel_module name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LINK")
  add_library(grapnel_${name} MODULE ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(grapnel_${name} PROPERTIES PREFIX "")
  target_link_libraries(grapnel_${name} PRIVATE ${ARG_LINK})
  add_dependencies(grapnel_modules grapnel_${name})
  set_property(GLOBAL APPEND PROPERTY GRAPNEL_MODULES grapnel_${name})
endfunction()

# grapnel_embeds(web_files.cpp FILE ...): that source file of this directory embeds these files,
# given by full paths, through lib/support/embed.h. The compiler does not report files read by
# .incbin as dependencies, so ccache does not check them.
function(grapnel_embeds source)
  set_property(SOURCE ${source} APPEND PROPERTY OBJECT_DEPENDS ${ARGN})
  foreach(file IN LISTS ARGN)
    file(RELATIVE_PATH from_build ${PROJECT_BINARY_DIR} ${file})
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS
                 $<$<CXX_COMPILER_ID:Clang>:-Xclang$<SEMICOLON>-fdepfile-entry=${from_build}>)
  endforeach()
endfunction()

# grapnel_embeds_folder(serve web): embeds the scripts, style sheets and pages of a directory of that library in its binary,
# through web/web_files.cpp, which reads their list from lib/serve/web_files.inc: X(symbol, "name") for each.
function(grapnel_embeds_folder library folder)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.js ${folder}/*.css ${folder}/*.html)
  set(list "")
  foreach(file IN LISTS files)
    cmake_path(GET file FILENAME name)
    string(MAKE_C_IDENTIFIER "${name}" symbol)
    string(APPEND list "X(${symbol}, \"${name}\")\n")
  endforeach()
  file(CONFIGURE OUTPUT ${GRAPNEL_GENERATED}/lib/${library}/web_files.inc CONTENT "${list}" @ONLY)
  grapnel_embeds(${folder}/web_files.cpp ${files})
  target_include_directories(grapnel_${library} PRIVATE ${GRAPNEL_GENERATED})
endfunction()

# Links all libraries: for the binary and the tests.
function(grapnel_link_everything target)
  get_property(libraries GLOBAL PROPERTY GRAPNEL_LIBRARIES)
  get_property(objects GLOBAL PROPERTY GRAPNEL_OBJECTS)
  target_link_libraries(${target} PRIVATE grapnel_options ${objects} ${libraries})
endfunction()
