// Collective ops: each node of a group, usually on a device of its own, contributes a value or only
// receives one, and all nodes proceed once the last has joined.
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

// True if nodes of this op are members of groups. The kernel runs once for a group: input `i` is
// the contribution of the member of rank i (an empty tensor if that member only receives), and
// output `i` is sent to member i in the order of devices, as in TensorFlow. The two orders differ
// if communicators rank the members otherwise.
bool IsCollective(llvm::StringRef op);

// The result of CollectiveInitializeCommunicator for one member: its group and its rank. Each use
// of a communicator has its own instance number.
class Communicator : public Object {
 public:
  Communicator(int64_t group, int64_t rank, int64_t size) : group(group), rank(rank), size(size) {}
  std::string ToString() const override;

  const int64_t group, rank, size;
  std::atomic<int64_t> next_instance{0};
};

// The meeting point of the members of a graph's groups in one run. Members match by group key and
// instance key (NcclAllReduce: by shared_name), separately in each loop iteration; members with a
// communicator match by the communicator's group and its number of uses. A member's rank is that of
// its communicator; members without one are ranked by device name, and those on one device by
// `order`. Thread-safe.
class Collectives {
 public:
  struct Member {
    Node node;
    uint64_t order = 0;
    Rendezvous* rendezvous = nullptr;  // where the result is sent
    Message answer;                    // `to` and `iterations` are set
    Tensor value;                      // the member's contribution; empty: the member only receives
    std::vector<Tensor> settings;      // the node's other inputs
    int64_t rank = -1;                 // in its communicator; -1: none
  };
  using Merge = llvm::function_ref<Error(llvm::MutableArrayRef<Tensor> values,
                                         llvm::MutableArrayRef<Tensor> results)>;

  // Adds a member to its group. The last member to join calls `merge`, which computes the results;
  // then each member is sent its result as `answer`. Errors: such as invalid keys, members that do
  // not match, a group that is already complete, or an error of `merge`.
  Error Join(Member member, Merge merge);
  // Explains why a node has no result: its group is incomplete. If this node has joined it, the
  // error names a few of the members that have.
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
  // Incomplete groups, by keys and iteration.
  std::map<std::pair<std::string, std::vector<int64_t>>, Group> waiting_;
  std::map<std::string, std::vector<Node>> complete_;  // by keys: members of the first full group
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_COLLECTIVES_H_
