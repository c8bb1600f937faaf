// Runs a script in an engine of its own.
#ifndef GRAPNEL_LIB_RENDER_ENGINE_MODULE_SCRIPT_H_
#define GRAPNEL_LIB_RENDER_ENGINE_MODULE_SCRIPT_H_

#include <string>
#include <vector>

#include "lib/render/engine/module/result.h"

namespace grapnel_picture {

// Evaluates `script` and calls the global `function` with these strings, UTF-8. The script sees
// nothing but the language itself: no file, no net, no clock worth the name. It is ended after
// `seconds`.
Result RunScript(const char* script, const char* function,
                 const std::vector<const char*>& arguments, double seconds);

}  // namespace grapnel_picture

#endif  // GRAPNEL_LIB_RENDER_ENGINE_MODULE_SCRIPT_H_
