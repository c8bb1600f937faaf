#include "kernels/cpu/text/icu_loader.h"

#include "lib/support/loadable_module.h"

namespace grapnel {

Expected<const GrapnelIcuApi*> Icu() {
  static const auto opened = OpenModule<GrapnelIcuApi, GrapnelIcuEntryFn>(
      {"grapnel_icu.so", GRAPNEL_ICU_ENTRY, "GRAPNEL_ICU"}, GRAPNEL_ICU_API_VERSION);
  if (opened.api) return opened.api;
  return MakeError("ICU is not available: {0}", opened.problem);
}

}  // namespace grapnel
