// Matrix products of every dtype: plain code here, oneDNN for large float ones.
#ifndef GRAPNEL_KERNELS_CPU_LINALG_GEMM_H_
#define GRAPNEL_KERNELS_CPU_LINALG_GEMM_H_

#include <vector>

#include "kernels/common/epilogue.h"
#include "kernels/cpu/linalg/gemm_shape.h"
#include "kernels/cpu/nn/onednn_loader.h"

namespace grapnel {

// On this thread. T is float, double, complex or any integer (which wraps). k may be 0: zeros.
template <typename T>
void Gemm(const GemmShape& shape, const T* a, const T* b, T* c);

// Batches of products: matrices lie one after another; a_index and b_index say which ones product i
// takes. Empty means matrix i, or matrix 0 when there is one.
struct BatchedShape {
  int64_t m, n, k;
  bool transpose_a = false, transpose_b = false;
  bool conjugate_a = false, conjugate_b = false;
  int64_t count = 1, a_count = 1, b_count = 1;
  std::vector<int64_t> a_index, b_index;

  int64_t MatrixOfA(int64_t i) const {
    return a_index.empty() ? (a_count == 1 ? 0 : i) : a_index[i];
  }
  int64_t MatrixOfB(int64_t i) const {
    return b_index.empty() ? (b_count == 1 ? 0 : i) : b_index[i];
  }
};

// The products of one kernel. Keeps what oneDNN has prepared for the shapes seen. Run is
// thread-safe.
template <typename T>
class MatMulRunner {
 public:
  // The value of b when it is the same in every run, of dtype T. It is kept here, or packed, alone
  // if nobody else has it.
  void set_constant_b(Tensor b) {
    // Smaller ones are read as they are where there are few rows.
    constexpr size_t kLarge = size_t{256} << 10;
    bool lets_go = b.byte_size() >= kLarge;
    constant_b_ = std::make_unique<KeptWeights>(std::move(b), lets_go);
  }
  // b is not read when a constant one was set. The addend of the epilogue may be c itself.
  Error Run(KernelContext& ctx, const BatchedShape& shape, const T* a, const T* b, T* c,
            const Epilogue<T>& epilogue) const;

 private:
  Expected<bool> RunOnednn(KernelContext& ctx, const BatchedShape& shape, const T* a, const T* b,
                           T* c, const Epilogue<T>& epilogue) const;
  Error RunInParts(KernelContext& ctx, const BatchedShape& shape, const GrapnelMatMulSpec& whole,
                   const T* a, const T* b, T* c, const T* bias) const;
  void RunPlain(KernelContext& ctx, const BatchedShape& shape, const T* a, const T* b, T* c,
                const Epilogue<T>& epilogue) const;

  std::unique_ptr<KeptWeights> constant_b_;
  OnednnCache<GrapnelMatMulSpec> primitives_;
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_LINALG_GEMM_H_
