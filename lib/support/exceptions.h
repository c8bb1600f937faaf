// Turns exceptions (of third-party libraries, or of allocations) into errors, at the place where a
// request, a thread or a kernel begins.
#ifndef GRAPNEL_LIB_SUPPORT_EXCEPTIONS_H_
#define GRAPNEL_LIB_SUPPORT_EXCEPTIONS_H_

#include <exception>
#include <new>
#include <stdexcept>

#include "lib/support/error.h"
#include "lib/support/memory_budget.h"

namespace grapnel {

// Calls `work`, which returns an Error or an Expected. If `work` throws, for example for lack of
// memory, returns the exception as an error. Costs nothing otherwise.
template <typename Work>
auto WithoutExceptions(Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const OverBudget& refused) {
    return MemoryRefused(refused.bytes());
  } catch (const std::bad_alloc&) {
    return llvm::make_error<OutOfMemory>("there is not enough memory");
  } catch (const std::length_error&) {
    return llvm::make_error<OutOfMemory>("a list does not fit into memory");
  } catch (const std::exception& exception) {
    return MakeError("failed: {0}", exception.what());
  } catch (...) {
    return MakeError("failed: unknown exception");
  }
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_EXCEPTIONS_H_
