// Chunked protos: the bytes as a whole file, as the last record of a valid file (the record that
// tells where chunks belong), and as the packed content of a group of records. Hashes are
// corrected, because otherwise nothing would be read.
#include <cstddef>
#include <cstdint>

#include "lib/io/riegeli_transposed.h"
#include "tests/fuzz/walk.h"
#include "tests/io/riegeli_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapnel;
  llvm::StringRef bytes(reinterpret_cast<const char*>(data), size);
  OpenAndWalk(bytes);
  RiegeliWriter records;
  records.Add({bytes.str(), bytes.substr(size / 2).str()});
  records.Add({bytes.str()}, Compression::kZstd);
  OpenAndWalk(records.bytes());
  for (char type : {'r', 't'}) {
    RiegeliWriter packed;
    packed.AddGroup(type, bytes, 1 + size % 3, size);
    OpenAndWalk(packed.bytes());
  }
  std::vector<size_t> ends;
  for (uint64_t decoded : {uint64_t{0}, uint64_t{size}, uint64_t{1} << 20}) {
    auto transposed = ReadTransposed(bytes, 1 + size % 3, decoded, 1 << 20, &ends);
    if (!transposed) llvm::consumeError(transposed.takeError());
    ends.clear();
  }
  return 0;
}
