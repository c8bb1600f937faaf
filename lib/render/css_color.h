// Colors as style sheets name them.
#ifndef GRAPNEL_LIB_RENDER_CSS_COLOR_H_
#define GRAPNEL_LIB_RENDER_CSS_COLOR_H_

#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// "#rrggbb" of a CSS color that is a name ("red"), #rgb or #rrggbb, in capitals or not. nullopt:
// it is none of these.
std::optional<std::string> CssColor(llvm::StringRef text);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_CSS_COLOR_H_
