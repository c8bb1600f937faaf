// Parses CSS colors.
#ifndef GRAPNEL_LIB_RENDER_CSS_COLOR_H_
#define GRAPNEL_LIB_RENDER_CSS_COLOR_H_

#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Returns "#rrggbb", in lower case, for a CSS color: a name ("red"), #rgb or #rrggbb, in upper or
// lower case, perhaps between blanks; nullopt for any other text.
std::optional<std::string> CssColor(llvm::StringRef text);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_CSS_COLOR_H_
