// Compressed graphs and records: both framings, with a size limit, and the model inside.
#include <cstddef>
#include <cstdint>

#include "lib/support/gzip.h"
#include "tests/fuzz/walk.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapnel;
  llvm::StringRef bytes(reinterpret_cast<const char*>(data), size);
  for (Framing framing : {Framing::kGzip, Framing::kZlib}) {
    for (size_t limit : {size_t{0}, size_t{100}, size_t{1} << 20}) {
      auto inflated = Inflate(bytes, limit, framing);
      if (!inflated) llvm::consumeError(inflated.takeError());
    }
  }
  OpenAndWalk(bytes);
  // Compressing and inflating must restore the input.
  std::string packed;
  llvm::raw_string_ostream os(packed);
  GzipStream gzip(&os);
  gzip << bytes;
  gzip.Finish();
  auto again = Inflate(os.str());
  if (!again || again->bytes != bytes || !again->problem.empty()) std::abort();
  return 0;
}
