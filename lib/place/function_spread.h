// Functions over several devices: what is done with calls before a graph is split, and what
// TensorFlow's log of placements says of them.
#ifndef GRAPNEL_LIB_PLACE_FUNCTION_SPREAD_H_
#define GRAPNEL_LIB_PLACE_FUNCTION_SPREAD_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/io/feeds_and_fetches.h"
#include "lib/place/settings.h"

namespace grapnel {

// As TensorFlow does it: calls give way to their functions' nodes, and If and While to single
// nodes, before placing. The function of a call that stays is placed when it is called, its
// arguments where the call is; where that takes it to other devices, its placed nodes take the
// call's place after all, so that one mechanism runs them. docs/placement.md has the rules.
class FunctionSpread {
 public:
  // For runs from the feeds to the fetches of `tensors`, which must be there. `log` gets
  // TensorFlow's lines; null: nobody asked. All outlive this.
  FunctionSpread(Module& module, const FeedsAndFetches& tensors, const PlacerSetup& setup,
                 llvm::raw_ostream* log)
      : module_(module), tensors_(tensors), setup_(setup), log_(log) {}

  // Opens functions, places the main graph and what its calls need: every node of it gets its
  // device. Errors: what cannot be placed, with the reasons.
  Error Run();

 private:
  struct BodyPlace {  // where a body's surroundings are, as devices' names
    std::string call;
    std::vector<std::string> args;  // of resources; the others are where the call is
    auto operator<=>(const BodyPlace&) const = default;
  };

  Error OpenMain();
  void OpenBody(Function& function);
  Error PlaceGraph(Graph& graph, const PlacerOptions& options, bool logs);
  Expected<bool> OpenNextCalls();
  Expected<bool> VisitCall(const Node& call);
  Error PlaceBody(Function& function, const BodyPlace& place);
  Error VisitInner(Function& function);
  bool IsSpread(const Function& function, llvm::StringRef device) const;
  void RestoreBodies();
  void FillDevices();
  BodyPlace PlaceOf(const Node& call, const Function& function) const;

  Module& module_;
  const FeedsAndFetches& tensors_;
  const PlacerSetup& setup_;
  llvm::raw_ostream* log_;
  // The call that the graph is, if it is no more than one.
  std::string entry_;
  std::set<std::string> settled_;  // calls in the main graph
  std::set<std::string> opened_;   // functions
  std::set<std::pair<std::string, BodyPlace>> logged_;
  std::map<std::string, BodyPlace> placed_;                      // bodies, in this round
  std::map<std::string, std::vector<std::string>> own_devices_;  // of bodies that were placed
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_FUNCTION_SPREAD_H_
