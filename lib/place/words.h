// The flag names that a placer's messages use.
#ifndef GRAPNEL_LIB_PLACE_WORDS_H_
#define GRAPNEL_LIB_PLACE_WORDS_H_

#include <string>

#include "lib/support/public.h"

namespace grapnel {

// Errors and explanations say which setting to change, by the name that the user knows: a command's
// flag, a form's field or a pass's parameter. The defaults are the settings' own names.
struct GRAPNEL_PUBLIC PlacerFlagNames {
  std::string devices = "the list of devices";  // "add /device:GPU:0 to ..."
  std::string hard = "hard placement";          // "or place without ..."
  // The command that explains a node, before its name.
  std::string explain = "grapnel place --explain";
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_WORDS_H_
