// The value of a constant: false shapes, values of the wrong type, content of the wrong size.
#include <cstddef>
#include <cstdint>

#include "lib/ir/literal.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapnel;
  auto literal = Literal::FromTensorProto({reinterpret_cast<const char*>(data), size});
  if (!literal) {
    llvm::consumeError(literal.takeError());
    return 0;
  }
  if (literal->ToString().empty()) __builtin_trap();
  if (literal->byte_size() > 1 << 20 || literal->num_elements() > 1 << 20) return 0;
  for (bool compress : {false, true}) {
    std::string written = literal->ToTensorProto(compress);
    auto again = Literal::FromTensorProto(written);
    if (!again) {
      llvm::consumeError(again.takeError());
      __builtin_trap();  // our own output must be readable
    }
    if (!again->SameValue(*literal) || again->Hash() != literal->Hash()) __builtin_trap();
  }
  return 0;
}
