// Matrix products of floats, doubles, complex numbers and integers: by loops of our own, by Eigen
// and, for large float products, by oneDNN.
#ifndef GRAPNEL_KERNELS_CPU_LINALG_GEMM_H_
#define GRAPNEL_KERNELS_CPU_LINALG_GEMM_H_

#include <vector>

#include "kernels/common/epilogue.h"
#include "kernels/common/onednn_loader.h"
#include "kernels/cpu/linalg/gemm_shape.h"

namespace grapnel {

// Runs on this thread. T is float, double, complex or any integer (which wraps). k may be 0, which
// gives zeros.
template <typename T>
void Gemm(const GemmShape& shape, const T* a, const T* b, T* c);

// A batch of products over matrices stored one after another. a_index and b_index list the matrices
// that product i takes; if a list is empty, product i takes matrix i, or matrix 0 if there is only
// one.
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

// The matrix products of one kernel. Caches oneDNN primitives for the shapes seen. Run is
// thread-safe.
template <typename T>
class MatMulRunner {
 public:
  // Sets the value of b, of dtype T, when it is the same in every run. Once oneDNN has packed a
  // large b, only the packed form is kept, in b's own memory if nothing else holds it.
  void set_constant_b(Tensor b) {
    // A smaller b also stays unpacked, because products with few rows read it unpacked.
    constexpr size_t kLarge = size_t{256} << 10;
    bool lets_go = b.byte_size() >= kLarge;
    constant_b_ = std::make_unique<KeptWeights>(std::move(b), lets_go);
  }
  // `b` is not read after set_constant_b(). The epilogue's addend must not share memory with c.
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
