// Embeds op_table.txt, for op_table.cpp.
#include "lib/support/embed.h"

GRAPNEL_EMBED_FILE("grapnel_op_table", "lib/ir/op_table.txt");
