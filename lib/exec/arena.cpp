#include "lib/exec/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "lib/support/memory_budget.h"

// In builds with AddressSanitizer, a red zone follows each buffer, and the ASAN_ macros mark which
// memory is idle. In other builds there is no red zone, and the macros do nothing.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define GRAPNEL_RED_ZONE 64
#endif
#endif
#ifndef GRAPNEL_RED_ZONE
#define GRAPNEL_RED_ZONE 0
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

namespace grapnel {
namespace {

constexpr size_t kPage = 4096, kHugePage = size_t{2} << 20;
// The usual size of a range of addresses (see NewRange). Reserving addresses takes no memory, so a
// range is large enough for all buffers of most runs; pieces that are idle can merge across all of
// it.
constexpr size_t kRange = size_t{256} << 20;
// When a piece is split for a buffer, a remainder smaller than this stays part of the buffer.
constexpr size_t kSmallestPiece = 4096;
constexpr size_t kRedZone = GRAPNEL_RED_ZONE;

size_t RoundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

// A reserved range of addresses; its first `used` bytes are divided into pieces.
struct Range {
  char* begin = nullptr;
  size_t size = 0, used = 0;
};

struct Arena;

// A part of a range: a buffer in use, or idle memory.
struct Piece : Buffer {
  Piece(Arena* home, Range* range) : Buffer(nullptr, 0), home(home), range(range) {}
  void Destroy() override;
  void Reset(void* data, size_t size) {
    data_ = data;
    size_ = size;
  }
  char* at() const { return static_cast<char*>(data_); }

  Arena* home;
  Range* range;
  size_t bytes = 0;                           // size of the piece; size() is the requested size
  Piece *before = nullptr, *after = nullptr;  // neighbors in the range
  bool is_idle = false;
  bool is_resident = false;  // of an idle piece: it still has its pages, which the budget counts
  struct Smaller {
    bool operator()(const Piece* a, const Piece* b) const {
      return a->bytes != b->bytes ? a->bytes < b->bytes : a->data() < b->data();
    }
  };
  std::set<Piece*, Smaller>::node_type node;  // while in use: the node for Arena::idle, for reuse
};

// The allocator behind MakeArena. It lives as long as its handle or any of its buffers.
struct Arena {
  Arena(IdleMemory what, MemoryCounter* told) : idle_memory(what), counter(told) {}
  ~Arena() {
    for (Piece* piece : all) delete piece;
    for (const auto& range : ranges) {
      ASAN_UNPOISON_MEMORY_REGION(range->begin, range->size);
      munmap(range->begin, range->size);
    }
    MemoryBudget::Get().Give(static_cast<int64_t>(counted));
  }

  Expected<BufferRef> Take(size_t bytes) {
    size_t wanted = RoundUp(std::max<size_t>(bytes, 1), kBufferAlignment) + kRedZone;
    std::lock_guard lock(mutex);
    auto take = [&] {
      Piece* piece = TakeIdle(wanted);
      return piece ? piece : TakeNew(wanted);
    };
    Piece* piece = take();
    if (!piece) {  // returning the idle pieces to the system may free enough of the budget
      for (Piece* idle_piece : idle) GiveBack(*idle_piece);
      piece = take();
    }
    if (!piece) return MemoryRefused(bytes);
    piece->Reset(piece->data(), bytes);
    ASAN_UNPOISON_MEMORY_REGION(piece->data(), bytes);
    if (counter) counter->Add(static_cast<int64_t>(bytes));
    ++in_use;
    return BufferRef(piece);
  }

  // Makes the piece of a released buffer idle. Returns true if the arena has no handle and no
  // buffer left, and must be deleted.
  bool TakeBack(Piece* piece) {
    if (counter) counter->Sub(static_cast<int64_t>(piece->size()));
    std::lock_guard lock(mutex);
    ASAN_POISON_MEMORY_REGION(piece->data(), piece->bytes);
    piece->is_resident = true;
    if (idle_memory == IdleMemory::kGivenBack) GiveBack(*piece);
    if (Piece* after = piece->after; after && after->is_idle) Join(piece, after);
    if (Piece* before = piece->before; before && before->is_idle) {
      Join(before, piece);  // merges it into `before`
      piece = before;
    }
    MakeIdle(piece);
    --in_use;
    return is_abandoned && in_use == 0;
  }

  bool Abandon() {
    std::lock_guard lock(mutex);
    is_abandoned = true;
    return in_use == 0;
  }

 private:
  Piece* NewPiece(Range* range) {
    if (!spare.empty()) {
      Piece* piece = spare.back();
      spare.pop_back();
      piece->range = range;
      piece->before = piece->after = nullptr;
      return piece;
    }
    return all.emplace_back(new Piece(this, range));
  }

  void MakeIdle(Piece* piece) {
    piece->is_idle = true;
    if (piece->node.empty()) {
      idle.insert(piece);
    } else {
      piece->node.value() = piece;
      idle.insert(std::move(piece->node));
    }
  }
  void MakeBusy(Piece* piece) {
    piece->node = idle.extract(piece);
    piece->is_idle = false;
  }

  Piece* TakeIdle(size_t wanted) {
    Piece least(nullptr, nullptr);
    least.bytes = wanted;
    auto found = idle.lower_bound(&least);
    if (found == idle.end()) return nullptr;
    Piece* piece = *found;
    if (!piece->is_resident && !Count(wanted)) return nullptr;
    MakeBusy(piece);
    if (piece->bytes - wanted >= kSmallestPiece) {
      Piece* rest = NewPiece(piece->range);
      rest->Reset(piece->at() + wanted, 0);
      rest->bytes = piece->bytes - wanted;
      rest->is_resident = piece->is_resident;
      Link(piece, rest);
      piece->bytes = wanted;
      MakeIdle(rest);
    } else if (!piece->is_resident && !Count(piece->bytes - wanted)) {
      Uncount(wanted);
      MakeIdle(piece);
      return nullptr;
    }
    return piece;
  }

  // Makes a buffer at the end of the last range: extends the last piece if that is idle, else
  // appends a piece. If the range has no room, makes a new range. Returns null if the budget or the
  // system refuses.
  Piece* TakeNew(size_t wanted) {
    Range* range = ranges.empty() ? nullptr : ranges.back().get();
    Piece* last = range ? last_piece : nullptr;
    size_t has = last && last->is_idle ? last->bytes : 0;
    if (has >= wanted) return nullptr;  // TakeIdle failed although it fits: the budget is exhausted
    bool fits = range && range->size - range->used >= wanted - has;
    // Count the bytes in the budget first, so that no addresses are reserved for memory that the
    // budget refuses.
    size_t uncounted = fits && has && last->is_resident ? wanted - has : wanted;
    if (!Count(uncounted)) return nullptr;
    if (!fits) {
      range = NewRange(wanted);
      if (!range) {
        Uncount(uncounted);
        return nullptr;
      }
      last = nullptr;
      has = 0;
    }
    Piece* piece = last;
    if (has) {
      MakeBusy(piece);
    } else {
      piece = NewPiece(range);
      piece->Reset(range->begin + range->used, 0);
      if (last) Link(last, piece);
    }
    range->used += wanted - has;
    piece->bytes = wanted;
    last_piece = piece;
    return piece;
  }

  // Requests huge pages, except for the first 2 MiB of a range: small pages are enough for small
  // runs. Where the system allows huge pages, they cost a hundredth of the page faults.
  Range* NewRange(size_t wanted) {
    size_t size = std::max(kRange, RoundUp(wanted, kHugePage));
    auto map = [](size_t bytes) {
      void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      return at == MAP_FAILED ? nullptr : static_cast<char*>(at);
    };
    char* at = map(size);
    if (!at) {  // the process may have a limit on addresses
      size = RoundUp(wanted, kPage);
      at = map(size);
    }
    if (!at) return nullptr;
    if (size > kHugePage) madvise(at + kHugePage, size - kHugePage, MADV_HUGEPAGE);
    ASAN_POISON_MEMORY_REGION(at, size);
    auto range = std::make_unique<Range>();
    range->begin = at;
    range->size = size;
    last_piece = nullptr;
    return ranges.emplace_back(std::move(range)).get();
  }

  void Link(Piece* piece, Piece* next) {
    next->before = piece;
    next->after = piece->after;
    if (next->after) next->after->before = next;
    piece->after = next;
    if (last_piece == piece) last_piece = next;
  }

  // Merges `next` into the piece before it, `piece`, and removes both from the set of idle pieces.
  void Join(Piece* piece, Piece* next) {
    if (piece->is_idle) MakeBusy(piece);
    if (next->is_idle) MakeBusy(next);
    if (piece->is_resident != next->is_resident) GiveBack(piece->is_resident ? *piece : *next);
    piece->bytes += next->bytes;
    piece->after = next->after;
    if (piece->after) piece->after->before = piece;
    if (last_piece == next) last_piece = piece;
    next->is_resident = false;
    spare.push_back(next);
  }

  // Returns the whole pages of a piece that no buffer uses to the system; the pages read as zero
  // later.
  void GiveBack(Piece& piece) {
    if (!piece.is_resident) return;
    // A range begins on a page boundary, so an offset in it can be rounded to pages.
    size_t from = piece.at() - piece.range->begin;
    size_t begin = RoundUp(from, kPage), end = (from + piece.bytes) / kPage * kPage;
    if (end > begin) madvise(piece.range->begin + begin, end - begin, MADV_DONTNEED);
    piece.is_resident = false;
    Uncount(piece.bytes);
  }

  bool Count(size_t bytes) {
    if (!MemoryBudget::Get().Take(static_cast<int64_t>(bytes))) return false;
    counted += bytes;
    return true;
  }
  void Uncount(size_t bytes) {
    MemoryBudget::Get().Give(static_cast<int64_t>(bytes));
    counted -= bytes;
  }

  const IdleMemory idle_memory;
  MemoryCounter* const counter;
  std::mutex mutex;
  std::vector<std::unique_ptr<Range>> ranges;
  Piece* last_piece = nullptr;  // of the last range
  std::set<Piece*, Piece::Smaller> idle;
  std::vector<Piece*> all, spare;
  size_t counted = 0;
  int64_t in_use = 0;
  bool is_abandoned = false;
};

void Piece::Destroy() {
  Arena* arena = home;
  if (arena->TakeBack(this)) delete arena;
}

class ArenaHandle : public Allocator {
 public:
  ArenaHandle(IdleMemory idle, MemoryCounter* counter) : arena_(new Arena(idle, counter)) {}
  ~ArenaHandle() override {
    if (arena_->Abandon()) delete arena_;
  }
  Expected<BufferRef> Allocate(size_t bytes) override {
    if (bytes > (size_t{1} << 46)) return MemoryRefused(bytes);
    return arena_->Take(bytes);
  }

 private:
  Arena* arena_;
};

}  // namespace

Allocator& WeightAllocator() {
  // Never deleted: kernels may still use it when the process exits.
  static auto* arena = new ArenaHandle(IdleMemory::kGivenBack, nullptr);
  return *arena;
}

std::unique_ptr<Allocator> MakeArena(IdleMemory idle, MemoryCounter* counter) {
  return std::make_unique<ArenaHandle>(idle, counter);
}

}  // namespace grapnel

#if !GRAPNEL_RED_ZONE
#undef ASAN_POISON_MEMORY_REGION
#undef ASAN_UNPOISON_MEMORY_REGION
#endif
#undef GRAPNEL_RED_ZONE
