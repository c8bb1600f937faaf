#include "lib/exec/tensor.h"

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "lib/exec/arena.h"
#include "lib/support/file.h"
#include "lib/support/memory_budget.h"

namespace grapnel {
namespace {

void* AlignedAlloc(size_t bytes) {
  size_t rounded =
      (std::max<size_t>(bytes, 1) + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  return rounded < bytes ? nullptr : std::aligned_alloc(kBufferAlignment, rounded);
}

class HeapBuffer : public Buffer {
 public:
  using Buffer::Buffer;
  ~HeapBuffer() override {
    std::free(data_);
    MemoryBudget::Get().Give(static_cast<int64_t>(size_));
  }
};

class Heap : public Allocator {
 public:
  Expected<BufferRef> Allocate(size_t bytes) override {
    MemoryBudget& budget = MemoryBudget::Get();
    if (bytes > INT64_MAX || !budget.Take(static_cast<int64_t>(bytes))) return MemoryRefused(bytes);
    void* data = AlignedAlloc(bytes);
    if (data) return BufferRef(new HeapBuffer(data, bytes));
    budget.Give(static_cast<int64_t>(bytes));
    return MemoryRefused(bytes);
  }
};

// A lock that is held for a few instructions, but taken for every small buffer that a kernel
// allocates or releases. Without contention it costs less than a mutex.
class SpinLock {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

// A pool with size classes, four for each power of two, so that less than a fifth of a buffer is
// unused if it has more than 256 bytes; smaller ones take 256 bytes.
class Pool : public Allocator {
  struct Shared;
  class IdleBuffers;
  class PoolBuffer : public Buffer {
   public:
    PoolBuffer(BufferRef memory, size_t size, size_t size_class, Shared* home)
        : Buffer(memory->data(), size, memory->device()),
          memory_(std::move(memory)),
          size_class_(size_class),
          home_(home) {}
    void Reuse(size_t size) { size_ = size; }

   private:
    void Destroy() override {
      Shared* home = home_;
      if (home->counter) home->counter->Sub(static_cast<int64_t>(size_));
      bool is_last;
      {
        std::lock_guard lock(home->mutex);
        home->idle[size_class_].Push(this);
        --home->in_use;
        is_last = home->pool_is_gone && home->in_use == 0;
      }
      if (is_last) delete home;
    }
    BufferRef memory_;
    size_t size_class_;
    Shared* home_;
    PoolBuffer* next_ = nullptr;  // in IdleBuffers, while this buffer is idle
    friend class IdleBuffers;
  };
  // A linked list of idle buffers that allocates nothing: buffers can be returned even when a run
  // ends because memory is exhausted.
  class IdleBuffers {
   public:
    IdleBuffers() = default;
    IdleBuffers(IdleBuffers&& other) noexcept : first_(std::exchange(other.first_, nullptr)) {}
    IdleBuffers& operator=(IdleBuffers&& other) noexcept {
      std::swap(first_, other.first_);
      return *this;
    }
    ~IdleBuffers() {
      while (PoolBuffer* buffer = Pop()) delete buffer;
    }
    void Push(PoolBuffer* buffer) { buffer->next_ = std::exchange(first_, buffer); }
    PoolBuffer* Pop() {  // null: empty
      return first_ ? std::exchange(first_, first_->next_) : nullptr;
    }

   private:
    PoolBuffer* first_ = nullptr;
  };
  // The state that a pool and its buffers share. Lives until the pool is destroyed and no buffer is
  // in use.
  struct Shared {
    SpinLock mutex;
    std::array<IdleBuffers, 4 * 65> idle;
    MemoryCounter* counter = nullptr;
    int64_t in_use = 0;
    bool pool_is_gone = false;
  };

  static size_t ClassOf(size_t bytes, size_t* capacity) {
    size_t rounded = std::max<size_t>(bytes, 256);
    int log = std::bit_width(rounded - 1) - 1;  // 2^log < rounded <= 2^(log+1)
    size_t base = size_t{1} << log, step = base / 4;
    size_t quarter = (rounded - base + step - 1) / step;
    *capacity = base + quarter * step;
    return log * 4 + quarter;
  }

 public:
  Pool(Allocator& source, MemoryCounter* counter) : source_(source), shared_(new Shared) {
    shared_->counter = counter;
    if (&source == &HeapAllocator()) large_ = MakeArena(IdleMemory::kKept, counter);
  }
  ~Pool() override {
    bool is_last;
    {
      std::lock_guard lock(shared_->mutex);
      shared_->pool_is_gone = true;
      is_last = shared_->in_use == 0;
    }
    if (is_last) delete shared_;
  }

  Expected<BufferRef> Allocate(size_t bytes) override {
    if (bytes > (size_t{1} << 62)) return MemoryRefused(bytes);
    if (large_ && bytes >= kLarge) return large_->Allocate(bytes);
    size_t capacity;
    size_t size_class = ClassOf(bytes, &capacity);
    {
      std::lock_guard lock(shared_->mutex);
      if (PoolBuffer* buffer = shared_->idle[size_class].Pop()) {
        ++shared_->in_use;
        buffer->Reuse(bytes);
        Count(bytes);
        return BufferRef(buffer);
      }
    }
    auto memory = source_.Allocate(capacity);
    if (!memory) {
      // Freeing the idle buffers of other sizes may make enough memory available.
      llvm::consumeError(memory.takeError());
      DropIdle();
      memory = source_.Allocate(capacity);
      if (!memory) return memory.takeError();
    }
    Count(bytes);
    {
      std::lock_guard lock(shared_->mutex);
      ++shared_->in_use;
    }
    return BufferRef(new PoolBuffer(std::move(*memory), bytes, size_class, shared_));
  }

 private:
  void DropIdle() {
    decltype(shared_->idle) idle;
    {
      std::lock_guard lock(shared_->mutex);
      std::swap(idle, shared_->idle);
    }
  }
  void Count(size_t bytes) {
    if (shared_->counter) shared_->counter->Add(static_cast<int64_t>(bytes));
  }

  static constexpr size_t kLarge = size_t{32} << 10;

  Allocator& source_;
  std::unique_ptr<Allocator> large_;  // null: all sizes have classes, as on a device
  Shared* shared_;
};

// A buffer of elements with destructors: strings and object references. The heap memory of a string
// does not count in the memory budget.
template <typename T>
class ElementBuffer : public Buffer {
 public:
  static Expected<BufferRef> Make(int64_t count) {
    int64_t bytes = 0;
    if (__builtin_mul_overflow(count, static_cast<int64_t>(sizeof(T)), &bytes))
      return MemoryRefused(UINT64_MAX);
    if (!MemoryBudget::Get().Take(bytes)) return MemoryRefused(bytes);
    std::unique_ptr<T[]> elements(new (std::nothrow) T[count]);
    if (elements) return BufferRef(new ElementBuffer(std::move(elements), bytes));
    MemoryBudget::Get().Give(bytes);
    return MemoryRefused(bytes);
  }
  ~ElementBuffer() override { MemoryBudget::Get().Give(static_cast<int64_t>(size_)); }

 private:
  ElementBuffer(std::unique_ptr<T[]> elements, int64_t bytes)
      : Buffer(elements.get(), bytes), elements_(std::move(elements)) {}
  std::unique_ptr<T[]> elements_;
};

// A read-only buffer that shares a literal's bytes and keeps the literal alive.
class LiteralBuffer : public Buffer {
 public:
  explicit LiteralBuffer(Literal literal)
      : Buffer(const_cast<char*>(literal.bytes().data()), literal.bytes().size()),
        literal_(std::move(literal)) {
    read_only_ = true;
  }

 private:
  Literal literal_;
};

// A LiteralBuffer for a large constant that is read once: its destructor drops the constant's
// memory pages.
class BorrowedBuffer : public LiteralBuffer {
 public:
  using LiteralBuffer::LiteralBuffer;
  ~BorrowedBuffer() override { DropPages({static_cast<const char*>(data_), size_}); }
  // With a non-null `owner`, tensors may overwrite the memory if the buffer has no other owner.
  void Own(std::shared_ptr<const void> owner) {
    owner_ = std::move(owner);
    read_only_ = !owner_;
  }

 private:
  std::shared_ptr<const void> owner_;
};

size_t AlignmentOf(DataType dtype) { return std::min<size_t>(DataTypeSize(dtype), 16); }

}  // namespace

Allocator& HeapAllocator() {
  static Heap heap;
  return heap;
}

std::unique_ptr<Allocator> MakePoolAllocator(Allocator& source, MemoryCounter* counter) {
  return std::make_unique<Pool>(source, counter);
}

Tensor::Tensor(DataType dtype, llvm::ArrayRef<int64_t> dims, BufferRef buffer, size_t offset)
    : dtype_(dtype), dims_(dims.begin(), dims.end()), offset_(offset), buffer_(std::move(buffer)) {
  num_elements_ = NumElements(dims).value_or(0);
}

Expected<Tensor> Tensor::Allocate(DataType dtype, llvm::ArrayRef<int64_t> dims,
                                  Allocator& allocator) {
  std::optional<int64_t> count = NumElements(dims);
  int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, std::max<int64_t>(DataTypeSize(dtype), 1), &bytes)) {
    return llvm::make_error<OutOfMemory>(
        llvm::formatv("a tensor of shape {0} is larger than memory", DimsText(dims)).str());
  }
  bool has_no_elements = DataTypeSize(dtype) == 0 && dtype != proto::DT_STRING && !IsObject(dtype);
  if (has_no_elements)
    return MakeError("cannot make a tensor of dtype {0}: the size of its elements is not known",
                     DataTypeName(dtype));
  auto buffer = dtype == proto::DT_STRING ? ElementBuffer<std::string>::Make(*count)
                : IsObject(dtype)         ? ElementBuffer<ObjectRef>::Make(*count)
                                          : allocator.Allocate(bytes);
  if (!buffer) {
    return llvm::make_error<OutOfMemory>((DataTypeName(dtype) + DimsText(dims) + ": ").str() +
                                         TextOf(buffer.takeError()));
  }
  return Tensor(dtype, dims, std::move(*buffer));
}

Expected<Tensor> Tensor::FromLiteral(const Literal& literal, Allocator& allocator) {
  size_t size = DataTypeSize(literal.dtype());
  if (size && !literal.is_splat()) {
    Tensor tensor(literal.dtype(), literal.dims(), BufferRef(new LiteralBuffer(literal)));
    if (tensor.IsAligned()) return tensor;
  }
  ASSIGN_OR_RETURN(Tensor tensor, Allocate(literal.dtype(), literal.dims(), allocator));
  if (literal.dtype() == proto::DT_STRING) {
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      tensor.data<std::string>()[i] = literal.strings()[literal.strings().size() == 1 ? 0 : i];
    }
    return tensor;
  }
  char* out = static_cast<char*>(tensor.raw());
  if (literal.is_splat()) {
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      std::memcpy(out + i * size, literal.bytes().data(), size);
  } else if (!literal.bytes().empty()) {
    std::memcpy(out, literal.bytes().data(), literal.bytes().size());
  }
  return tensor;
}

Tensor Tensor::Borrow(const Literal& literal) {
  assert(DataTypeSize(literal.dtype()) && !literal.is_splat());
  return Tensor(literal.dtype(), literal.dims(), BufferRef(new BorrowedBuffer(literal)));
}

void Tensor::GiveOwner(const Tensor& borrowed, std::shared_ptr<const void> owner) {
  assert(dynamic_cast<BorrowedBuffer*>(borrowed.buffer().get()));
  static_cast<BorrowedBuffer*>(borrowed.buffer().get())->Own(std::move(owner));
}

bool Tensor::IsAligned() const {
  if (!buffer_ || DataTypeSize(dtype_) == 0) return true;
  return reinterpret_cast<uintptr_t>(device_data()) % AlignmentOf(dtype_) == 0;
}

Expected<Tensor> Tensor::Aligned(const Tensor& tensor, Allocator& allocator) {
  if (tensor.IsAligned()) return tensor;
  ASSIGN_OR_RETURN(Tensor copy, Allocate(tensor.dtype(), tensor.dims(), allocator));
  std::memcpy(copy.raw(), tensor.raw(), tensor.byte_size());
  return copy;
}

Tensor Tensor::OfObject(DataType dtype, ObjectRef object) {
  Tensor tensor = llvm::cantFail(Allocate(dtype, {}));
  *tensor.data<ObjectRef>() = std::move(object);
  return tensor;
}

Literal Tensor::ToLiteral() const {
  assert(!HoldsObjects());
  if (dtype_ == proto::DT_STRING) {
    const std::string* strings = data<std::string>();
    return Literal::MakeStrings(dims_, std::vector<std::string>(strings, strings + num_elements_));
  }
  auto owner = std::make_shared<BufferRef>(buffer_);
  return Literal::Borrow(dtype_, dims_, {static_cast<const char*>(raw()), byte_size()}, owner);
}

Tensor Tensor::Reshaped(llvm::ArrayRef<int64_t> dims) const {
  Tensor result(dtype_, dims, buffer_, offset_);
  assert(result.num_elements_ == num_elements_);
  return result;
}

Tensor Tensor::Bitcast(DataType dtype) const {
  assert(DataTypeSize(dtype) == DataTypeSize(dtype_));
  return Tensor(dtype, dims_, buffer_, offset_);
}

Tensor Tensor::Slice(int64_t begin, int64_t end) const {
  assert(rank() > 0 && begin >= 0 && begin <= end && end <= dims_[0]);
  Dims dims = dims_;
  size_t size = dtype_ == proto::DT_STRING ? sizeof(std::string)
                : HoldsObjects()           ? sizeof(ObjectRef)
                                           : DataTypeSize(dtype_);
  size_t row = dims[0] ? num_elements_ / dims[0] * size : 0;
  dims[0] = end - begin;
  return Tensor(dtype_, dims, buffer_, offset_ + begin * row);
}

int64_t Tensor::IntAt(int64_t i) const {
  switch (DataTypeSize(dtype_)) {
    case 1:
      return dtype_ == proto::DT_UINT8 || dtype_ == proto::DT_QUINT8 || dtype_ == proto::DT_BOOL
                 ? data<uint8_t>()[i]
                 : data<int8_t>()[i];
    case 2:
      return dtype_ == proto::DT_UINT16 || dtype_ == proto::DT_QUINT16 ? data<uint16_t>()[i]
                                                                       : data<int16_t>()[i];
    case 4:
      return dtype_ == proto::DT_UINT32 ? int64_t{data<uint32_t>()[i]} : data<int32_t>()[i];
    default:
      return data<int64_t>()[i];
  }
}

std::string Tensor::ToString(int limit) const {
  if (!*this) return "no tensor";
  if (HoldsObjects()) {
    std::string text = (DataTypeName(dtype_) + DimsText(dims_)).str();
    for (int64_t i = 0; i < std::min<int64_t>(num_elements_, limit); ++i) {
      const ObjectRef& object = data<ObjectRef>()[i];
      text += (i ? ", " : " ") + (object ? object->ToString() : "nothing");
    }
    return text;
  }
  return (DataTypeName(dtype_) + DimsText(dims_) + " " + ToLiteral().ToString(limit)).str();
}

}  // namespace grapnel
