// Tensors with values: a dtype, dimensions and a shared buffer.
#ifndef GRAPNEL_LIB_EXEC_TENSOR_H_
#define GRAPNEL_LIB_EXEC_TENSOR_H_

#include <atomic>
#include <cassert>
#include <memory>
#include <string>
#include <utility>

#include "lib/ir/literal.h"
#include "lib/ir/shape.h"
#include "lib/ir/types.h"
#include "lib/support/error.h"
#include "lib/support/public.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"

namespace grapnel {

class Device;  // lib/exec/device.h

// A reference-counted piece of memory of one device. When the last owner releases it, the memory is
// freed or returns to its pool (Destroy).
class GRAPNEL_PUBLIC Buffer {
 public:
  Buffer(void* data, size_t size, Device* device = nullptr)
      : data_(data), size_(size), device_(device) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  virtual ~Buffer() = default;

  void* data() const { return data_; }
  size_t size() const { return size_; }
  // The device of the memory; null: the host.
  Device* device() const { return device_; }
  // True if the buffer has another owner or its memory is read-only: then do not write to it.
  bool IsShared() const { return read_only_ || owners_.load(std::memory_order_acquire) != 1; }

  void Retain() { owners_.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) Destroy();
  }

 protected:
  virtual void Destroy() { delete this; }
  void* data_;
  size_t size_;
  Device* device_;
  bool read_only_ = false;
  std::atomic<int> owners_{0};
};
using BufferRef = llvm::IntrusiveRefCntPtr<Buffer>;

// Allocates buffers. Thread-safe. Memory is aligned to 64 bytes and not initialized.
class GRAPNEL_PUBLIC Allocator {
 public:
  virtual ~Allocator() = default;
  // Returns an error if there is not enough memory; never a null buffer.
  virtual Expected<BufferRef> Allocate(size_t bytes) = 0;
};

// Counts bytes in use, and their peak. Thread-safe.
class GRAPNEL_PUBLIC MemoryCounter {
 public:
  void Add(int64_t bytes) {
    int64_t live = live_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    int64_t peak = peak_.load(std::memory_order_relaxed);
    while (live > peak && !peak_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
    }
  }
  void Sub(int64_t bytes) { live_.fetch_sub(bytes, std::memory_order_relaxed); }
  int64_t live() const { return live_.load(std::memory_order_relaxed); }
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> live_{0}, peak_{0};
};

// A value of the runtime, referenced by an element of a variant tensor (a list of tensors) or of a
// resource tensor (a variable, a table). Elements of such tensors are references to objects. A
// variant's object may be changed only by its single owner (IsShared); a resource's object is
// thread-safe.
class GRAPNEL_PUBLIC Object {
 public:
  virtual ~Object() = default;
  virtual std::string ToString() const = 0;  // such as "list of 3 float[2]"
  bool IsShared() const { return owners_.load(std::memory_order_acquire) != 1; }

  void Retain() { owners_.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  std::atomic<int> owners_{0};
};
using ObjectRef = llvm::IntrusiveRefCntPtr<Object>;

// An allocator of plain aligned memory, without reuse, limited by the process's budget
// (lib/support/memory_budget.h).
GRAPNEL_PUBLIC Allocator& HeapAllocator();

// An allocator for data that is written once and then only read, such as weights that a kernel has
// packed. It asks the system for huge pages, and returns the pages of freed buffers to the system
// at once.
GRAPNEL_PUBLIC Allocator& WeightAllocator();

// Returns a pool that reuses freed buffers by size class, so that later runs of a graph take little
// memory from the system. Takes memory from `source`, which must outlive the pool's buffers; but if
// `source` is HeapAllocator(), buffers of 32 KiB or more come from an arena (lib/exec/arena.h). The
// buffers may outlive the pool. `counter`, which may be null, counts the bytes in use, and must
// outlive the buffers.
GRAPNEL_PUBLIC std::unique_ptr<Allocator> MakePoolAllocator(Allocator& source = HeapAllocator(),
                                                            MemoryCounter* counter = nullptr);

// A tensor is cheap to copy: copies share the buffer. Only a tensor that is the buffer's single
// owner (Buffer::IsShared) may be written to, such as an output that a kernel has just allocated.
class GRAPNEL_PUBLIC Tensor {
 public:
  Tensor() = default;  // an empty Tensor, which means no value, such as an output not set yet
  // Written by hand to be fast for scalars, which have no dims to copy: loops copy many scalars.
  Tensor(const Tensor& other)
      : dtype_(other.dtype_),
        num_elements_(other.num_elements_),
        offset_(other.offset_),
        buffer_(other.buffer_) {
    if (!other.dims_.empty()) dims_ = other.dims_;
  }
  Tensor(Tensor&& other) noexcept
      : dtype_(std::exchange(other.dtype_, proto::DT_INVALID)),
        num_elements_(other.num_elements_),
        offset_(other.offset_),
        buffer_(std::move(other.buffer_)) {
    if (!other.dims_.empty()) dims_ = std::move(other.dims_);
  }
  Tensor& operator=(const Tensor& other) {
    if (this != &other) *this = Tensor(other);
    return *this;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    dtype_ = std::exchange(other.dtype_, proto::DT_INVALID);
    if (!dims_.empty() || !other.dims_.empty()) dims_ = std::move(other.dims_);
    num_elements_ = other.num_elements_;
    offset_ = other.offset_;
    buffer_ = std::move(other.buffer_);
    return *this;
  }
  // `buffer` holds the elements, starting at byte `offset`.
  Tensor(DataType dtype, llvm::ArrayRef<int64_t> dims, BufferRef buffer, size_t offset = 0);
  // Allocates an uninitialized tensor. Errors: an OutOfMemory if there is not enough memory; a
  // dtype whose elements have no known size.
  static Expected<Tensor> Allocate(DataType dtype, llvm::ArrayRef<int64_t> dims,
                                   Allocator& allocator = HeapAllocator());
  // Returns a tensor with the literal's value. Shares the bytes of a numeric literal that is not a
  // splat, if they are aligned; copies all others, and expands a splat.
  static Expected<Tensor> FromLiteral(const Literal& literal,
                                      Allocator& allocator = HeapAllocator());
  // Returns a tensor that shares the literal's bytes at any address: elements may be unaligned, see
  // IsAligned. Only for numeric literals that are not splats. Pages of a mapped file are dropped
  // with the last tensor (DropPages).
  static Tensor Borrow(const Literal& literal);
  // Makes `owner`, the owner of the literal's bytes, live as long as the buffer of `borrowed`,
  // which Borrow returned. The buffer's single owner may then overwrite the bytes; a null `owner`
  // leaves them read-only.
  static void GiveOwner(const Tensor& borrowed, std::shared_ptr<const void> owner);
  // True if the address of the elements is a multiple of their size; always true for strings,
  // variants and resources. False for some tensors that share memory which grapnel did not
  // allocate, such as those that Borrow returned.
  bool IsAligned() const;
  // Returns the tensor itself if it is aligned, else an aligned copy.
  static Expected<Tensor> Aligned(const Tensor& tensor, Allocator& allocator = HeapAllocator());
  // Returns a tensor of this dtype and dims without elements: the input of a kernel that keeps the
  // constant itself (KernelDef::keeps).
  Tensor WithoutElements() const { return Tensor(dtype_, dims_, BufferRef()); }
  // Returns a scalar of dtype variant or resource that refers to `object`.
  static Tensor OfObject(DataType dtype, ObjectRef object);
  // Returns the value as a literal, which for numeric dtypes shares the buffer. Not for tensors
  // with HoldsObjects().
  Literal ToLiteral() const;

  explicit operator bool() const { return dtype_ != proto::DT_INVALID; }
  DataType dtype() const { return dtype_; }
  llvm::ArrayRef<int64_t> dims() const { return dims_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t dim(int i) const { return dims_[i]; }
  int64_t num_elements() const { return num_elements_; }
  size_t byte_size() const { return num_elements_ * DataTypeSize(dtype_); }  // 0 if not numeric
  // True for dtypes variant and resource, whose elements exist only in this process.
  bool HoldsObjects() const { return IsObject(dtype_); }
  static bool IsObject(DataType dtype) {
    return dtype == proto::DT_VARIANT || dtype == proto::DT_RESOURCE;
  }

  // The device of the elements; null: host memory. data(), raw() and functions that read elements
  // work only in host memory; device_data() returns the address of the elements in the memory of
  // any device.
  Device* device() const { return buffer_ ? buffer_->device() : nullptr; }
  void* device_data() { return static_cast<char*>(buffer_->data()) + offset_; }
  const void* device_data() const { return static_cast<const char*>(buffer_->data()) + offset_; }

  // The elements, row-major. T is the C++ type of dtype(): Eigen::half and Eigen::bfloat16 for the
  // 16-bit floats, std::complex, bool, std::string for DT_STRING, ObjectRef (null: no value yet)
  // for variants and resources, and the integer of the same size for quantized types.
  template <typename T>
  T* data() {
    assert(sizeof(T) == DataTypeSize(dtype_) || DataTypeSize(dtype_) == 0);
    return static_cast<T*>(raw());
  }
  template <typename T>
  const T* data() const {
    return const_cast<Tensor*>(this)->data<T>();
  }
  void* raw() {
    assert(!buffer_->device());
    return device_data();
  }
  const void* raw() const { return const_cast<Tensor*>(this)->raw(); }

  const BufferRef& buffer() const { return buffer_; }
  size_t offset() const { return offset_; }
  // True if the buffer has no other owner, so that this tensor may overwrite it.
  bool OwnsAlone() const { return buffer_ && !buffer_->IsShared(); }

  // Returns a tensor that shares the elements and has other dims, with the same number of elements.
  Tensor Reshaped(llvm::ArrayRef<int64_t> dims) const;
  // Returns a tensor that shares the bytes and has another dtype of the same element size.
  Tensor Bitcast(DataType dtype) const;
  // Returns the slice [begin, end) of the first dimension, which shares the buffer.
  Tensor Slice(int64_t begin, int64_t end) const;

  // Returns element `i` of a tensor of any integer dtype, or of bool, as an int64.
  int64_t IntAt(int64_t i) const;

  // Returns the dtype, the dims and at most `limit` elements: `float[2,3] [1,2,3,...]`.
  std::string ToString(int limit = 8) const;

 private:
  DataType dtype_ = proto::DT_INVALID;
  Dims dims_;
  int64_t num_elements_ = 0;
  size_t offset_ = 0;
  BufferRef buffer_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_TENSOR_H_
