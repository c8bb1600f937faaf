// GraphDef as text, including byte order marks and comments.
#include <cstddef>
#include <cstdint>

#include "lib/io/text_proto.h"
#include "tests/fuzz/walk.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapnel;
  llvm::StringRef bytes(reinterpret_cast<const char*>(data), size);
  auto text = FileBytes::FromString(bytes.str(), "input.pbtxt");
  std::vector<Problem> problems;
  auto wire = TextToWire(*text, TextKind::kGraphDef, &problems);
  if (!wire) {
    llvm::consumeError(wire.takeError());
    return 0;
  }
  auto module = ImportGraphDef(*wire, (*wire)->bytes());
  if (!module) {
    llvm::consumeError(module.takeError());
    return 0;
  }
  Walk(**module);
  return 0;
}
