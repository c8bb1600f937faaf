// One run of a graph with frames: what has arrived where. Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_FRAME_STATE_H_
#define GRAPNEL_LIB_EXEC_FRAME_STATE_H_

#include <memory>
#include <utility>
#include <vector>

#include "lib/exec/frame_plan.h"
#include "lib/exec/kernels_away.h"

namespace grapnel {

// Kept from run to run, for its memory.
class FrameRunner::State {
 public:
  State(llvm::ArrayRef<FlowNode> nodes, Client& client, HelperThreads& helpers, int threads);
  Error Run();
  void Begin();
  Error Continue();
  Error FindStuck(int rank);
  void End(bool has_failed);
  Mailbox& inbox() { return inbox_; }

 private:
  using Item = FramePlan::Item;
  using Edge = FramePlan::Edge;
  struct RunFrame;
  struct Arrivals {
    uint32_t waits_for = 0;
    int32_t alive = -1;        // of a Merge: the cell that came; -1: none yet
    uint32_t dead_inputs = 0;  // of a Merge
    bool is_dead = false;      // something it needs is dead
    bool is_queued = false;
  };
  // What arrived for the nodes of one frame in one round of it.
  struct Round {
    RunFrame* frame = nullptr;
    Round* next = nullptr;
    int64_t number = 0;
    int open = 0;                     // nodes that are queued or run, and frames entered from here
    std::vector<Arrivals> nodes;      // by number in the frame
    std::vector<Tensor> cells;        // inputs, those of a node side by side
    std::vector<RunFrame*> children;  // by number; null: not entered now
  };
  struct RunFrame {
    int kind = 0;
    Round* parent = nullptr;
    Round *first = nullptr, *last = nullptr;
    int64_t num_rounds = 0, next_number = 0;
    int enters_left = 0;
    int open = 0;  // of all rounds
    // By node: values of constant Enters (an empty one is dead), values for a round that is yet to
    // begin, and the Exits that were alive.
    std::vector<std::pair<uint32_t, Tensor>> constants, waiting;
    std::vector<uint32_t> exits_alive;
    std::unique_ptr<Receipt[]> receipts;  // of its sends, by number
  };
  struct Instance {
    uint32_t node;
    Round* round;
  };
  // Ready instances, first in, first out.
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
    std::vector<Instance> ring_;  // a power of two of them
    size_t head_ = 0, tail_ = 0;
  };
  // Of a kRecv: rounds that it waits for, and what came before its round had begun.
  struct Desk {
    uint32_t node;
    std::vector<Round*> waiting;
    std::vector<Parcel> early;
  };
  // What is used again, by frame.
  struct Spare {
    std::vector<Arrivals> fresh;  // as every round begins
    std::vector<Round*> rounds;
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
  Error InRound(const Round& round, Error error) const;
  void FillGiven(uint32_t id, Round* round);
  void ClearInputs(const Item& item, Round* round);
  llvm::MutableArrayRef<Tensor> InputsOf(Instance instance) {
    const Item& item = plan_.items[instance.node];
    return {instance.round->cells.data() + item.first_cell, item.num_inputs};
  }

  // Values on their way. All of them leave an empty tensor behind.
  void SendAll(uint32_t id, llvm::MutableArrayRef<Tensor> outputs, Round* to);
  void Send(uint32_t id, uint32_t port, Tensor& value, Round* to);
  void SendInto(uint32_t id, Tensor& value, Round* to);
  void DeliverKnown(const Edge& edge, bool is_dead, Round* to);
  void Tell(const Item& item, bool is_dead, Round* to);
  void Deliver(const Edge& edge, Tensor&& value, Round* round);
  void DeliverDead(const Edge& edge, Round* round);
  void DeliverControl(const Edge& edge, bool is_dead, Round* round);
  static bool IsReady(const Item& item, const Arrivals& arrivals);
  void EnqueueIfReady(uint32_t id, Round* round);
  void Enqueue(uint32_t id, Arrivals& arrivals, Round* round);

  // Frames and rounds.
  void EnterFrame(uint32_t id, Tensor& value, Round* from);
  void NextRound(uint32_t id, Tensor& value, Round* from);
  RunFrame* SpareFrame(int kind);
  RunFrame* NewFrame(int kind, Round* parent);
  Round* AddRound(RunFrame* frame);
  void Advance(RunFrame* frame);
  void Finished(Round* round);
  void FinishIfDone(RunFrame* frame);
  void Recycle(Round* round);
  void RestoreConstants();
  void Recycle(RunFrame* frame);

  // Values to and from other parts (frame_transfers.cpp).
  static bool IsTransfer(FlowKind kind) { return kind >= FlowKind::kSend; }
  static bool IsFrom(const Parcel& parcel, const Round* round);
  Expected<bool> Transfer(Instance instance);
  Expected<bool> SendAway(Instance instance);
  Expected<bool> Join(Instance instance);
  static llvm::SmallVector<int64_t, 3> RoundsOf(const Round* round);
  Error Receive(Instance instance, Parcel parcel);
  Error TakeNews();
  void ClearTransfers();

  // Kernels on other threads.
  struct Flight : KernelsAway::Flight {
    Instance instance;
  };
  // A node runs for one round after the other, as they came.
  struct Line {
    bool is_away = false;
    Round* next = nullptr;  // in the queue again, before those that are held back
    std::vector<Round*> held_back;
  };
  bool GoesAway(Instance instance);
  void CallNext(uint32_t id);
  void RunFlight(Flight* flight);
  Error Land(Flight* flight);
  Error LandAll(llvm::ArrayRef<KernelsAway::Flight*> flights);

  FramePlan plan_;
  Client& client_;
  bool shares_ = false;  // with helpers
  std::vector<std::unique_ptr<Round>> rounds_;
  std::vector<std::unique_ptr<RunFrame>> frames_;
  std::vector<Spare> spares_;
  std::vector<Tensor> outputs_;  // of the node that runs
  std::vector<Tensor> numbers_;  // 0, 1, ...: which input a Merge took
  RunFrame* root_ = nullptr;
  Queue ready_;
  std::vector<std::unique_ptr<Flight>> flights_;
  std::vector<Flight*> idle_flights_;
  std::vector<Line> lines_;  // by node
  KernelsAway away_;
  Mailbox inbox_;
  std::vector<Parcel> news_;
  std::vector<Desk> desks_;
  std::vector<Instance> held_sends_;  // until receivers have taken what was sent before
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_FRAME_STATE_H_
