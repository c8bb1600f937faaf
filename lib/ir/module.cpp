#include "lib/ir/module.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "lib/ir/wire.h"
#include "lib/proto/op_def.pb.h"
#include "lib/support/printable.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

std::string Problem::ToString() const {
  return Printable((place.empty() ? "" : place + ": ") +
                   (where.empty() ? text : "node '" + where + "': " + text));
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

Function* Module::AddCopy(const Function& function, llvm::StringRef name) {
  proto::OpDef signature;
  signature.ParseFromString(function.signature);
  signature.set_name(name.str());
  Function* copy = AddFunction(name);
  copy->body.CopyNodes(function.body, [](llvm::StringRef bytes) { return bytes; });
  copy->args = function.args;
  copy->results = function.results;
  copy->control_results = function.control_results;
  copy->info = function.info;
  copy->info.name = name.str();
  copy->signature = signature.SerializeAsString();
  copy->source = function.source;
  copy->changed = true;
  copy->unknown_outputs = function.unknown_outputs;
  return copy;
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

// Allocates memory for a large value, in slabs of huge pages if the system has them: with normal
// pages, 100 MB of folded weights cause 25,000 page faults, which take longer than copying the
// weights. The last `content` bytes are the elements of a tensor and are aligned for vector
// instructions, because execution plans read them in place.
char* Module::AllocateLarge(size_t size, size_t content) {
  constexpr size_t kHugePage = size_t{2} << 20, kSlab = size_t{32} << 20, kAlignment = 64;
  size_t head = size - content, skipped = (kAlignment - head % kAlignment) % kAlignment;
  size += skipped;
  if (large_left_ < size) {
    size_t slab = (std::max(size, kSlab) + kHugePage - 1) / kHugePage * kHugePage;
    void* memory = std::aligned_alloc(kHugePage, slab);
    if (!memory) return static_cast<char*>(bytes_.Allocate(size, 1));  // reports out of memory
    madvise(memory, slab, MADV_HUGEPAGE);
    auto free = [](const char* bytes) { std::free(const_cast<char*>(bytes)); };
    large_.push_back({std::shared_ptr<const char>(static_cast<const char*>(memory), free), slab});
    large_at_ = static_cast<char*>(memory);
    large_left_ = slab;
  }
  char* at = large_at_;
  size_t taken = (size + kAlignment - 1) / kAlignment * kAlignment;
  taken = std::min(taken, large_left_);
  large_at_ += taken;
  large_left_ -= taken;
  return at + skipped;
}

std::shared_ptr<const void> Module::TakeLarge(llvm::StringRef bytes) {
  std::lock_guard lock(keeping_);
  for (const Slab& slab : large_) {
    llvm::StringRef whole(slab.bytes.get(), slab.size);
    if (bytes.begin() < whole.begin() || bytes.end() > whole.end()) continue;
    if (slab.bytes.use_count() != 1) return nullptr;
    // Frees only pages that lie completely within the value, as other values share the rest. A slab
    // begins at a page boundary.
    constexpr size_t kPage = 4096;
    size_t begin = (bytes.begin() - whole.begin() + kPage - 1) / kPage * kPage;
    size_t end = (bytes.end() - whole.begin()) / kPage * kPage;
    char* pages = const_cast<char*>(whole.begin()) + begin;
    auto give_back = [pages, size = end > begin ? end - begin : 0](const char*) {
      if (size > 0) madvise(pages, size, MADV_DONTNEED);
    };
    return std::shared_ptr<const char>(bytes.begin(), give_back);
  }
  return nullptr;
}

namespace {

// Returns the memory of the last piece, together with as many bytes before it as the other pieces
// have.
llvm::StringRef WithPiecesBefore(llvm::ArrayRef<llvm::StringRef> pieces) {
  size_t before = 0;
  for (llvm::StringRef piece : pieces.drop_back()) before += piece.size();
  return {pieces.back().data() - before, before + pieces.back().size()};
}

// True if `there`, which WithPiecesBefore returned, begins with all pieces but the last; the last
// piece itself is the end of `there`.
bool EndsAs(llvm::StringRef there, llvm::ArrayRef<llvm::StringRef> pieces) {
  return llvm::all_of(pieces.drop_back(),
                      [&](llvm::StringRef piece) { return there.consume_front(piece); });
}

}  // namespace

llvm::StringRef Module::Keep(llvm::ArrayRef<llvm::StringRef> pieces) {
  size_t size = 0;
  for (llvm::StringRef piece : pieces) size += piece.size();
  size_t content = pieces.empty() ? 0 : pieces.back().size();
  char* copy;
  {
    std::lock_guard lock(keeping_);
    // A large value whose content lies in the module already, as when an Identity is folded, may be
    // stored in full: the same head bytes may precede the content.
    if (size >= kLargeValue && pieces.size() > 1) {
      auto lies_in = [&](llvm::StringRef whole) {
        return pieces.back().begin() >= whole.begin() + (size - content) &&
               pieces.back().end() <= whole.end();
      };
      bool is_kept =
          llvm::any_of(large_,
                       [&](const Slab& slab) {
                         return lies_in({slab.bytes.get(), slab.size});
                       }) ||
          llvm::any_of(sources, [&](const auto& file) { return lies_in(file->bytes()); });
      if (is_kept) {
        llvm::StringRef there = WithPiecesBefore(pieces);
        if (EndsAs(there, pieces)) return there;
      }
    }
    copy = size < kLargeValue ? static_cast<char*>(bytes_.Allocate(std::max<size_t>(size, 1), 1))
                              : AllocateLarge(size, content);
  }
  char* at = copy;
  for (llvm::StringRef piece : pieces) {
    if (!piece.empty()) std::memcpy(at, piece.data(), piece.size());
    at += piece.size();
  }
  return {copy, size};
}

llvm::StringRef Module::Share(llvm::StringRef bytes) {
  auto lie_in = [&](llvm::StringRef whole) {
    return bytes.begin() >= whole.begin() && bytes.end() <= whole.end();
  };
  auto lie_in_file = [&](const auto& file) { return lie_in(file->bytes()); };
  auto lie_in_slab = [&](const Slab& slab) { return lie_in({slab.bytes.get(), slab.size}); };
  if (bytes.empty() || llvm::any_of(sources, lie_in_file) || llvm::any_of(large_, lie_in_slab))
    return bytes;
  return Keep(bytes);
}

void Module::CopyFunction(const Module& original, const Function& function) {
  auto copy = std::make_unique<Function>(this, function.name_id);
  copy->body.CopyNodes(function.body, [&](llvm::StringRef bytes) { return Share(bytes); });
  copy->args = function.args;
  copy->results = function.results;
  copy->control_results = function.control_results;
  copy->info = function.info;
  copy->signature = function.signature;
  copy->source = Share(function.source);
  copy->changed = function.changed;
  copy->unknown_outputs = function.unknown_outputs;
  if (original.FindFunction(function.name()) == &function)
    functions_by_name_.try_emplace(function.name(), copy.get());
  functions.push_back(std::move(copy));
}

std::unique_ptr<Module> Module::Copy() const {
  auto copy = std::make_unique<Module>();
  copy->sources = sources;
  {
    std::lock_guard lock(keeping_);
    copy->large_ = large_;
  }
  copy->strings.Reserve(strings.size());
  for (StringId id = 1; id < strings.size(); ++id)
    copy->strings.InternBorrowed(copy->Share(strings.Get(id)));
  auto share = [&](llvm::StringRef bytes) { return copy->Share(bytes); };
  copy->main.CopyNodes(main, share);
  for (const auto& function : functions) copy->CopyFunction(*this, *function);
  copy->versions = versions;
  copy->has_versions = has_versions;
  copy->has_library = has_library;
  copy->other_fields = other_fields;
  copy->other_library_fields = other_library_fields;
  copy->problems = problems;
  copy->places = places;
  return copy;
}

std::vector<Body> Bodies(Module& module) {
  std::vector<Body> bodies = {{&module.main, nullptr}};
  for (auto& function : module.functions) bodies.push_back({&function->body, function.get()});
  return bodies;
}

const Function* FunctionOf(const Graph& graph) { return graph.function(); }

}  // namespace grapnel
