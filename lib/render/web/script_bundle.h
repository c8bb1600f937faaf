// Bundles script modules into one script, for pages in a single file and for lib/render/engine.
#ifndef GRAPNEL_LIB_RENDER_WEB_SCRIPT_BUNDLE_H_
#define GRAPNEL_LIB_RENDER_WEB_SCRIPT_BUNDLE_H_

#include <string>

#include "lib/render/web/web_file.h"
#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Bundles the modules `entries` in order, each after its imports and in a function of its own.
// Supports lines `import {a, b} from "./x.js";` and `export` before a declaration. `find` returns a
// module by name, or nullptr. Errors name the module and, for an unsupported import, the line.
Expected<std::string> BundleScripts(llvm::ArrayRef<llvm::StringRef> entries,
                                    llvm::function_ref<const WebFile*(llvm::StringRef)> find);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_WEB_SCRIPT_BUNDLE_H_
