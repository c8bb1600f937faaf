// An Evaluator over the CPU kernels, for constant folding.
#ifndef GRAPNEL_LIB_EXEC_EVALUATOR_H_
#define GRAPNEL_LIB_EXEC_EVALUATOR_H_

#include <memory>

#include "lib/ir/evaluator.h"
#include "lib/support/public.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

// `pool` must outlive the evaluator. The evaluator is thread-safe: passes that run over several
// functions at the same time share it.
GRAPNEL_PUBLIC std::unique_ptr<Evaluator> MakeCpuEvaluator(ThreadPool& pool);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_EVALUATOR_H_
