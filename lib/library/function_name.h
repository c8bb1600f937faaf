// Parses the names of functions. A name made by TensorFlow contains the name of the traced Python
// function, a number that is unique in the process, and the role of the function.
//
//   __inference_train_step_221                     train_step, trace 221
//   __forward_forward_200                          forward, returns what its gradient needs, 200
//   __inference___backward_forward_87_201          its gradient, 201, begun at 87
//   __inference___forward_score_1018_1213          a forward function that was saved and loaded
//   cond_true_108_rewritten, cond_true_108_grad_203    a branch as a forward function, its gradient
//   __inference_Dataset_map_parse_11               parse, given to Dataset.map
//   __inference_f_9_specialized_for_call_at_tf_graph   a copy that Grappler made for one call
//   __wrapped__Mul_device_/job:localhost/...       one op that the eager runtime ran as a function
//
// The sources are tensorflow/python/eager/polymorphic_function/{attributes,concrete_function}.py,
// ops/cond_v2.py, ops/while_v2.py, data/ops/structured_function.py, and
// core/grappler/optimizers/function_optimizer.cc.
#ifndef GRAPNEL_LIB_LIBRARY_FUNCTION_NAME_H_
#define GRAPNEL_LIB_LIBRARY_FUNCTION_NAME_H_

#include <cstdint>
#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct FunctionName {
  enum class Kind { kPlain, kTrace, kForward, kBackward, kEagerOp };

  Kind kind = Kind::kPlain;
  std::string base;               // "train_step"; for an eager op, the op
  std::optional<int64_t> number;  // the number that TensorFlow gave the function
  std::optional<int64_t> begun;   // for a backward function: the counter when its tracing began
  int order = 0;                 // 1 for a trace's forward or backward function, 2 for a gradient's
  bool is_loaded = false;        // a forward function that came from a SavedModel
  bool is_rewritten = false;     // a branch or loop body that returns what its gradient needs
  bool is_gradient = false;      // the gradient of a branch or loop body
  bool is_control_flow = false;  // a branch, condition or body, to judge by the name
  bool is_specialized = false;
  std::string transformation;  // "map", if it was passed to a tf.data dataset
};

// Accepts any text: if TensorFlow did not make the name, the base is the whole text. `in_dataset`:
// the function has the attribute _tf_data_function. `is_part`: an op runs the function as a branch,
// a condition or a body, so that a number at the end is that of the trace.
FunctionName ParseFunctionName(llvm::StringRef name, bool in_dataset = false, bool is_part = false);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_LIBRARY_FUNCTION_NAME_H_
