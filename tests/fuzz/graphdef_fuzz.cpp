// GraphDef in wire format: import it, query everything, export it as wire format and text.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/walk.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapnel;
  llvm::StringRef bytes(reinterpret_cast<const char*>(data), size);
  auto file = FileBytes::FromString(bytes.str(), "input");
  auto module = ImportGraphDef(file, file->bytes());
  if (!module) {
    llvm::consumeError(module.takeError());
    return 0;
  }
  Walk(**module);
  return 0;
}
