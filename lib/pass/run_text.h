// Prints a run of passes as readable text.
#ifndef GRAPNEL_LIB_PASS_RUN_TEXT_H_
#define GRAPNEL_LIB_PASS_RUN_TEXT_H_

#include <string>

#include "lib/pass/pass_manager.h"

namespace grapnel {

// "12. remapper/fuse_bias at 'Relu'; changed 'Relu'; removed 'Conv2D', 'BiasAdd'\n", with at most
// six names per list; the rewrite's note follows on a line of its own.
std::string RewriteText(const Rewrite& rewrite);

// A table with one line per stage: pass, iteration, rewrites and milliseconds; then the sums.
std::string TimingTable(const OptimizeResult& result);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_RUN_TEXT_H_
