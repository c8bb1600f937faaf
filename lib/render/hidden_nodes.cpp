#include "lib/render/hidden_nodes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lib/render/edges.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SparseBitVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// By hidden node: the boxes that it reads, directly or through hidden nodes.
using Behind = llvm::DenseMap<NodeId, llvm::SparseBitVector<>>;

// Computes Behind. Iterates until nothing changes, because hidden nodes may form a loop.
Behind BoxesBehind(const Graph& graph, llvm::ArrayRef<uint32_t> box_of,
                   const std::vector<bool>& hidden) {
  Behind behind;
  std::vector<NodeId> changed;
  auto add = [&](NodeId id, const llvm::SparseBitVector<>& boxes) {
    bool grew = (behind[id] |= boxes);
    if (grew) changed.push_back(id);
  };
  for (Node node : graph.nodes()) {
    if (!hidden[node.id()]) continue;
    llvm::SparseBitVector<> boxes;
    for (Port port : node.inputs()) {
      if (port.node != kNoNode && box_of[port.node] < kBoxFolded) boxes.set(box_of[port.node]);
    }
    add(node.id(), boxes);
  }
  while (!changed.empty()) {
    NodeId id = changed.back();
    changed.pop_back();
    const llvm::SparseBitVector<> boxes = behind[id];
    for (const Use& use : graph.node(id).uses()) {
      if (hidden[use.node]) add(use.node, boxes);
    }
  }
  return behind;
}

// Translates \d, \w and \s outside of brackets into POSIX brackets: users write these classes, but
// POSIX regular expressions lack them.
std::string WithClasses(llvm::StringRef regex) {
  std::string result;
  bool in_brackets = false;
  for (size_t i = 0; i < regex.size(); ++i) {
    char c = regex[i];
    if (c != '\\' || i + 1 == regex.size() || in_brackets) {
      in_brackets = in_brackets ? c != ']' : c == '[';
      result += c;
      continue;
    }
    char next = regex[++i];
    llvm::StringRef set = llvm::StringSwitch<llvm::StringRef>(llvm::StringRef(&next, 1))
                              .CaseLower("d", "0-9")
                              .CaseLower("w", "A-Za-z0-9_")
                              .CaseLower("s", "[:space:]")
                              .Default("");
    if (set.empty()) {
      result += {c, next};
    } else {
      result += (llvm::isUpper(next) ? "[^" : "[") + set.str() + "]";
    }
  }
  return result;
}

// Returns texts that every match of `regex` contains: its runs of literal characters. Returns no
// text if the regex has groups, alternatives, escapes or unusual brackets.
std::vector<std::string> LiteralsOf(llvm::StringRef regex) {
  std::vector<std::string> literals;
  if (regex.find_first_of("|(\\") != llvm::StringRef::npos) return literals;
  for (llvm::StringRef odd :
       {"[:", "[.", "[=", "[]", "[^]"})  // brackets that do not end at the first ]
    if (regex.contains(odd)) return literals;
  std::string run;
  auto end = [&] {
    if (!run.empty()) literals.push_back(std::exchange(run, ""));
  };
  for (size_t i = 0; i < regex.size(); ++i) {
    char c = regex[i];
    if (llvm::isAlnum(c) || c == '_' || c == '/' || c == '-') {
      run += c;
      continue;
    }
    if (c == '*' || c == '?' || c == '{') run.erase(run.size() - !run.empty());
    end();
    if (c == '[') i = regex.find(']', i + 2);
    if (c == '{') i = regex.find('}', i);
    if (i == llvm::StringRef::npos) break;
  }
  end();
  return literals;
}

}  // namespace

bool HiddenNodes::IsWord(llvm::StringRef word) {
  return word.starts_with("op:") || word.starts_with("name:") ||
         (word.size() > 1 && word.front() == '/' && word.back() == '/');
}

Error HiddenNodes::Add(llvm::StringRef word) {
  llvm::StringRef text = word;
  if (text.consume_front("op:") || text.consume_front("name:")) {
    auto glob = Glob::Parse(text);
    if (!glob) return Annotate(word, glob.takeError());
    (word.starts_with("op:") ? ops_ : names_).push_back(std::move(*glob));
    return Error::success();
  }
  std::string pattern = WithClasses(text.drop_front().drop_back());
  auto regex = std::make_shared<llvm::Regex>(pattern);
  std::string why;
  if (!regex->isValid(why)) return MakeError("'{0}' is not a regular expression: {1}", word, why);
  regexes_.push_back({std::move(regex), LiteralsOf(pattern)});
  return Error::success();
}

bool HiddenNodes::Hides(const Node& node) const {
  if (FitsAny(ops_, node.op()) || FitsAny(names_, node.name())) return true;
  llvm::StringRef name = node.name();
  for (const auto& [regex, literals] : regexes_) {
    auto is_there = [name](const std::string& text) { return name.contains(text); };
    if (std::all_of(literals.begin(), literals.end(), is_there) && regex->match(name)) return true;
  }
  return false;
}

std::vector<std::pair<uint32_t, uint32_t>> EdgesThrough(const Graph& graph,
                                                        llvm::ArrayRef<uint32_t> box_of,
                                                        const std::vector<bool>& hidden) {
  Behind behind = BoxesBehind(graph, box_of, hidden);
  std::set<std::pair<uint32_t, uint32_t>> edges;
  for (Node node : graph.nodes()) {
    uint32_t to = box_of[node.id()];
    if (to >= kBoxFolded) continue;
    for (Port port : node.inputs()) {
      if (port.node == kNoNode || !hidden[port.node]) continue;
      for (uint32_t from : behind[port.node]) {
        if (from != to) edges.insert({from, to});
      }
    }
  }
  return {edges.begin(), edges.end()};
}

}  // namespace grapnel
