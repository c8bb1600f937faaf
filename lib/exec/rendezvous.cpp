#include "lib/exec/rendezvous.h"

namespace grapnel {

void Rendezvous::Send(Message message) {
  {
    std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
  }
  Notify();
}

void Rendezvous::Notify() {
  if (!has_news_.exchange(true) && wake_) wake_();
}

void Rendezvous::Stop() {
  is_stopped_ = true;
  Notify();
}

void Rendezvous::Receive(std::vector<Message>* messages) {
  // Reset the flag before the messages are moved, so that a message sent in between sets it again.
  has_news_ = false;
  std::lock_guard lock(mutex_);
  assert(messages->empty());
  std::swap(*messages, messages_);
}

void Rendezvous::Clear() {
  std::lock_guard lock(mutex_);
  messages_.clear();
  has_news_ = is_stopped_ = wants_notifications_ = false;
}

}  // namespace grapnel
