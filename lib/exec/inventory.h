// The kernels of this build and the devices of this machine, as a table or as JSON.
#ifndef GRAPNEL_LIB_EXEC_INVENTORY_H_
#define GRAPNEL_LIB_EXEC_INVENTORY_H_

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes the ops that have kernels, with their devices and dtypes.
void WriteKernelsText(llvm::raw_ostream& os);
// Writes the key "kernels": [{"op", "device", "type_attr", "types"}] into the JSON object that is
// open. "type_attr" is the first dtype attribute that the kernel restricts, "types" its dtypes; ""
// and [] if the kernel supports any dtype.
void WriteKernelsJson(llvm::json::OStream& json);

// Writes the devices, and for each kind whose devices cannot be listed the reason. May initialize
// the GPUs of this machine.
void WriteDevicesText(llvm::raw_ostream& os);
// Writes the key "devices": [{"device" (null: "text" says why there is none), "kind", "text"}] into
// the JSON object that is open.
void WriteDevicesJson(llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_INVENTORY_H_
