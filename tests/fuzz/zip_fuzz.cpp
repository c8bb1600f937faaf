// Zip archives: lists the members and reads each of them.
#include <cstddef>
#include <cstdint>

#include "lib/support/zip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapnel;
  auto file =
      FileBytes::FromString(std::string(reinterpret_cast<const char*>(data), size), "x.zip");
  auto names = ListZip(file->bytes());
  if (!names) {
    llvm::consumeError(names.takeError());
    return 0;
  }
  constexpr size_t kMost = 20;  // a name may come many times, and reading it is linear
  if (names->size() > kMost) names->resize(kMost);
  for (const std::string& name : *names) {
    if (!ZipDirectory(file->bytes()).Has(name)) std::abort();
    auto entry = ReadZipEntry(file, name);
    if (!entry) llvm::consumeError(entry.takeError());
  }
  return 0;
}
