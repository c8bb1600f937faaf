// Embeds tensorflow_kernels*.txt in the binary, for tensorflow_kernels.cpp.
#include "lib/support/embed.h"

GRAPNEL_EMBED_FILE("grapnel_tensorflow_kernels", "lib/place/tensorflow_kernels.txt");
GRAPNEL_EMBED_FILE("grapnel_tensorflow_kernels_2_16", "lib/place/tensorflow_kernels_2.16.txt");
GRAPNEL_EMBED_FILE("grapnel_tensorflow_kernels_2_13", "lib/place/tensorflow_kernels_2.13.txt");
