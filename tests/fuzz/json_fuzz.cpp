// JSON that people and other programs write: cases, clusters, ledgers, the index and timings of a
// dump folder. An input is either one file tried as each of these, or index.json, timings and
// ledger of one folder, separated by a line of dashes.
#include <cstddef>
#include <cstdint>

#include "lib/diff/provenance.h"
#include "lib/io/case.h"
#include "lib/io/ledger.h"
#include "lib/pass/run_record.h"
#include "lib/place/device_set.h"
#include "tests/fuzz/scratch_folder.h"

namespace grapnel {
namespace {

constexpr llvm::StringLiteral kDashes = "\n---\n";

template <typename Value>
void Take(Expected<Value> value) {
  if (!value) llvm::consumeError(value.takeError());
}

void ReadLedger(llvm::StringRef jsonl) {
  size_t names = 0;
  if (Error error = ForEachLedgerEntry(jsonl, [&](int, const LedgerEntry& entry) {
        for (const char* key : {"used", "made", "changed", "removed"})
          names += entry.Names(key).size();
      }))
    llvm::consumeError(std::move(error));
  Take(ParseLedger(jsonl));
  Take(Provenance::Parse(jsonl));
}

void ReadDumps(const ScratchFolder& folder, llvm::StringRef bytes) {
  auto [index, behind] = bytes.split(kDashes);
  auto [times, ledger] = behind.split(kDashes);
  folder.Write("index.json", index);
  folder.Write("timings.json", bytes.contains(kDashes) ? times : bytes);
  folder.Write("ledger.jsonl", ledger);
  RunRecord record = ReadRunRecord(folder.path());
  for (const StageRecord& stage : record.stages) record.StageOf(stage.dump);
  ReadLedger(ledger.empty() ? bytes : ledger);
}

}  // namespace
}  // namespace grapnel

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapnel;
  static const ScratchFolder folder;
  llvm::StringRef bytes(reinterpret_cast<const char*>(data), size);
  ReadDumps(folder, bytes);
  Take(DeviceSet::FromClusterFile(folder.Write("cluster.json", bytes)));
  folder.Write("case.json", bytes);
  if (IsCaseFolder(folder.path())) Take(LoadCase(folder.path()));
  return 0;
}
