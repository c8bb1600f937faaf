// A compact list that stores its first elements inline, for data that occurs millions of times.
#ifndef GRAPNEL_LIB_SUPPORT_SHORT_LIST_H_
#define GRAPNEL_LIB_SUPPORT_SHORT_LIST_H_

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Stores up to N elements of a trivially copyable type inline, and more on the heap. Takes 8 bytes
// less than llvm::SmallVector, which stores a pointer in addition. At most 2^31 elements; adding an
// element invalidates iterators.
template <typename T, uint32_t N>
class ShortList {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) * N >= sizeof(T*));

 public:
  ShortList() {}  // NOLINT(modernize-use-equals-default): the union has no default
  ShortList(const ShortList& other) { Assign(other); }
  ShortList(ShortList&& other) noexcept { Take(other); }
  ShortList& operator=(const ShortList& other) {
    if (this == &other) return *this;
    Free();
    Assign(other);
    return *this;
  }
  ShortList& operator=(ShortList&& other) noexcept {
    if (this == &other) return *this;
    Free();
    Take(other);
    return *this;
  }
  ~ShortList() { Free(); }

  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return capacity_ == N ? here_ : there_; }
  const T* begin() const { return capacity_ == N ? here_ : there_; }
  T* end() { return begin() + size_; }
  const T* end() const { return begin() + size_; }
  T& operator[](size_t i) {
    assert(i < size_);
    return begin()[i];
  }
  const T& operator[](size_t i) const {
    assert(i < size_);
    return begin()[i];
  }
  T& back() { return (*this)[size_ - 1]; }
  operator llvm::ArrayRef<T>() const { return {begin(), size_}; }  // NOLINT: as of any list

  void push_back(T element) {
    if (size_ == capacity_) Grow();
    begin()[size_++] = element;
  }
  void pop_back() {
    assert(size_);
    --size_;
  }
  void insert(size_t at, T element) {  // before the element at `at`
    assert(at <= size_);
    push_back(element);
    std::rotate(begin() + at, end() - 1, end());
  }
  void clear() { size_ = 0; }

 private:
  void Assign(const ShortList& other) {
    size_ = other.size_;
    capacity_ = N;
    if (size_ > N) {
      capacity_ = size_;
      there_ = std::allocator<T>().allocate(capacity_);
    }
    std::copy(other.begin(), other.end(), begin());
  }
  void Take(ShortList& other) {
    size_ = other.size_;
    capacity_ = other.capacity_;
    if (capacity_ == N)
      std::copy(other.here_, other.here_ + N, here_);
    else
      there_ = other.there_;
    other.size_ = 0;
    other.capacity_ = N;
  }
  void Grow() {
    uint32_t more = 2 * capacity_;
    T* elements = std::allocator<T>().allocate(more);
    std::copy(begin(), end(), elements);
    Free();
    there_ = elements;
    capacity_ = more;
  }
  void Free() {
    if (capacity_ != N) std::allocator<T>().deallocate(there_, capacity_);
  }

  uint32_t size_ = 0;
  uint32_t capacity_ = N;  // if N, the elements are in here_, otherwise at there_
  union {
    T here_[N];
    T* there_;
  };
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_SHORT_LIST_H_
