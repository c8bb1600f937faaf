// What a person who asks for a placement calls the things that a placer is told.
#ifndef GRAPNEL_LIB_PLACE_WORDS_H_
#define GRAPNEL_LIB_PLACE_WORDS_H_

#include <string>

#include "lib/support/public.h"

namespace grapnel {

// Errors and explanations say what to change where it can be changed: among a command's flags, in a
// form, or among a pass's parameters. Who asks says how; else the things are named themselves.
struct GRAPNEL_PUBLIC PlacerFlagNames {
  std::string devices = "the list of devices";      // "add /device:GPU:0 to ..."
  std::string hard = "hard placement";              // "or place without ..."
  std::string explain = "grapnel place --explain";  // what tells of the node whose name follows
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_WORDS_H_
