// TensorFlow's string hashes. They must match exactly, because trained weights depend on them.
#ifndef GRAPNEL_KERNELS_CPU_TEXT_STRING_HASH_H_
#define GRAPNEL_KERNELS_CPU_TEXT_STRING_HASH_H_

#include <cstdint>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

uint64_t FarmHash(llvm::StringRef text);  // Fingerprint64
uint64_t SipHash(llvm::StringRef text, uint64_t key0, uint64_t key1);
// Combines two hashes, in this order, as feature crosses do.
uint64_t JoinHashes(uint64_t first, uint64_t second);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_TEXT_STRING_HASH_H_
