#include "lib/tfdbg/debug_watch.h"

#include "lib/io/record.h"
#include "lib/support/file.h"
#include "lib/support/text.h"
#include "lib/tfdbg/debug_records.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel {
namespace {

// The protobuf field numbers of the debug mode and the tensors in a record.
struct TensorFields {
  uint32_t mode, tensor;
};
constexpr TensorFields kOfExecution{6, 7}, kOfTrace{4, 5};

bool HasBad(llvm::StringRef record, TensorFields fields) {
  TensorDebugMode mode = proto::UNSPECIFIED;
  llvm::SmallVector<llvm::StringRef, 4> tensors;
  WireReader reader(record);
  while (reader.Next()) {
    if (reader.Is(fields.mode, WireType::kVarint))
      mode = static_cast<TensorDebugMode>(static_cast<int>(reader.number()));
    if (reader.Is(fields.tensor, WireType::kBytes)) tensors.push_back(reader.bytes());
  }
  std::string problem;  // ignored: ReadDebugFolder reports it
  return llvm::any_of(tensors, [&](llvm::StringRef tensor) {
    return ReadRecordedTensor(mode, tensor, &problem).bad;
  });
}

bool EventHasBad(llvm::StringRef event) {
  WireReader reader(event);
  while (reader.Next()) {
    if (reader.Is(kExecution, WireType::kBytes) && HasBad(reader.bytes(), kOfExecution))
      return true;
    if (reader.Is(kTrace, WireType::kBytes) && HasBad(reader.bytes(), kOfTrace)) return true;
  }
  return false;
}

// True if the records after the first `*read` bytes have a NaN or an infinity. Adds the bytes of
// these records to `*read`.
bool RestHasBad(llvm::StringRef bytes, size_t* read) {
  if (bytes.size() < *read) *read = 0;  // the file was rewritten
  RecordReader records(bytes.drop_front(*read));
  bool has_bad = false;
  while (records.Next() && records.problem().empty()) {
    has_bad |= records.DataIsIntact() && EventHasBad(records.data());
    *read = bytes.size() - records.rest().size();
  }
  return has_bad;
}

}  // namespace

Expected<bool> DebugWatch::HasNewBad() {
  auto names = ListDirectory(folder_);
  if (!names) return names.takeError();
  bool has_bad = false;
  for (const std::string& name : *names) {
    if (!HasSuffix(name, ".execution") && !HasSuffix(name, ".graph_execution_traces")) continue;
    auto file = FileBytes::Open(JoinPath(folder_, name));
    if (!file) return file.takeError();
    has_bad |= RestHasBad((*file)->bytes(), &read_[name]);
  }
  return has_bad;
}

}  // namespace grapnel
