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

// A tensor, usually one with NaN or infinity: an output of an op in a function (`trace`) or of an
// eager op or call (`execution`).
struct GRAPNEL_PUBLIC DebugAlert {
  int trace = -1, execution = -1;  // exactly one is set; neither in a Cause of BadProducers
  int output = 0;
  // no input or variable that the op read was bad, nothing inside of a call was, and no earlier
  // cause lists the op in Cause::also
  bool is_cause = false;
};
GRAPNEL_PUBLIC const RecordedTensor& AlertValue(const DebugRun& run, const DebugAlert& alert);
GRAPNEL_PUBLIC llvm::StringRef AlertOpType(const DebugRun& run, const DebugAlert& alert);

// An input of the op that computed a bad tensor.
struct GRAPNEL_PUBLIC CauseInput {
  std::string tensor;   // name of the input, "probs:0"; empty: unknown, as for an eager op
  std::string made_by;  // origin, found through arguments and results of calls; or ""
  // function that computed made_by; empty: an eager op or the main graph did, or it is unknown
  std::string made_in;
  RecordedTensor value;
  ValueSource source;            // the origin of the value, as far as it can be followed
  bool is_bad_variable = false;  // the handle of a variable that was assigned a bad value
};

// Explains one tensor, usually a bad one: the op that computed it, with its inputs.
struct GRAPNEL_PUBLIC Cause {
  DebugAlert alert;
  std::string node, op_type;  // for an eager op or call, both are the op's type
  // function that has the node; for a call, the called one; empty: an eager op or the main graph
  std::string function;
  std::string place;  // the user's functions in the stack, "train_step > loss_fn"; else `function`
  RecordedTensor value;
  int execution = -1;  // the eager op itself, or the call that ran the op; -1: unknown
  int step = -1;  // number of earlier calls of the called function; -1: unknown, or not in a call
  int iteration = -1;  // iteration of the loop around the op; -1: unknown, or not in a loop
  std::vector<CauseInput> inputs;
  std::string reason;  // "because its input Softmax:0 holds 12 zeros"
  int stack = -1;      // in DebugRun::stacks; -1: unknown
  int frame = -1;      // the user's innermost frame, in DebugRun::frames; -1: none
  int framework_frames = 0;
  // later ops in the same call that are bad because of the same input
  std::vector<std::string> also;
  size_t times = 1;  // how often the output was a cause; other fields describe the first
};

struct GRAPNEL_PUBLIC BlameReport {
  std::vector<DebugAlert> alerts;  // in the order of execution
  std::vector<Cause> causes;  // in the order of execution, an output once; at most `max_causes`
  size_t num_causes = 0;      // number of alerts with is_cause
  size_t consequences = 0;    // number of alerts after the first cause that are not causes
  bool can_tell = false;      // false: no record tells whether its tensor is bad
};

// Finds the causes of a run. Cost: linear in the number of records, plus a walk from each bad
// tensor back to the origins of its inputs.
GRAPNEL_PUBLIC BlameReport FindCauses(const DebugRun& run, size_t max_causes = 10);

// Explains any tensor, bad or not. Reads only `trace`, `execution` and `output` of `tensor`; the
// run must have this record. Cost: linear in the number of ops, and of records before it.
GRAPNEL_PUBLIC Cause ExplainTensor(const DebugRun& run, const DebugAlert& tensor);
// Explains several tensors in one pass over the records.
GRAPNEL_PUBLIC std::vector<Cause> ExplainTensors(const DebugRun& run,
                                                 llvm::ArrayRef<DebugAlert> tensors);

// Returns "Log (step 0, train_step > loss_fn) made -inf x12 of 160 because its input Softmax:0
// holds 12 zeros"; for a tensor that is not bad "Softmax (step 0, model) has no NaN or infinity";
// "... was not recorded" if its record does not tell.
GRAPNEL_PUBLIC std::string CauseSentence(const Cause& cause);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_FIRST_CAUSE_H_
