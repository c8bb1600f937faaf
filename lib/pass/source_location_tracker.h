// An instrumentation that follows nodes through rewrites, so that each says in which line of the
// program it was made.
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

// A node that was there keeps its stack, under its name. One that a rewrite makes has the stack
//   - that the name had, where the rewrite removed a node of that name;
//   - of the function's node that it copies, where a call was inlined;
//   - of the node that the rule looked at; else of the first that it used, removed or changed.
// A function that was made of another has that one's lines. Costs two look-ups a rewrite and node,
// and takes bodies side by side.
class SourceLocationTracker : public Instrumentation {
 public:
  // Of the module as it is before the pipeline.
  explicit SourceLocationTracker(LineTable lines) : lines_(std::move(lines)) {}

  Error BeforePipeline(const Module& module) override;
  void OnRewrite(const Rewrite& rewrite) override;
  bool TakesBodiesApart() const override { return true; }

  const LineTable& lines() const { return lines_; }
  // The stack of a node as it is now; 0: none.
  LineTable::TraceId TraceOf(llvm::StringRef function, llvm::StringRef node);
  // GraphDef.debug_info becomes that of the nodes that the module now has.
  void WriteTo(Module* module);

 private:
  struct Body {
    std::string origin;                        // the function that it was copied of; empty: none
    llvm::StringMap<LineTable::TraceId> made;  // 0: no line is known
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
