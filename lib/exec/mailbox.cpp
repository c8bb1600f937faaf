#include "lib/exec/mailbox.h"

namespace grapnel {

void Mailbox::Put(Parcel parcel) {
  {
    std::lock_guard lock(mutex_);
    parcels_.push_back(std::move(parcel));
  }
  Nudge();
}

void Mailbox::Nudge() {
  if (!has_news_.exchange(true) && wake_) wake_();
}

void Mailbox::Stop() {
  is_stopped_ = true;
  Nudge();
}

void Mailbox::Take(std::vector<Parcel>* parcels) {
  has_news_ = false;  // before looking: what comes meanwhile is news again
  std::lock_guard lock(mutex_);
  assert(parcels->empty());
  std::swap(*parcels, parcels_);
}

void Mailbox::Clear() {
  std::lock_guard lock(mutex_);
  parcels_.clear();
  has_news_ = is_stopped_ = wants_nudges_ = false;
}

}  // namespace grapnel
