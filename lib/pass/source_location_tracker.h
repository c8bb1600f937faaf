// An instrumentation that follows nodes through rewrites, so that each node keeps the line of the
// user's program that made it.
#ifndef GRAPNEL_LIB_PASS_SOURCE_LOCATION_TRACKER_H_
#define GRAPNEL_LIB_PASS_SOURCE_LOCATION_TRACKER_H_

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "lib/ir/line_table.h"
#include "lib/pass/pass_manager.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// A node of the original graph keeps its stack of source lines, by name. A node that a rewrite
// makes gets the stack
//   - of the removed node, if the rewrite removed a node of that name;
//   - of the function's node that the new node copies, if a call was inlined;
//   - of the node that the rule was applied to; else of the first node used, removed or changed.
// A copy of a function keeps the lines of the original function. Costs two look-ups per rewrite and
// node; supports bodies that are optimized in parallel.
class SourceLocationTracker : public Instrumentation {
 public:
  // `lines` are the source lines of the module before the pipeline.
  explicit SourceLocationTracker(LineTable lines) : lines_(std::move(lines)) {}

  Error BeforePipeline(const Module& module) override;
  void OnRewrite(const Rewrite& rewrite) override;
  bool TakesBodiesApart() const override { return true; }

  const LineTable& lines() const { return lines_; }
  // The current stack of a node; 0: none.
  LineTable::TraceId TraceOf(llvm::StringRef function, llvm::StringRef node);
  // Sets GraphDef.debug_info to the stacks of the module's current nodes; has no effect if `lines`
  // was empty.
  void WriteTo(Module* module);

 private:
  struct Body {
    std::string origin;                        // the function that it is a copy of, or empty
    llvm::StringMap<LineTable::TraceId> made;  // 0: no known line
  };
  Body& BodyOf(llvm::StringRef function);
  LineTable::TraceId Trace(llvm::StringRef function, llvm::StringRef node);
  LineTable::TraceId Inlined(const Rewrite& rewrite, llvm::StringRef node);
  LineTable::TraceId FirstOf(const Rewrite& rewrite);

  LineTable lines_;
  std::mutex mutex_;
  std::map<std::string, Body> bodies_;  // by function; "": main
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_SOURCE_LOCATION_TRACKER_H_
