#include "lib/pass/source_location_tracker.h"

#include "lib/ir/debug_info_writer.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Parts of the names of functions that passes make from other functions.
constexpr const char* kMadeOf[] = {"_specialized_for_", "_tfg_region_specialized_",
                                   "_of_signature"};
constexpr const char* kCopyOf = "_tfg_inlined_";

}  // namespace

Error SourceLocationTracker::BeforePipeline(const Module& module) {
  BodyOf("");
  for (const auto& function : module.functions) BodyOf(function->name());
  return Error::success();
}

// Finds from which function a new function was copied: the one with the longest name that precedes
// "_specialized_for_" or a similar part of the new name.
SourceLocationTracker::Body& SourceLocationTracker::BodyOf(llvm::StringRef function) {
  auto [it, is_new] = bodies_.try_emplace(function.str());
  if (!is_new || function.empty()) return it->second;
  for (llvm::StringRef part : kMadeOf) {
    for (size_t at = 0; (at = function.find(part, at)) != llvm::StringRef::npos; ++at) {
      std::string origin = function.take_front(at).str();
      if (origin.size() > it->second.origin.size() && bodies_.count(origin))
        it->second.origin = origin;
    }
  }
  return it->second;
}

LineTable::TraceId SourceLocationTracker::Trace(llvm::StringRef function, llvm::StringRef node) {
  // A function may be specialized from a function that was itself specialized, and so on; follows
  // at most this many steps.
  constexpr int kMostSteps = 64;
  std::string name = function.str();
  for (int step = 0; step < kMostSteps; ++step) {
    Body& body = BodyOf(name);
    auto made = body.made.find(node);
    if (made != body.made.end()) return made->second;
    if (LineTable::TraceId trace = lines_.Find(name, node)) return trace;
    if (body.origin.empty()) return 0;
    if (size_t copy = node.rfind(kCopyOf); copy != llvm::StringRef::npos && copy > 0)
      node = node.take_front(copy);
    name = body.origin;
  }
  return 0;
}

LineTable::TraceId SourceLocationTracker::TraceOf(llvm::StringRef function, llvm::StringRef node) {
  std::lock_guard lock(mutex_);
  return Trace(function, node);
}

// If the rewrite inlined the function that its node called, finds the stack of a new node
// "CALL/NODE": that of NODE in the function.
LineTable::TraceId SourceLocationTracker::Inlined(const Rewrite& rewrite, llvm::StringRef node) {
  if (rewrite.functions.empty() || !node.consume_front(rewrite.node) || !node.consume_front("/"))
    return 0;
  for (const std::string& function : rewrite.functions) {
    if (LineTable::TraceId trace = Trace(function, node)) return trace;
  }
  return 0;
}

LineTable::TraceId SourceLocationTracker::FirstOf(const Rewrite& rewrite) {
  if (LineTable::TraceId trace = Trace(rewrite.function, rewrite.node)) return trace;
  for (const auto* names : {&rewrite.used, &rewrite.removed, &rewrite.changed}) {
    for (const std::string& name : *names) {
      if (LineTable::TraceId trace = Trace(rewrite.function, name)) return trace;
    }
  }
  return 0;
}

void SourceLocationTracker::OnRewrite(const Rewrite& rewrite) {
  std::lock_guard lock(mutex_);
  for (const std::string& function : rewrite.functions) BodyOf(function);
  std::optional<LineTable::TraceId> first;  // nodes of one rewrite do not see each other's stacks
  std::vector<std::pair<const std::string*, LineTable::TraceId>> found;
  auto first_of = [&] {
    if (!first) first = FirstOf(rewrite);
    return *first;
  };
  for (const std::string& name : rewrite.made) {
    LineTable::TraceId trace = 0;
    if (llvm::is_contained(rewrite.removed, name)) trace = Trace(rewrite.function, name);
    if (!trace) trace = Inlined(rewrite, name);
    found.emplace_back(&name, trace ? trace : first_of());
  }
  for (const std::string& name : rewrite.changed) {
    if (!Trace(rewrite.function, name)) found.emplace_back(&name, first_of());
  }
  Body& body = BodyOf(rewrite.function);
  for (const auto& [name, trace] : found) body.made[*name] = trace;
}

void SourceLocationTracker::WriteTo(Module* module) {
  if (lines_.empty()) return;
  std::lock_guard lock(mutex_);
  DebugInfoWriter writer;
  llvm::DenseMap<LineTable::TraceId, uint64_t> written;
  auto number_of = [&](LineTable::TraceId trace) {
    auto [known, is_new] = written.try_emplace(trace, 0);
    if (!is_new) return known->second;
    std::vector<uint64_t> frames;
    for (const SourceFrame& frame : lines_.StackOf(trace)) frames.push_back(writer.Frame(frame));
    return known->second = writer.Trace(frames);
  };
  auto add = [&](const Graph& graph, llvm::StringRef function) {
    for (Node node : graph.nodes()) {
      LineTable::TraceId trace = Trace(function, node.name());
      if (!trace) trace = lines_.Of(node);
      if (trace) writer.Add(node.name(), function, number_of(trace));
    }
  };
  add(module->main, "");
  for (const auto& function : module->functions) add(function->body, function->name());
  SetDebugInfo(module, writer.Take());
}

}  // namespace grapnel
