// .npy files: hostile headers, shapes and dtypes.
#include <cstddef>
#include <cstdint>

#include "lib/support/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapnel;
  auto array = ParseNpy(
      FileBytes::FromString(std::string(reinterpret_cast<const char*>(data), size), "input.npy"));
  if (!array) {
    llvm::consumeError(array.takeError());
    return 0;
  }
  volatile size_t sum = 0;
  for (char c : array->bytes) sum = sum + static_cast<uint8_t>(c);
  return 0;
}
