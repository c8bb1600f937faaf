// A rewrite as a person reads it: opt --explain, bisect.
#ifndef GRAPNEL_TOOLS_REWRITE_TEXT_H_
#define GRAPNEL_TOOLS_REWRITE_TEXT_H_

#include <string>

#include "lib/pass/rewrite.h"

namespace grapnel {

// "12. remapper/fuse_bias at 'Relu'; changed 'Relu'; removed 'Conv2D', 'BiasAdd'\n", with at most
// six names a list.
std::string RewriteText(const Rewrite& rewrite);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_REWRITE_TEXT_H_
