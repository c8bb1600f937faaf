// Collective ops: each node of a group, most often on a device of its own, brings a value, and all
// go on when the last has come.
#ifndef GRAPNEL_LIB_EXEC_COLLECTIVES_H_
#define GRAPNEL_LIB_EXEC_COLLECTIVES_H_

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "lib/exec/rendezvous.h"
#include "lib/ir/node.h"
#include "lib/support/error.h"

namespace grapnel {

// Whether nodes of this op are members of groups. The kernel runs once for a group: input `i` is
// what the member of rank i brought (no tensor: nothing), output `i` what it gets.
bool IsCollective(llvm::StringRef op);

// What CollectiveInitializeCommunicator makes for each member: who it is in which group. Each use
// of it is another instance.
class Communicator : public Object {
 public:
  Communicator(int64_t group, int64_t rank, int64_t size) : group(group), rank(rank), size(size) {}
  std::string ToString() const override;

  const int64_t group, rank, size;
  std::atomic<int64_t> next_instance{0};
};

// Where the members of a graph's groups meet in a run. Members know each other by group key and
// instance key (NcclAllReduce: by shared_name), in each iteration of loops anew; those with
// communicators by what these say and how often they were used. Their rank is the order of their
// devices, or their communicator's; of those on one device, the order of `order`. Thread-safe.
class Collectives {
 public:
  struct Member {
    Node node;
    uint64_t order = 0;
    Rendezvous* rendezvous = nullptr;  // where the answer is sent
    Message answer;                    // its `to` and `iterations` are set
    Tensor value;                      // what it brings; none: it receives
    std::vector<Tensor> settings;      // its other inputs
    int64_t rank = -1;                 // its communicator's
  };
  using Merge = llvm::function_ref<Error(llvm::MutableArrayRef<Tensor> values,
                                         llvm::MutableArrayRef<Tensor> results)>;

  // The member that comes last calls `merge`, which makes the results; each is sent its own. Errors
  // name the nodes: members that do not fit together, one too many.
  Error Join(Member member, Merge merge);
  // Why a node has no answer: which members of its group are missing.
  Error WhyWaiting(const Node& node) const;
  void Clear();

 private:
  struct Keys {
    std::string text;  // "group 1, instance 2"
    int64_t size = 0;
  };
  struct Group {
    Keys keys;
    std::vector<Member> members;
  };
  static Expected<Keys> KeysOf(const Member& member);
  static Expected<Keys> KeysOfCommunicator(Member* member);
  static Error Fits(const Group& group, const Keys& keys, const Member& member);
  static Error CheckShapes(const Group& group);
  static Error Answer(Group group, Merge merge);
  static Expected<std::vector<size_t>> OrderOfValues(const Group& group);
  Error CheckNotComplete(const Keys& keys, const Member& member) const;

  mutable std::mutex mutex_;
  // By keys and iteration.
  std::map<std::pair<std::string, std::vector<int64_t>>, Group> waiting_;
  std::map<std::string, std::vector<Node>> complete_;  // by keys: who met there first
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_COLLECTIVES_H_
