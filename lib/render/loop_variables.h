// The names of the variables of a While loop, for the arguments and results of its functions.
#ifndef GRAPNEL_LIB_RENDER_LOOP_VARIABLES_H_
#define GRAPNEL_LIB_RENDER_LOOP_VARIABLES_H_

#include <string>
#include <vector>

#include "lib/ir/graph.h"

namespace grapnel {

class LoopVariables {
 public:
  // `graph` is the body or the condition of `loop`; without a loop, there are no variables. Linear
  // in the graph.
  LoopVariables(const Graph& graph, const Node& loop);

  // Returns the name of the variable of which an argument is the value or, in the body, a result is
  // the next value: that of the argument or, if TensorFlow made that up ("placeholder_2"), of the
  // node whose output is the first value. Empty for other nodes.
  std::string Of(const Node& end) const;

 private:
  std::vector<std::string> names_;  // by number
  bool is_body_ = false;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_LOOP_VARIABLES_H_
