// Embeds the descriptors of config.proto and of the files that it imports, for dynamic_message.cpp.
#include "lib/support/embed.h"

GRAPNEL_EMBED_FILE("grapnel_described", "lib/proto/described.bin");
