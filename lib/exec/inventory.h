// What this build and this machine have: kernels and devices, as a table or as JSON.
#ifndef GRAPNEL_LIB_EXEC_INVENTORY_H_
#define GRAPNEL_LIB_EXEC_INVENTORY_H_

#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Ops that run, with the devices and the dtypes of each: [{"op", "device", "type_attr", "types"}].
void WriteKernels(llvm::raw_ostream& os, bool as_json);

// Devices; a kind of which there is none says why: [{"device" (null: none), "kind", "text"}]. Looks
// for GPUs.
void WriteDevices(llvm::raw_ostream& os, bool as_json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_INVENTORY_H_
