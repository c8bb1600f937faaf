// The page's modules as one script, for a page that is a file.
#ifndef GRAPNEL_LIB_SERVE_PAGES_SCRIPT_BUNDLE_H_
#define GRAPNEL_LIB_SERVE_PAGES_SCRIPT_BUNDLE_H_

#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// The modules `entries` in their order, before each what it needs, each in a function of its own.
// What is read of a module are lines `import {a, b} from "./x.js";` and `export` before a
// declaration. Errors name the module and the line.
Expected<std::string> BundleScripts(llvm::ArrayRef<llvm::StringRef> entries);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_SCRIPT_BUNDLE_H_
