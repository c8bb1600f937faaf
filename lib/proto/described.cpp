// Embeds the descriptors of config.proto and its imports, for dynamic_message.cpp.
#include "lib/support/embed.h"

GRAPNEL_EMBED_FILE("grapnel_described", "lib/proto/described.bin");
