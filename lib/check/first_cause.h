// The first cause of NaN and infinity in a run that TensorFlow's debugger recorded: the earliest
// bad output none of whose inputs was bad.
#ifndef GRAPNEL_LIB_CHECK_FIRST_CAUSE_H_
#define GRAPNEL_LIB_CHECK_FIRST_CAUSE_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/check/value_flow.h"
#include "lib/support/public.h"

namespace grapnel {

// A bad tensor: an output of an op in a function (`trace`) or of an eager op or call (`execution`).
struct GRAPNEL_PUBLIC DebugAlert {
  int trace = -1, execution = -1;  // one of them
  int output = 0;
  bool is_cause = false;  // no input of the op was bad, nor a variable that it read
};
GRAPNEL_PUBLIC const RecordedTensor& AlertValue(const DebugRun& run, const DebugAlert& alert);
GRAPNEL_PUBLIC llvm::StringRef AlertOpType(const DebugRun& run, const DebugAlert& alert);

// An input of the op that made a bad tensor.
struct GRAPNEL_PUBLIC CauseInput {
  std::string tensor;   // as the op calls it: "probs:0"
  std::string made_by;  // the tensor that it is: "Softmax:0", through arguments and results
  std::string made_in;  // the function that made it; empty: made eagerly
  RecordedTensor value;
  ValueSource source;            // where it was made, as far as it can be followed
  bool is_bad_variable = false;  // the handle of a variable that was given NaN or infinity before
};

// How one tensor came about.
struct GRAPNEL_PUBLIC Cause {
  DebugAlert alert;
  std::string node, op_type;  // of an eager op both are its type
  std::string function;       // whose body holds the node; empty: an eager op
  std::string place;          // "train_step > loss_fn": the user's functions, by the stack
  RecordedTensor value;
  int execution = -1;  // the op itself, or the call that it ran in
  int step = -1;       // how many calls of that function ended before; -1: no call
  int iteration = -1;  // of a loop; -1: in no loop
  std::vector<CauseInput> inputs;
  std::string reason;  // "because its input Softmax:0 holds 12 zeros"
  int stack = -1;      // in DebugRun::stacks
  int frame = -1;      // the user's, in DebugRun::frames
  int framework_frames = 0;
  std::vector<std::string> also;  // ops that went bad over the same input later, in the same call
  size_t times = 1;  // how often this output of this op was a cause; the rest tells of the first
};

struct GRAPNEL_PUBLIC BlameReport {
  std::vector<DebugAlert> alerts;  // in the order of execution
  std::vector<Cause> causes;       // in the order of execution, at most `max_causes`
  size_t num_causes = 0;           // alerts that are causes, of one origin the first
  size_t consequences = 0;         // alerts after the first cause that are no causes themselves
  bool can_tell = false;           // false: no record says whether its tensor is bad
};

// Cost: linear in records; each bad one also walks back to where its inputs were made.
GRAPNEL_PUBLIC BlameReport FindCauses(const DebugRun& run, size_t max_causes = 10);

// The same of any tensor, bad or not; of it only `trace` or `execution` and `output` are read,
// which must be there. Cost: linear in the records before it.
GRAPNEL_PUBLIC Cause ExplainTensor(const DebugRun& run, const DebugAlert& tensor);
// Of several tensors, in one walk through the records.
GRAPNEL_PUBLIC std::vector<Cause> ExplainTensors(const DebugRun& run,
                                                 llvm::ArrayRef<DebugAlert> tensors);

// "Log (step 0, train_step > loss_fn) made -inf x12 of 160 because its input Softmax:0 holds 12
// zeros"; of a tensor that is not bad "Softmax (step 0, model) made nothing bad".
GRAPNEL_PUBLIC std::string CauseSentence(const Cause& cause);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_FIRST_CAUSE_H_
