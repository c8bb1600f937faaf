// Keras weights: HDF5, and zip archives that contain it. Reads every array and binds it to a small
// model.
#include <cstddef>
#include <cstdint>

#include "lib/io/keras_weights.h"
#include "lib/ir/import.h"
#include "lib/ir/wire.h"
#include "lib/support/zip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapnel;
  auto file = FileBytes::FromString(std::string(reinterpret_cast<const char*>(data), size), "x");
  auto entry = ReadZipEntry(file, "model.weights.h5");
  llvm::StringRef bytes = file->bytes();
  if (entry) {
    bytes = entry->bytes;
  } else {
    llvm::consumeError(entry.takeError());
  }
  auto hdf5 = Hdf5File::Open(bytes, file);
  if (hdf5) {
    for (const auto& [path, array] : hdf5->arrays()) {
      auto value = hdf5->Read(path);
      if (!value) llvm::consumeError(value.takeError());
    }
  } else {
    llvm::consumeError(hdf5.takeError());
  }
  auto weights = KerasWeights::FromFile(file);
  if (!weights) {
    llvm::consumeError(weights.takeError());
    return 0;
  }
  std::string node, graph;
  AppendBytesField(&node, 1, "net/dense_1/kernel");
  AppendBytesField(&node, 2, "VarHandleOp");
  AppendBytesField(&graph, 1, node);
  auto model = OpenModelBytes(FileBytes::FromString(graph, "graph.pb"));
  if (!model) std::abort();
  auto binding = weights->Bind(model->graphs[0]);
  if (!binding) llvm::consumeError(binding.takeError());
  return 0;
}
