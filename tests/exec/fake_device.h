// A device in host memory that host code cannot mistake for host memory: its bytes are scrambled,
// its work runs only when a thread waits for it, and freed memory is overwritten.
#ifndef GRAPNEL_TESTS_EXEC_FAKE_DEVICE_H_
#define GRAPNEL_TESTS_EXEC_FAKE_DEVICE_H_

#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "lib/exec/device.h"

namespace grapnel {

class FakeStream : public Stream {
 public:
  void Queue(std::function<Error()> work) {
    std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    ++queued_;
  }
  Error Wait() override { return RunTo(queued()); }
  uint64_t queued() const {
    std::lock_guard lock(mutex_);
    return queued_;
  }
  // Runs the work queued before `end`, up to the first failure, which every later call repeats.
  Error RunTo(uint64_t end) {
    std::unique_lock lock(mutex_);
    while (done_ < end && failure_.empty()) {
      std::function<Error()> next = std::move(work_.front());
      work_.pop_front();
      ++done_;
      lock.unlock();
      Error error = next();
      lock.lock();
      if (error) failure_ = TextOf(std::move(error));
    }
    return failure_.empty() ? Error::success() : MakeError("{0}", failure_);
  }

 private:
  mutable std::mutex mutex_;
  std::deque<std::function<Error()>> work_;
  uint64_t queued_ = 0, done_ = 0;
  std::string failure_;
};

class FakeEvent : public Event {
 public:
  Error Record(Stream& stream) override {
    stream_ = &static_cast<FakeStream&>(stream);
    position_ = stream_->queued();
    return Error::success();
  }
  Error Wait() override { return stream_ ? stream_->RunTo(position_) : Error::success(); }
  Error MakeWait(Stream& stream) override {
    static_cast<FakeStream&>(stream).Queue(
        [stream = stream_, position = position_] { return stream->RunTo(position); });
    return Error::success();
  }

 private:
  FakeStream* stream_ = nullptr;
  uint64_t position_ = 0;
};

class FakeDevice : public Device {
 public:
  static constexpr uint8_t kScramble = 0xA5;

  explicit FakeDevice(int ordinal) : Device("FAKE", ordinal), allocator_(*this) {}
  Allocator& allocator() override { return allocator_; }
  Expected<std::unique_ptr<Stream>> NewStream() override { return std::make_unique<FakeStream>(); }
  Expected<std::unique_ptr<Event>> NewEvent() override { return std::make_unique<FakeEvent>(); }
  Error Copy(void* to, const void* from, size_t bytes, Way way, Stream& stream) override {
    ++copies;
    auto* queue = static_cast<FakeStream*>(&stream);
    auto move = [=](const void* source) {
      uint8_t mask = way == Way::kInside ? 0 : kScramble;
      for (size_t i = 0; i < bytes; ++i)
        static_cast<uint8_t*>(to)[i] = static_cast<const uint8_t*>(source)[i] ^ mask;
      return Error::success();
    };
    if (way != Way::kFromHost) {
      queue->Queue([=] { return move(from); });
      return Error::success();
    }
    const auto* bytes_of = static_cast<const char*>(from);
    queue->Queue([=, staged = std::vector<char>(bytes_of, bytes_of + bytes)] {
      return move(staged.data());
    });
    return Error::success();
  }

  std::atomic<int> allocations{0}, living{0}, copies{0}, launches{0};

 private:
  class FakeBuffer : public Buffer {
   public:
    FakeBuffer(void* data, size_t size, FakeDevice& device) : Buffer(data, size, &device) {
      ++device.allocations;
      ++device.living;
    }
    ~FakeBuffer() override {
      --static_cast<FakeDevice*>(device())->living;
      std::memset(data_, 0xDD, size_);
      ::operator delete(data_);
    }
  };
  class FakeAllocator : public Allocator {
   public:
    explicit FakeAllocator(FakeDevice& device) : device_(device) {}
    Expected<BufferRef> Allocate(size_t bytes) override {
      return BufferRef(new FakeBuffer(::operator new(bytes + 1), bytes, device_));
    }

   private:
    FakeDevice& device_;
  };
  FakeAllocator allocator_;
};

// An element in the device's memory.
template <typename T>
T LoadFake(const void* data, int64_t i) {
  uint8_t bytes[sizeof(T)];
  std::memcpy(bytes, static_cast<const uint8_t*>(data) + i * sizeof(T), sizeof(T));
  for (uint8_t& byte : bytes) byte ^= FakeDevice::kScramble;
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}
template <typename T>
void StoreFake(void* data, int64_t i, T value) {
  uint8_t bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  for (uint8_t& byte : bytes) byte ^= FakeDevice::kScramble;
  std::memcpy(static_cast<uint8_t*>(data) + i * sizeof(T), bytes, sizeof(T));
}

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_EXEC_FAKE_DEVICE_H_
