# The dependencies of shared objects: libgrapnel.so and the Python package. Debian's archives are
# made for executables. The archives of the libraries listed below cannot be part of a shared
# object: their code accesses the C library's stderr, the standard library's tables (jpeg, png,
# zstd, re2) or thread-local variables (protobuf, re2) in a way that works only in an executable; so
# the shared forms of these libraries are linked. The archives of other libraries can be part of
# one, if their symbols stay hidden, which the version script ensures: LLVM, farmhash, leveldb,
# snappy, highwayhash, brotli, gif, zlib, libdeflate.
set(shared_instead protobuf re2 jpeg png zstd)
set(archives "")
foreach(name IN ITEMS llvm deflate farmhash leveldb riegeli re2 gif jpeg png)
  get_target_property(some grapnel_${name} INTERFACE_LINK_LIBRARIES)
  list(APPEND archives ${some})
endforeach()
list(APPEND archives ${Protobuf_LIBRARIES} ${ZLIB_LIBRARIES})  # last: the libraries before them need them
list(FILTER archives INCLUDE REGEX "[.]a$")
list(REMOVE_DUPLICATES archives)
set(GRAPNEL_OUTSIDE "")
foreach(archive IN LISTS archives)
  string(REGEX REPLACE "^.*/lib(.+)[.]a$" "\\1" name ${archive})
  if(name IN_LIST shared_instead)
    find_library(GRAPNEL_SHARED_${name} lib${name}.so REQUIRED)
    list(APPEND GRAPNEL_OUTSIDE ${GRAPNEL_SHARED_${name}})
  else()
    list(APPEND GRAPNEL_OUTSIDE ${archive})
  endif()
endforeach()
