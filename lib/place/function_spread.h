// Places functions over several devices: expands calls before a graph is split, and writes
// TensorFlow's log of placements.
#ifndef GRAPNEL_LIB_PLACE_FUNCTION_SPREAD_H_
#define GRAPNEL_LIB_PLACE_FUNCTION_SPREAD_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/io/feeds_and_fetches.h"
#include "lib/place/settings.h"

namespace grapnel {

// Follows TensorFlow: before placing, inlines calls and lowers If, Case and While to Switch and
// Merge. The function of a remaining call is placed when it is called, its arguments on the call's
// device, or for a resource on the device of the node that passes it. If nodes of the function then
// need other devices, the call is inlined after all, so that partitioning the main graph is enough.
// docs/guide/placement.md has the rules.
class FunctionSpread {
 public:
  // Prepares `module` for runs from the feeds to the fetches of `tensors`, which must exist. `log`
  // receives TensorFlow's log lines; null: no log. All arguments must outlive this.
  FunctionSpread(Module& module, const FeedsAndFetches& tensors, const PlacerSetup& setup,
                 llvm::raw_ostream* log)
      : module_(module), tensors_(tensors), setup_(setup), log_(log) {}

  // Places the main graph. If there is a log, or functions request devices and there are several,
  // inlines calls first and places the functions of the other calls too. Sets the device of every
  // node of the main graph; the nodes of functions keep their own requests. Errors: nodes that
  // cannot be placed, with the reasons.
  Error Run();

 private:
  struct BodyPlace {  // names of the devices of a call and its arguments
    std::string call;
    std::vector<std::string> args;  // that of the call, except for resources
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
  // The name of the call that produces all fetches, if its arguments come from nodes without
  // inputs (EntryCall); else empty.
  std::string entry_;
  std::set<std::string> settled_;  // calls of the main graph that were visited
  std::set<std::string> opened_;   // functions in whose bodies calls were inlined
  std::set<std::pair<std::string, BodyPlace>> logged_;
  std::map<std::string, BodyPlace> placed_;  // functions placed in this round
  // By function: the devices of its nodes before it was placed, by node id.
  std::map<std::string, std::vector<std::string>> own_devices_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_FUNCTION_SPREAD_H_
