// What kernels that read and write variables share.
#ifndef GRAPNEL_KERNELS_CPU_STATE_VARIABLE_H_
#define GRAPNEL_KERNELS_CPU_STATE_VARIABLE_H_

#include "lib/exec/kernel.h"
#include "lib/exec/session.h"

namespace grapnel {

// The variable that input `i` is a handle of or, of the old kind, a reference to.
Expected<StoredVariable*> VariableIn(const KernelContext& ctx, int i);

// Calls change(value) on the variable's value, which may then be written to: it is copied first if
// somebody else holds it. An error when it has none yet.
Error ChangeVariable(KernelContext& ctx, StoredVariable& variable,
                     llvm::function_ref<Error(Tensor& value)> change);

// Ops of the old kind put the reference out again.
inline void PassReference(KernelContext& ctx) {
  if (ctx.num_outputs() > 0) ctx.SetOutput(0, ctx.input(0));
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_STATE_VARIABLE_H_
