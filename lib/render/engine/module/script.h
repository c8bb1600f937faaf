// Runs a script in a new engine.
#ifndef GRAPNEL_LIB_RENDER_ENGINE_MODULE_SCRIPT_H_
#define GRAPNEL_LIB_RENDER_ENGINE_MODULE_SCRIPT_H_

#include <string>
#include <vector>

#include "lib/render/engine/module/result.h"

namespace grapnel_picture {

// Evaluates `script` and calls the global `function` with these UTF-8 strings. The script has only
// the language itself: no files, no network, no precise clock. The engine stops it after `seconds`.
Result RunScript(const char* script, const char* function,
                 const std::vector<const char*>& arguments, double seconds);

}  // namespace grapnel_picture

#endif  // GRAPNEL_LIB_RENDER_ENGINE_MODULE_SCRIPT_H_
