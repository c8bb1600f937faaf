// Shared code of kernels that read and write variables.
#ifndef GRAPNEL_KERNELS_CPU_STATE_VARIABLE_H_
#define GRAPNEL_KERNELS_CPU_STATE_VARIABLE_H_

#include "lib/exec/kernel.h"
#include "lib/exec/session.h"

namespace grapnel {

// Returns the variable that input `i` refers to, by a handle or (reference variables) by a
// reference.
Expected<StoredVariable*> VariableIn(const KernelContext& ctx, int i);

// Calls change(value) with a writable value of the variable: copies it first if it is shared. An
// error when the variable is uninitialized.
Error ChangeVariable(KernelContext& ctx, StoredVariable& variable,
                     llvm::function_ref<Error(Tensor& value)> change);

// Ops on reference variables return the reference as their output.
inline void PassReference(KernelContext& ctx) {
  if (ctx.num_outputs() > 0) ctx.SetOutput(0, ctx.input(0));
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_STATE_VARIABLE_H_
