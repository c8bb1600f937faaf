// The cards of a debug page. A card is a JSON document that describes one recorded tensor, or one
// execution: an op or a function call that Python ran.
#ifndef GRAPNEL_LIB_SERVE_PAGES_DEBUG_CARD_H_
#define GRAPNEL_LIB_SERVE_PAGES_DEBUG_CARD_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "lib/check/first_cause.h"
#include "lib/tfdbg/debug_graph.h"
#include "lib/tfdbg/debug_index.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// The name of a card in requests, "trace/11" or "execution/3"; "" if an alert has neither.
std::string CardName(int trace, int execution);

// Makes the cards of a debug run. The constructor's arguments must outlive this object.
// Thread-safe.
class DebugCards {
 public:
  DebugCards(const DebugRun& run, const DebugIndex& index, const DebugModule& module)
      : run_(run), index_(index), module_(module) {}

  // Returns a tensor's card: {"card", "tensor", "cause" (as in WriteCauseJson), "place", "outputs",
  // "inputs", "readers", "stack", "device", and "record", "records", "before", "after": which of
  // the tensor's records this is}. Lists the inputs' inputs and the readers' readers too. The first
  // card of each batch of 256 takes a pass over the records; the others are then fast.
  std::string Trace(int trace);
  std::string Execution(int execution);
  // One output of the op that computed a tensor, or of an execution.
  struct Output {
    int slot, trace;  // trace: the record of an op's output; else -1
    const RecordedTensor* value;
  };
  std::vector<Output> OutputsOf(int trace, int execution) const;
  // Returns how a tensor was computed. Takes as long as Trace().
  Cause CauseOf(int trace, int execution);

 private:
  using Batch = std::vector<Cause>;
  std::shared_ptr<const Batch> BatchOf(bool is_trace, int number);
  void WriteInputs(const Cause& cause, int hops, llvm::json::OStream& json);
  void NameArguments(const DebugExecution& call, Cause* cause) const;
  int TraceOf(const ValueSource& source) const;
  void WriteReaders(DebugTensor tensor, int trace, int hops, llvm::json::OStream& json);
  void WriteEagerReaders(int64_t id, int hops, llvm::json::OStream& json);
  void WriteReader(int graph, int op, int trace, int hops, llvm::json::OStream& json);
  void WriteReturn(DebugTensor tensor, int trace, int hops, llvm::json::OStream& json);
  void WriteWhen(int trace, llvm::json::OStream& json);
  void WriteInside(int execution, llvm::json::OStream& json);
  void WriteStack(int stack, llvm::json::OStream& json);
  void WriteOutputs(int trace, int execution, llvm::json::OStream& json);
  void WritePlace(int graph, int node, llvm::json::OStream& json);

  const DebugRun& run_;
  const DebugIndex& index_;
  const DebugModule& module_;
  std::mutex mutex_;
  std::map<std::pair<bool, int>, std::shared_ptr<const Batch>> batches_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_DEBUG_CARD_H_
