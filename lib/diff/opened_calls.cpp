#include "lib/diff/opened_calls.h"

#include <map>
#include <set>

#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

class Opening {
 public:
  Opening(const Module& a, const Module& b, Diff* diff) : a_(a), b_(b), diff_(diff) {
    for (const NodeEntry& node : diff->added) {
      if (!node.function().empty()) continue;
      added_.insert(node.node.name());
      AddScopes(node.node.name());
    }
  }

  void Run() {
    if (added_.empty()) return;
    for (Node call : a_.main.nodes()) {
      if (MayCallFunctions(call)) Open(call, call.name().str(), 0);
    }
    if (diff_->opened.empty()) return;
    llvm::sort(diff_->opened, [](const OpenedCall& x, const OpenedCall& y) {
      return std::tie(x.call, x.function) < std::tie(y.call, y.function);
    });
    llvm::erase_if(diff_->added, [&](const NodeEntry& node) {
      return node.function().empty() && copies_.contains(node.node.name());
    });
    llvm::erase_if(diff_->removed, [&](const NodeEntry& node) {
      return functions_.contains(node.function()) && !b_.FindFunction(node.function());
    });
    for (MatchedPair& pair : diff_->matched)
      if (calls_.contains(pair.b.name)) pair.changes.clear();
  }

 private:
  // Adds the scopes in a name that may be copies of a loop's or branch's body: those that end in
  // /_N. For "cond/then/_3/add", adds "cond/then/_3" for the call "cond".
  void AddScopes(llvm::StringRef name) {
    for (size_t at = name.find("/_"); at != llvm::StringRef::npos; at = name.find("/_", at + 1)) {
      size_t end = name.find('/', at + 1);
      llvm::StringRef number = name.slice(at + 2, end);
      if (end == llvm::StringRef::npos || number.empty() || !llvm::all_of(number, llvm::isDigit))
        continue;
      auto [call, which] = name.take_front(at).rsplit('/');
      if (!which.empty()) scopes_[call].insert(name.take_front(end).str());
    }
  }

  const Function* FunctionNamed(llvm::StringRef name) const {
    const Function* function = a_.FindFunction(name);
    return function ? function : b_.FindFunction(name);
  }

  size_t CopiesIn(const Function& function, llvm::StringRef prefix) const {
    size_t copies = 0;
    for (Node node : function.body.nodes())
      copies += added_.contains((prefix + "/" + node.name()).str());
    return copies;
  }

  // Records how a call was inlined. A function call becomes one copy of a body; a loop or a branch
  // becomes several, each in a scope of its own.
  void Open(const Node& call, const std::string& path, int depth) {
    constexpr int kDeepest = 100;  // a function may be recursive
    if (depth == kDeepest) return;
    std::vector<llvm::StringRef> functions = CalledFunctions(call);
    std::set<std::string> prefixes = {path};
    if (auto it = scopes_.find(path); it != scopes_.end())
      prefixes.insert(it->second.begin(), it->second.end());
    for (const std::string& prefix : prefixes) {
      const Function* best = nullptr;
      size_t most = 0;
      for (llvm::StringRef name : functions) {
        const Function* function = FunctionNamed(name);
        size_t copies = function ? CopiesIn(*function, prefix) : 0;
        if (copies > most) best = function;
        most = std::max(most, copies);
      }
      if (best) Add(path, prefix, *best, depth);
    }
  }

  void Add(const std::string& call, const std::string& prefix, const Function& function,
           int depth) {
    OpenedCall opened{prefix, function.name().str(), {}};
    for (Node node : function.body.nodes()) {
      std::string copy = (prefix + "/" + node.name()).str();
      if (MayCallFunctions(node)) Open(node, copy, depth + 1);
      if (!added_.contains(copy) || !copies_.insert(copy).second) continue;
      opened.nodes.push_back({opened.function + "/" + node.name().str(), copy});
    }
    llvm::sort(opened.nodes, [](const auto& x, const auto& y) { return x.second < y.second; });
    calls_.insert(call);
    functions_.insert(function.name());
    diff_->opened.push_back(std::move(opened));
  }

  const Module &a_, &b_;
  Diff* diff_;
  llvm::StringSet<> added_;                        // new nodes of the main graph
  llvm::StringMap<std::set<std::string>> scopes_;  // by the name of the loop or branch
  llvm::StringSet<> copies_, calls_, functions_;
};

}  // namespace

void OpenCalls(const Module& a, const Module& b, Diff* diff) { Opening(a, b, diff).Run(); }

}  // namespace grapnel
