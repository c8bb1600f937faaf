// The calls of functions on the way from the main graph, each of which is a place of the
// function's nodes.
#ifndef GRAPNEL_LIB_JOB_CALL_PLACES_H_
#define GRAPNEL_LIB_JOB_CALL_PLACES_H_

#include <string>
#include <vector>

#include "lib/job/inner_fetch.h"

namespace grapnel {

// One call of a function.
struct CallPlace {
  const Function* function = nullptr;
  Node caller;
  CallKind kind = CallKind::kCall;
  int outer = -1;      // the place of the caller; -1: the main graph
  std::string prefix;  // "call/inner/": what the names of nodes have in front after inlining
};

class CallPlaces {
 public:
  // The calls that `nodes` of the main graph make, and those that these make; a caller comes before
  // what it calls. Includes calls of functions and the functions of If, Case and While. Omits those
  // of other ops, such as datasets, and calls after the first 20,000.
  CallPlaces(const Module& module, const std::vector<NodeId>& nodes);

  const Module& module() const { return module_; }
  size_t size() const { return places_.size(); }
  const CallPlace& operator[](int place) const { return places_[place]; }
  // The body of a place; -1: the main graph.
  const Graph& BodyAt(int place) const {
    return place < 0 ? module_.main : places_[place].function->body;
  }
  bool HasCallOf(const Function& function) const;

  // Follows an argument of a function to what the call passes, and a result to what it returns. The
  // arguments of a loop's functions change in each iteration, so they stay.
  void Trace(int* place, Port* port) const;
  // Returns the tensor of a function's body as a fetch. `name` is its path.
  InnerFetch FetchOf(int place, Port port) const;

 private:
  void AddPlacesOf(const Node& node, int outer);

  const Module& module_;
  std::vector<CallPlace> places_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_CALL_PLACES_H_
