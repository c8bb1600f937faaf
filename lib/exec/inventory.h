// What this build and this machine have: kernels and devices, as a table or as JSON.
#ifndef GRAPNEL_LIB_EXEC_INVENTORY_H_
#define GRAPNEL_LIB_EXEC_INVENTORY_H_

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Ops that run, with the devices and the dtypes of each.
void WriteKernelsText(llvm::raw_ostream& os);
// "kernels": [{"op", "device", "type_attr", "types"}], as an attribute of an object that is open.
void WriteKernelsJson(llvm::json::OStream& json);

// Devices; a kind of which there is none says why. Looks for GPUs.
void WriteDevicesText(llvm::raw_ostream& os);
// "devices": [{"device" (null: none), "kind", "text"}], likewise.
void WriteDevicesJson(llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_INVENTORY_H_
