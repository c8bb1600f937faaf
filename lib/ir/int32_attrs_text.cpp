// Embeds int32_attrs.txt, for attr_rules.cpp.
#include "lib/support/embed.h"

GRAPNEL_EMBED_FILE("grapnel_int32_attrs", "lib/ir/int32_attrs.txt");
