// Opens grapnel_icu.so.
#ifndef GRAPNEL_KERNELS_CPU_TEXT_ICU_LOADER_H_
#define GRAPNEL_KERNELS_CPU_TEXT_ICU_LOADER_H_

#include "kernels/cpu/text/icu_api.h"
#include "lib/support/error.h"

namespace grapnel {

// Returns the module, which the first call opens: the file in GRAPNEL_ICU, else grapnel_icu.so
// (ModulePath). Thread-safe.
Expected<const GrapnelIcuApi*> Icu();

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_TEXT_ICU_LOADER_H_
