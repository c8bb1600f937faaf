#include "lib/ir/module.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "lib/ir/wire.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

std::string Problem::ToString() const {
  return (place.empty() ? "" : place + ": ") +
         (where.empty() ? text : "node '" + where + "': " + text);
}

llvm::StringRef Function::name() const { return body.module().strings.Get(name_id); }

std::vector<std::pair<llvm::StringRef, AttrView>> Function::Attrs() const {
  enum { kAttr = 5, kKey = 1, kValue = 2 };  // fields of FunctionDef and of its map's entries
  std::vector<std::pair<llvm::StringRef, AttrView>> attrs;
  WireReader reader(source);
  while (reader.Next()) {
    if (!reader.Is(kAttr, WireType::kBytes)) continue;
    llvm::StringRef key, value;
    WireReader entry(reader.bytes());
    while (entry.Next()) {
      if (entry.Is(kKey, WireType::kBytes)) key = entry.bytes();
      if (entry.Is(kValue, WireType::kBytes)) value = entry.bytes();
    }
    auto at = llvm::find_if(attrs, [&](const auto& attr) { return attr.first == key; });
    if (at == attrs.end()) at = attrs.insert(at, {key, AttrView()});
    at->second = AttrView(value);
  }
  llvm::sort(attrs, [](const auto& x, const auto& y) { return x.first < y.first; });
  return attrs;
}

Function* Module::FindFunction(llvm::StringRef name) const {
  return functions_by_name_.lookup(name);
}

Function* Module::AddFunction(llvm::StringRef name) {
  functions.push_back(std::make_unique<Function>(this, strings.Intern(name)));
  functions_by_name_.try_emplace(name, functions.back().get());
  return functions.back().get();
}

void Module::RetainFunctions(llvm::function_ref<bool(const Function&)> keep) {
  std::vector<std::unique_ptr<Function>> kept;
  for (auto& function : functions) {
    if (keep(*function)) {
      kept.push_back(std::move(function));
    } else if (FindFunction(function->name()) == function.get()) {
      functions_by_name_.erase(function->name());
    }
  }
  functions = std::move(kept);
}

// Large values go into slabs of huge pages, where the system lets us: 100 MB of folded weights are
// 25,000 page faults otherwise, which cost more than the copy.
char* Module::AllocateLarge(size_t size) {
  constexpr size_t kHugePage = size_t{2} << 20, kSlab = size_t{32} << 20;
  if (large_left_ < size) {
    size_t slab = (std::max(size, kSlab) + kHugePage - 1) / kHugePage * kHugePage;
    void* memory = std::aligned_alloc(kHugePage, slab);
    if (!memory) return static_cast<char*>(bytes_.Allocate(size, 1));  // says that memory is out
    madvise(memory, slab, MADV_HUGEPAGE);
    large_.emplace_back(static_cast<char*>(memory), &std::free);
    large_at_ = static_cast<char*>(memory);
    large_left_ = slab;
  }
  char* at = large_at_;
  large_at_ += size;
  large_left_ -= size;
  return at;
}

llvm::StringRef Module::Keep(llvm::ArrayRef<llvm::StringRef> pieces) {
  size_t size = 0;
  for (llvm::StringRef piece : pieces) size += piece.size();
  char* copy;
  {
    std::lock_guard lock(keeping_);
    copy = size < kLargeValue ? static_cast<char*>(bytes_.Allocate(std::max<size_t>(size, 1), 1))
                              : AllocateLarge(size);
  }
  char* at = copy;
  for (llvm::StringRef piece : pieces) {
    if (!piece.empty()) std::memcpy(at, piece.data(), piece.size());
    at += piece.size();
  }
  return {copy, size};
}

std::vector<Body> Bodies(Module& module) {
  std::vector<Body> bodies = {{&module.main, nullptr}};
  for (auto& function : module.functions) bodies.push_back({&function->body, function.get()});
  return bodies;
}

}  // namespace grapnel
