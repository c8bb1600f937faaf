// Puts int32_attrs.txt into the binary, for attr_rules.cpp.
#include "lib/support/embed.h"

GRAPNEL_EMBED_FILE("grapnel_int32_attrs", "lib/ir/int32_attrs.txt");
