#include "lib/render/flow_duplicates.h"

#include <algorithm>
#include <tuple>

#include "lib/render/pair_hash.h"

namespace grapnel {
namespace {

constexpr size_t kFewestTwins = 4;

using Chain = std::vector<uint32_t>;

class TwinFinder {
 public:
  TwinFinder(llvm::ArrayRef<FlowMember> members, FlowEdges edges)
      : members_(members), edges_(std::move(edges)) {
    std::sort(edges_.begin(), edges_.end());
    edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
    CountEnds();
  }

  Duplicates Run() {
    std::vector<std::tuple<uint64_t, uint64_t, uint32_t>> heads;
    for (uint32_t i = 0; i < members_.size(); ++i) {
      if (before_[i] == kNone) heads.push_back(KeyOf(i));
    }
    std::sort(heads.begin(), heads.end());
    std::vector<uint32_t> first_of(members_.size());
    std::vector<std::vector<Chain>> duplicates(members_.size());
    for (uint32_t i = 0; i < members_.size(); ++i) first_of[i] = i;
    for (size_t begin = 0, end = 0; begin < heads.size(); begin = end) {
      auto [structure, ends, first] = heads[begin];
      while (end < heads.size() && std::get<0>(heads[end]) == structure &&
             std::get<1>(heads[end]) == ends)
        ++end;
      for (size_t i = begin; end - begin >= kFewestTwins && i < end; ++i) {
        Chain& chain = duplicates[first].emplace_back();
        for (uint32_t k = std::get<2>(heads[i]); k != kNone; k = after_[k]) chain.push_back(k);
        for (uint32_t member : chain) first_of[member] = first;
      }
    }
    return Joined(first_of, duplicates);
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Hashes the inputs and the readers of each member, and links the members of chains. A link
  // connects a member to its only reader if that reader has no other input.
  void CountEnds() {
    size_t count = members_.size();
    std::vector<uint32_t> in(count, 0), out(count, 0);
    in_.assign(count, 0);
    out_.assign(count, 0);
    for (auto [from, to] : edges_) {
      ++in[to];
      ++out[from];
      in_[to] += HashOfPair(from, 1);
      out_[from] += HashOfPair(to, 2);
    }
    before_.assign(count, kNone);
    after_.assign(count, kNone);
    for (auto [from, to] : edges_) {
      // A link runs only from a lower to a higher index, so no chain is a ring.
      if (in[to] != 1 || out[from] != 1 || from >= to) continue;
      before_[to] = from;
      after_[from] = to;
    }
  }

  // Describes the chain that begins at `head`: a hash of its structure, a hash of its inputs and
  // readers, and `head`. Chains with equal hashes are duplicates.
  std::tuple<uint64_t, uint64_t, uint32_t> KeyOf(uint32_t head) const {
    uint64_t structure = 1;
    uint32_t last = head;
    for (uint32_t k = head; k != kNone; k = after_[k]) {
      structure = HashOfPair(structure, members_[k].structure);
      last = k;
    }
    return {structure, HashOfPair(in_[head], out_[last]), head};
  }

  Duplicates Joined(const std::vector<uint32_t>& first_of,
                    std::vector<std::vector<Chain>>& duplicates) const {
    Duplicates result;
    std::vector<uint32_t> number(members_.size());
    for (uint32_t i = 0; i < members_.size(); ++i) {
      if (first_of[i] != i) continue;
      number[i] = static_cast<uint32_t>(result.members.size());
      result.members.push_back(members_[i]);
      FlowMember& member = result.members.back();
      result.given.push_back(i);
      result.chains.push_back(std::move(duplicates[i]));
      const std::vector<Chain>& chains = result.chains.back();
      if (chains.empty()) continue;
      member.size = 0;
      member.structure = HashOfPair(member.structure, chains.size());
      for (const Chain& chain : chains) {
        for (uint32_t k : chain) member.size += members_[k].size;
      }
    }
    for (auto [from, to] : edges_) {
      uint32_t a = number[first_of[from]], b = number[first_of[to]];
      if (a != b) result.edges.push_back({a, b});
    }
    return result;
  }

  llvm::ArrayRef<FlowMember> members_;
  FlowEdges edges_;
  std::vector<uint64_t> in_, out_;
  std::vector<uint32_t> before_, after_;
};

}  // namespace

Duplicates JoinDuplicates(llvm::ArrayRef<FlowMember> members, FlowEdges edges) {
  return TwinFinder(members, std::move(edges)).Run();
}

}  // namespace grapnel
