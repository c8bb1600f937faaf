#include "lib/render/flow_parts.h"

#include <algorithm>

#include "lib/render/flow_duplicates.h"
#include "lib/render/flow_pieces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

// At least this many names must share a beginning for NameWords.
constexpr size_t kFewAlike = 3;
// If there are too many parts, Run first joins only neighbors that have at most 1/kCrumb of all ops
// together.
constexpr uint64_t kCrumb = 80;

// Visits each beginning of `name` that ends in '_' after a digit, the shortest first.
template <typename Visit>
void ForEachStart(llvm::StringRef name, Visit&& visit) {
  for (size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] == '_' && llvm::isDigit(name[i - 1])) visit(name.take_front(i + 1));
  }
}

class Parts {
 public:
  Parts(llvm::ArrayRef<FlowMember> members, const FlowEdges& edges)
      : line_(members, edges), words_(members) {}

  std::vector<FlowPart> Run(uint32_t most) {
    pieces_ = JoinEquals(line_, line_.Pieces());
    JoinNamedAlike();
    pieces_ = JoinRepeats(line_, std::move(pieces_), false);
    if (pieces_.size() > most) pieces_ = JoinSmallest(line_, pieces_, most, line_.ops() / kCrumb);
    if (pieces_.size() > most) pieces_ = JoinRepeats(line_, std::move(pieces_), true);
    if (pieces_.size() > most) pieces_ = JoinToMost(line_, pieces_, most);
    return PartsOf(most);
  }

 private:
  // Joins consecutive parts whose members' names share a beginning, together with parts in between
  // that have no such beginning.
  void JoinNamedAlike() {
    std::vector<llvm::StringRef> words;
    for (const FlowPiece& piece : pieces_)
      words.push_back(piece.starts.empty() ? words_.Common(line_.Members(piece.begin, piece.end))
                                           : "");
    std::vector<FlowPiece> joined;
    uint64_t ops = line_.ops();
    for (size_t i = 0; i < pieces_.size();) {
      size_t end = i + 1;
      for (size_t k = end; !words[i].empty() && k < pieces_.size(); ++k) {
        if (!pieces_[k].starts.empty()) break;  // a series stays separate
        if (words[k] == words[i] && Reaches(end, k)) end = k + 1;
        if (!words[k].empty() && words[k] != words[i]) break;
      }
      FlowPiece all = line_.Piece(pieces_[i].begin, pieces_[end - 1].end);
      if (all.size * 2 > ops) end = i + 1;  // more than half of the graph is not a useful part
      joined.push_back(end == i + 1 ? pieces_[i] : all);
      i = end;
    }
    pieces_ = std::move(joined);
  }

  // True if an edge connects each part from `end` to `last` with the part before it.
  bool Reaches(size_t end, size_t last) const {
    for (size_t k = end; k <= last; ++k) {
      if (!line_.AreLinked(pieces_[k - 1], pieces_[k])) return false;
    }
    return true;
  }

  // Splits each part that is not connected into its connected components, unless that gives more
  // than 2 * most parts: then splits none.
  std::vector<FlowPart> PartsOf(uint32_t most) const {
    std::vector<std::vector<std::vector<uint32_t>>> connected;
    size_t count = 0;
    for (const FlowPiece& piece : pieces_) {
      connected.emplace_back();
      if (piece.starts.empty()) connected.back() = line_.Connected(piece.begin, piece.end);
      count += std::max<size_t>(connected.back().size(), 1);
    }
    std::vector<FlowPart> parts;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (connected[i].size() < 2 || count > 2 * most) {
        parts.push_back(PartOf(pieces_[i]));
        continue;
      }
      for (const std::vector<uint32_t>& places : connected[i]) {
        FlowPart& part = parts.emplace_back();
        part.repeats.emplace_back();
        for (uint32_t place : places) part.repeats[0].push_back(line_.id(place));
      }
    }
    return parts;
  }

  FlowPart PartOf(const FlowPiece& piece) const {
    std::vector<uint32_t> starts = piece.starts;
    if (starts.empty()) starts = {piece.begin};
    starts.push_back(piece.end);
    FlowPart part;
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
      llvm::ArrayRef<uint32_t> members = line_.Members(starts[i], starts[i + 1]);
      part.repeats.emplace_back(members.begin(), members.end());
    }
    return part;
  }

  FlowLine line_;
  NameWords words_;
  std::vector<FlowPiece> pieces_;
};

}  // namespace

NameWords::NameWords(llvm::ArrayRef<FlowMember> members) : words_(members.size()) {
  llvm::StringMap<size_t> count;
  for (const FlowMember& member : members)
    ForEachStart(member.name, [&](llvm::StringRef start) { ++count[start]; });
  for (size_t i = 0; i < members.size(); ++i) {
    ForEachStart(members[i].name, [&](llvm::StringRef start) {
      if (count[start] >= kFewAlike) words_[i] = start;
    });
  }
}

llvm::StringRef NameWords::Common(llvm::ArrayRef<uint32_t> members) const {
  llvm::StringRef common;
  bool any = false;
  for (uint32_t member : members) {
    llvm::StringRef words = words_[member];
    if (words.empty()) continue;
    if (!any) common = words;
    any = true;
    if (common == words) continue;
    llvm::StringRef shared;
    ForEachStart(words.str() + "x", [&](llvm::StringRef start) {
      if (common.starts_with(start)) shared = common.take_front(start.size());
    });
    common = shared;
    if (common.empty()) return common;
  }
  return common;
}

std::vector<FlowPart> FlowParts(llvm::ArrayRef<FlowMember> members, const FlowEdges& edges,
                                uint32_t most) {
  Duplicates duplicates = JoinDuplicates(members, edges);
  std::vector<FlowPart> parts = Parts(duplicates.members, duplicates.edges).Run(most);
  for (FlowPart& part : parts) {
    // Undo JoinDuplicates. A part that is only one joined member becomes a series with a repeat for
    // each of its chains. In other parts, the chains' members become members of the part.
    uint32_t only = part.repeats[0][0];
    if (part.repeats.size() == 1 && part.repeats[0].size() == 1 &&
        !duplicates.chains[only].empty()) {
      part.repeats = std::move(duplicates.chains[only]);
      continue;
    }
    for (std::vector<uint32_t>& repeat : part.repeats) {
      std::vector<uint32_t> all;
      for (uint32_t member : repeat) {
        if (duplicates.chains[member].empty()) all.push_back(duplicates.given[member]);
        for (const std::vector<uint32_t>& chain : duplicates.chains[member])
          all.insert(all.end(), chain.begin(), chain.end());
      }
      repeat = std::move(all);
    }
  }
  return parts;
}

}  // namespace grapnel
