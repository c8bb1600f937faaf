// Puts the description of config.proto and of what it imports into the binary, for
// dynamic_message.cpp.
#include "lib/support/embed.h"

GRAPNEL_EMBED_FILE("grapnel_described", "lib/proto/described.bin");
