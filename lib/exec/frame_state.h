// The state of one run of a graph with frames: the values that have arrived at each node.
// Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_FRAME_STATE_H_
#define GRAPNEL_LIB_EXEC_FRAME_STATE_H_

#include <memory>
#include <utility>
#include <vector>

#include "lib/exec/call_stack.h"
#include "lib/exec/frames.h"
#include "lib/exec/offloaded_kernels.h"

namespace grapnel {

// Used by one run at a time. Later runs reuse the state, so that they allocate little.
class FrameRunner::State {
 public:
  State(const FramePlan& plan, Client& client, HelperThreads& helpers, int threads);
  Error Run();
  void Begin();
  Error Continue();
  Error FindStuck(int rank);
  void End(bool has_failed);
  Rendezvous& rendezvous() { return rendezvous_; }

 private:
  using Item = FramePlan::Item;
  using Edge = FramePlan::Edge;
  struct RunFrame;
  // The inputs of a node that have arrived in one iteration.
  struct Arrivals {
    uint32_t waits_for = 0;    // edges still to wait for (Item::waits_for)
    int32_t alive = -1;        // for a Merge: cell of the first live value; -1: none yet
    uint32_t dead_inputs = 0;  // number of dead inputs; counted only for a Merge
    // An input or a control edge is dead. Only an Enter counts for a Merge, and nothing for a
    // ControlTrigger.
    bool is_dead = false;
    bool is_queued = false;
  };
  // One iteration of a frame, with the arrivals of its nodes.
  struct Iteration {
    RunFrame* frame = nullptr;
    Iteration* next = nullptr;
    int64_t number = 0;
    CallFrame call;                   // set only in a watched run, for an iteration of a loop
    int open = 0;                     // nodes that are queued or run, and frames entered from here
    std::vector<Arrivals> nodes;      // by Item::local
    std::vector<Tensor> cells;        // inputs of nodes; those of one node are adjacent
    std::vector<RunFrame*> children;  // by Item::child; null: not entered now
  };
  struct RunFrame {
    int kind = 0;
    Iteration* parent = nullptr;
    Iteration *first = nullptr, *last = nullptr;
    int64_t num_iterations = 0, next_number = 0;
    int enters_left = 0;
    int open = 0;  // sum of `open` of all iterations
    // Pairs of a node and a value: `constants` has the values of constant Enters (an empty tensor
    // is a dead one), `waiting` the values for an iteration that has not begun.
    std::vector<std::pair<uint32_t, Tensor>> constants, waiting;
    std::vector<uint32_t> exits_alive;      // Exits that have forwarded a live value
    std::unique_ptr<SendWindow[]> windows;  // of the frame's kSends, by Item::transfer
  };
  // A node in one iteration.
  struct Instance {
    uint32_t node;
    Iteration* iteration;
  };
  // The instances that are ready to run, first in, first out.
  class Queue {
   public:
    Queue() : ring_(64) {}
    bool empty() const { return head_ == tail_; }
    void Push(Instance instance) {
      if (tail_ - head_ == ring_.size()) Grow();
      ring_[tail_++ & (ring_.size() - 1)] = instance;
    }
    Instance Pop() { return ring_[head_++ & (ring_.size() - 1)]; }
    void Clear() { head_ = tail_; }

   private:
    void Grow();
    std::vector<Instance> ring_;  // the size is a power of two
    size_t head_ = 0, tail_ = 0;
  };
  // The state of a kRecv or kCollective: the iterations that wait for a message, and the messages
  // that came before their iteration waited.
  struct Receiver {
    uint32_t node;
    std::vector<Iteration*> waiting;
    std::vector<Message> early;
  };
  // Idle frames and iterations of one kind of frame, for reuse.
  struct Spare {
    std::vector<Arrivals> fresh;  // nodes as they are at the beginning of an iteration
    std::vector<Iteration*> iterations;
    std::vector<RunFrame*> frames;
  };

  Error RunOne(Instance instance);
  Error RunKernel(Instance instance);
  Error PassOn(Instance instance);
  void PassDead(Instance instance);
  Expected<uint32_t> ChosenPort(uint32_t id, const Tensor& chosen) const;
  Error Watch(Instance instance, uint32_t port, const Tensor& value);
  bool IsRead(const Item& item, uint32_t port) const {
    const FramePlan::Range& edges = plan_.ports[item.first_port + port].all;
    return edges.begin != edges.end;
  }
  Tensor NumberOfInput(uint32_t number);
  Error InIteration(const Iteration& iteration, Error error) const;
  // Returns the call frame in which the iteration's nodes run.
  const CallFrame* CallOf(const Iteration& iteration) const {
    return iteration.frame->kind ? &iteration.call : outer_call_;
  }
  void FillGiven(uint32_t id, Iteration* iteration);
  void ClearInputs(const Item& item, Iteration* iteration);
  llvm::MutableArrayRef<Tensor> InputsOf(Instance instance) {
    const Item& item = plan_.items[instance.node];
    return {instance.iteration->cells.data() + item.first_cell, item.num_inputs};
  }

  // Delivery of values. Each of these functions leaves `value` empty.
  void SendAll(uint32_t id, llvm::MutableArrayRef<Tensor> outputs, Iteration* to);
  void Send(uint32_t id, uint32_t port, Tensor& value, Iteration* to);
  void SendInto(uint32_t id, Tensor& value, Iteration* to);
  void DeliverKnown(const Edge& edge, bool is_dead, Iteration* to);
  void SendControls(const Item& item, bool is_dead, Iteration* to);
  void Deliver(const Edge& edge, Tensor&& value, Iteration* iteration);
  void DeliverDead(const Edge& edge, Iteration* iteration);
  void DeliverControl(const Edge& edge, bool is_dead, Iteration* iteration);
  static bool IsReady(const Item& item, const Arrivals& arrivals);
  void EnqueueIfReady(uint32_t id, Iteration* iteration);
  void Enqueue(uint32_t id, Arrivals& arrivals, Iteration* iteration);

  // Frames and iterations (frame_iterations.cpp).
  void EnterFrame(uint32_t id, Tensor& value, Iteration* from);
  void ToNextIteration(uint32_t id, Tensor& value, Iteration* from);
  RunFrame* SpareFrame(int kind);
  RunFrame* NewFrame(int kind, Iteration* parent);
  Iteration* AddIteration(RunFrame* frame);
  void Advance(RunFrame* frame);
  void Finished(Iteration* iteration);
  void FinishIfDone(RunFrame* frame);
  void Recycle(Iteration* iteration);
  void RestoreConstants();
  void Recycle(RunFrame* frame);

  // Values to and from other partitions (frame_transfers.cpp).
  static bool IsTransfer(FlowKind kind) { return kind >= FlowKind::kSend; }
  static bool IsFrom(const Message& message, const Iteration* iteration);
  Expected<bool> Transfer(Instance instance);
  Expected<bool> SendMessage(Instance instance);
  Expected<bool> Join(Instance instance);
  static llvm::SmallVector<int64_t, 3> IterationsOf(const Iteration* iteration);
  Error Receive(Instance instance, Message message);
  Error ReceiveMessages();
  void ClearTransfers();

  // Kernels on other threads (frame_offloading.cpp).
  struct Call : OffloadedKernels::Call {
    Instance instance;
  };
  // The iterations in which one node is ready. The node runs for one iteration at a time, in the
  // order in which they became ready.
  struct Turns {
    bool is_offloaded = false;
    Iteration* next = nullptr;  // the iteration that is queued again, ahead of `waiting`
    std::vector<Iteration*> waiting;
  };
  bool Offload(Instance instance);
  void QueueNextTurn(uint32_t id);
  void RunCall(Call* call);
  Error Complete(Call* call);
  Error CompleteAll(llvm::ArrayRef<OffloadedKernels::Call*> calls);

  const FramePlan& plan_;
  Client& client_;
  const CancelFlag* cancel_;
  bool shares_ = false;  // may give kernels to helpers
  bool is_watched_;
  const CallFrame* outer_call_ = nullptr;  // the call frame of the whole graph
  std::vector<std::unique_ptr<Iteration>> iterations_;
  std::vector<std::unique_ptr<RunFrame>> frames_;
  std::vector<Spare> spares_;
  std::vector<Tensor> outputs_;  // of the running node
  std::vector<Tensor> numbers_;  // 0, 1, ...: the index of the input that a Merge took
  RunFrame* root_ = nullptr;
  Queue ready_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<Call*> idle_calls_;
  std::vector<Turns> turns_;  // by node
  OffloadedKernels offloaded_;
  Rendezvous rendezvous_;
  std::vector<Message> messages_;
  std::vector<Receiver> receivers_;
  std::vector<Instance> held_sends_;  // wait until earlier messages are received
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_FRAME_STATE_H_
