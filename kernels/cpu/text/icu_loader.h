// Opens grapnel_icu.so.
#ifndef GRAPNEL_KERNELS_CPU_TEXT_ICU_LOADER_H_
#define GRAPNEL_KERNELS_CPU_TEXT_ICU_LOADER_H_

#include "kernels/cpu/text/icu_api.h"
#include "lib/support/error.h"

namespace grapnel {

// The module, opened at the first call: the file that GRAPNEL_ICU names, else grapnel_icu.so in the
// folder of the executable. Thread-safe.
Expected<const GrapnelIcuApi*> Icu();

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_TEXT_ICU_LOADER_H_
