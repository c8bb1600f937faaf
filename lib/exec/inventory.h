// The kernels of this build and the devices of this machine, as a table or as JSON.
#ifndef GRAPNEL_LIB_EXEC_INVENTORY_H_
#define GRAPNEL_LIB_EXEC_INVENTORY_H_

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes the ops that have kernels, with their devices and dtypes.
void WriteKernelsText(llvm::raw_ostream& os);
// Writes the attribute "kernels": [{"op", "device", "type_attr", "types"}] of an open object.
void WriteKernelsJson(llvm::json::OStream& json);

// Writes the devices, or why there is no device of a kind. Looks for GPUs.
void WriteDevicesText(llvm::raw_ostream& os);
// Writes the attribute "devices": [{"device" (null: none), "kind", "text"}] of an open object.
void WriteDevicesJson(llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_INVENTORY_H_
