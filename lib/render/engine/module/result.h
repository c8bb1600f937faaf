// What the module makes, or why it could not.
#ifndef GRAPNEL_LIB_RENDER_ENGINE_MODULE_RESULT_H_
#define GRAPNEL_LIB_RENDER_ENGINE_MODULE_RESULT_H_

#include <string>

namespace grapnel_picture {

struct Result {
  bool ok = false;
  std::string text;  // what was made; else what went wrong
};

}  // namespace grapnel_picture

#endif  // GRAPNEL_LIB_RENDER_ENGINE_MODULE_RESULT_H_
