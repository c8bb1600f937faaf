// Where the parts of a graph that run side by side hand one another tensors.
#ifndef GRAPNEL_LIB_EXEC_RENDEZVOUS_H_
#define GRAPNEL_LIB_EXEC_RENDEZVOUS_H_

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "lib/exec/tensor.h"
#include "lib/support/error.h"

namespace grapnel {

// Thread-safe. A value waits for its receiver; a receiver waits for its value as long as somebody
// still runs who could send it.
class Rendezvous {
 public:
  // A run of `parts` parts begins; what an earlier one left is dropped.
  void Begin(int parts);
  // One of them is through. With `failure` (not empty) all that wait, or will, fail with it.
  void End(llvm::StringRef failure = {});
  // The first failure that End() was told of; empty: none.
  std::string failure() const;

  // Under a key that both ends know, once a run.
  void Send(llvm::StringRef key, Tensor value);
  // Takes it. Errors: another part failed; nobody is left who could send it.
  Expected<Tensor> Receive(llvm::StringRef key);

 private:
  bool IsStuck() const;  // all that is left waits, for what is not there

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Tensor> values_;
  std::multiset<std::string> wanted_;  // by those that wait
  int running_ = 0;                    // parts that neither wait nor are through
  bool is_stuck_ = false;
  std::string failure_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_RENDEZVOUS_H_
