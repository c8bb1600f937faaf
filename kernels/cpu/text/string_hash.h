// Hashes of strings as TensorFlow has them: what they gave is in the weights of models.
#ifndef GRAPNEL_KERNELS_CPU_TEXT_STRING_HASH_H_
#define GRAPNEL_KERNELS_CPU_TEXT_STRING_HASH_H_

#include <cstdint>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

uint64_t FarmHash(llvm::StringRef text);  // Fingerprint64
uint64_t SipHash(llvm::StringRef text, uint64_t key0, uint64_t key1);
// Of two hashes, in this order: how the features of a cross become one number.
uint64_t JoinHashes(uint64_t first, uint64_t second);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_TEXT_STRING_HASH_H_
