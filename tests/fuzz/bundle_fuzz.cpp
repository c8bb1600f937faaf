// Checkpoint index and data: the input is the index, and the same bytes serve as the data file.
#include <cstddef>
#include <cstdint>

#include "lib/io/bundle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapnel;
  auto file =
      FileBytes::FromString(std::string(reinterpret_cast<const char*>(data), size), "input.index");
  auto bundle = Bundle::FromFiles(file, {file});
  if (!bundle) {
    llvm::consumeError(bundle.takeError());
    return 0;
  }
  for (llvm::StringRef name : bundle->names()) {
    for (bool check : {true, false}) {
      auto literal = bundle->Read(name, check);
      if (!literal) llvm::consumeError(literal.takeError());
    }
  }
  auto keys = VariableKeys(&*bundle);
  if (!keys) llvm::consumeError(keys.takeError());
  return 0;
}
