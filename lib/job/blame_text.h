// Formats a RunBlame as text and as JSON.
#ifndef GRAPNEL_LIB_JOB_BLAME_TEXT_H_
#define GRAPNEL_LIB_JOB_BLAME_TEXT_H_

#include <string>

#include "lib/ir/line_table.h"
#include "lib/job/blame.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Returns "in step that u calls, in body that w calls, iteration 2"; "" in the main graph.
std::string CallsText(llvm::ArrayRef<CallSite> calls);
std::string IndexText(llvm::ArrayRef<int64_t> index);  // "[1,0]"
// Writes [{"caller", "function", "iteration"}, ...] as a JSON value.
void WriteCallsJson(llvm::ArrayRef<CallSite> calls, llvm::json::OStream& json);

// Returns "loss/Log (Log) made -inf x1 of 6 at [1,0] because its input Softmax:0 holds 1 zero".
std::string ProducerSentence(const BadProducer& producer);
// `lines`: the source lines of the graph that was run.
void WriteRunBlameText(const RunBlame& blame, const LineTable& lines, llvm::raw_ostream& os);
// Writes fields into the open JSON object: "first_bad", "first_bad_kept" (if all fetches are finite
// but a variable is not) and "first_any", each an object or null; "producers", "bad_fetches",
// "failure", "path", "is_certain".
void WriteRunBlameJson(const RunBlame& blame, const LineTable& lines, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_BLAME_TEXT_H_
