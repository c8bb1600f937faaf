// The output of a function of the module, or an error.
#ifndef GRAPNEL_LIB_RENDER_ENGINE_MODULE_RESULT_H_
#define GRAPNEL_LIB_RENDER_ENGINE_MODULE_RESULT_H_

#include <string>

namespace grapnel_picture {

struct Result {
  bool ok = false;
  std::string text;  // the output or the error message
};

}  // namespace grapnel_picture

#endif  // GRAPNEL_LIB_RENDER_ENGINE_MODULE_RESULT_H_
