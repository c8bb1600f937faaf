// A folder of TensorFlow's debugger: the input is a stream of records, each of which goes into the
// file of its kind with corrected checksums. Blames, prints and writes what was read.
#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/check/cause_text.h"
#include "lib/check/first_cause.h"
#include "lib/io/record.h"
#include "lib/ir/wire.h"
#include "lib/tfdbg/debug_records.h"
#include "llvm/Support/Endian.h"
#include "tests/fuzz/scratch_folder.h"

namespace grapnel {
namespace {

constexpr size_t kFiles = 6;
constexpr const char* kSuffixes[kFiles] = {".metadata", ".source_files", ".stack_frames",
                                           ".graphs",   ".execution",    ".graph_execution_traces"};

// Returns the file that holds such an event; unknown events go with the traces.
size_t FileOf(llvm::StringRef record) {
  WireReader event(record);
  while (event.Next()) {
    switch (event.field()) {
      case kMetadata:
        return 0;
      case kSourceFile:
        return 1;
      case kStackFrame:
        return 2;
      case kGraphOp:
      case kDebuggedGraph:
      case kDevice:
        return 3;
      case kExecution:
        return 4;
      default:
        break;
    }
  }
  return 5;
}

// Splits a stream into records by their lengths, ignoring checksums.
std::array<std::string, kFiles> Files(llvm::StringRef stream) {
  std::array<std::string, kFiles> files;
  while (stream.size() >= 12) {
    uint64_t length = llvm::support::endian::read64le(stream.data());
    stream = stream.drop_front(12);
    llvm::StringRef record = stream.take_front(length);
    stream = stream.drop_front(record.size());
    stream = stream.drop_front(std::min<size_t>(stream.size(), 4));
    llvm::raw_string_ostream os(files[FileOf(record)]);
    WriteRecord(os, record);
  }
  files[kFiles - 1] += stream;
  return files;
}

void Tell(const DebugRun& run) {
  std::string text;
  llvm::raw_string_ostream os(text);
  BlameReport report = FindCauses(run);
  WriteBlameText(run, report, os);
  llvm::json::OStream json(os);
  json.object([&] { WriteBlameJson(run, report, json); });
  for (size_t i = 0; i < std::min<size_t>(run.traces.size(), 3); ++i) {
    DebugAlert tensor;
    tensor.trace = static_cast<int>(i);
    tensor.output = run.traces[i].slot;
    WriteCauseText(run, ExplainTensor(run, tensor), os);
  }
  for (size_t i = 0; i < run.stacks.size(); ++i) {
    int stack = static_cast<int>(i);
    os << UserFrame(run, stack);
    for (llvm::StringRef function : UserFunctions(run, stack)) os << function;
  }
  for (const DebugSource& source : run.sources) os << SourceLines(source).size();
}

}  // namespace
}  // namespace grapnel

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapnel;
  static const ScratchFolder scratch;
  auto files = Files({reinterpret_cast<const char*>(data), size});
  for (size_t i = 0; i < kFiles; ++i)
    scratch.Write(std::string("tfdbg_events.1.h") + kSuffixes[i], files[i]);
  if (!IsDebugFolder(scratch.path())) return 0;
  auto folder = ReadDebugFolder(scratch.path());
  if (!folder) {
    llvm::consumeError(folder.takeError());
    return 0;
  }
  for (const DebugRun& run : folder->runs) Tell(run);
  return 0;
}
