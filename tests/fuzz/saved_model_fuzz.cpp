// Any recognized file: SavedModel, MetaGraph, compressed ones.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/walk.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  grapnel::OpenAndWalk({reinterpret_cast<const char*>(data), size});
  return 0;
}
