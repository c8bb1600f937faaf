// Finds the first cause of NaN and infinity in a run that TensorFlow's debugger recorded: the
// earliest bad output of an op without bad inputs.
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
  int trace = -1, execution = -1;  // exactly one is set
  int output = 0;
  bool is_cause = false;  // neither an input of the op was bad, nor a variable that it read
};
GRAPNEL_PUBLIC const RecordedTensor& AlertValue(const DebugRun& run, const DebugAlert& alert);
GRAPNEL_PUBLIC llvm::StringRef AlertOpType(const DebugRun& run, const DebugAlert& alert);

// An input of the op that made a bad tensor.
struct GRAPNEL_PUBLIC CauseInput {
  std::string tensor;   // as in the op's inputs: "probs:0"
  std::string made_by;  // the tensor behind it, through arguments and results: "Softmax:0"
  std::string made_in;  // the function that computed it; empty: an eager op
  RecordedTensor value;
  ValueSource source;            // the origin of the value, as far as it can be followed
  bool is_bad_variable = false;  // the handle of a variable that was assigned a bad value
};

// The origin of one tensor.
struct GRAPNEL_PUBLIC Cause {
  DebugAlert alert;
  std::string node, op_type;  // for an eager op both are its type
  std::string function;       // the function with the node; empty: an eager op
  std::string place;          // "train_step > loss_fn": the user's functions, by the stack
  RecordedTensor value;
  int execution = -1;  // the op itself, or the call around it
  int step = -1;       // the number of earlier calls of that function; -1: not in a call
  int iteration = -1;  // in a loop; -1: not in a loop
  std::vector<CauseInput> inputs;
  std::string reason;  // "because its input Softmax:0 holds 12 zeros"
  int stack = -1;      // in DebugRun::stacks
  int frame = -1;      // the user's, in DebugRun::frames
  int framework_frames = 0;
  std::vector<std::string> also;  // later bad ops in the same call with the same bad input
  size_t times = 1;               // how often this output was a cause; other fields: the first time
};

struct GRAPNEL_PUBLIC BlameReport {
  std::vector<DebugAlert> alerts;  // in the order of execution
  std::vector<Cause> causes;       // in the order of execution, at most `max_causes`
  size_t num_causes = 0;           // alerts that are causes; only the first of each origin
  size_t consequences = 0;         // alerts after the first cause that are not causes
  bool can_tell = false;           // false: no record has the health of its tensor
};

// Cost: linear in records, plus a walk from each bad one back to the origins of its inputs.
GRAPNEL_PUBLIC BlameReport FindCauses(const DebugRun& run, size_t max_causes = 10);

// The same for any tensor, bad or not. Reads only `trace` or `execution` and `output` of it, which
// must exist. Cost: linear in the records before it.
GRAPNEL_PUBLIC Cause ExplainTensor(const DebugRun& run, const DebugAlert& tensor);
// The same for several tensors, in one pass over the records.
GRAPNEL_PUBLIC std::vector<Cause> ExplainTensors(const DebugRun& run,
                                                 llvm::ArrayRef<DebugAlert> tensors);

// Returns "Log (step 0, train_step > loss_fn) made -inf x12 of 160 because its input Softmax:0
// holds 12 zeros"; for a tensor that is not bad "Softmax (step 0, model) made nothing bad".
GRAPNEL_PUBLIC std::string CauseSentence(const Cause& cause);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_FIRST_CAUSE_H_
