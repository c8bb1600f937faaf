#include "lib/serve/work/debug_table.h"

#include "lib/render/graph_page.h"
#include "lib/support/json.h"
#include "lib/support/memory_budget.h"

namespace grapnel {
namespace {

using Clock = DebugSession::Clock;

Expected<std::vector<std::string>> BreakpointsIn(llvm::StringRef text) {
  ASSIGN_OR_RETURN(llvm::json::Value json, ParseJson(text));
  std::vector<std::string> breakpoints;
  const llvm::json::Object* object = json.getAsObject();
  const llvm::json::Array* list = object ? object->getArray("breakpoints") : nullptr;
  if (!list) return breakpoints;
  for (const llvm::json::Value& value : *list) {
    if (!value.getAsString()) return MakeError("a breakpoint in the request is not a string");
    breakpoints.push_back(value.getAsString()->str());
  }
  return breakpoints;
}

}  // namespace

DebugTable::~DebugTable() {
  {
    std::lock_guard lock(mutex_);
    end_ = true;
    for (const auto& [number, session] : sessions_) session->End("the server ends");
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Expected<std::string> DebugTable::Start(std::shared_ptr<const OpenedGraph> opened,
                                        llvm::StringRef text, UploadFinder find) {
  ASSIGN_OR_RETURN(PageRunRequest request, ParsePageRunRequest(text));
  ASSIGN_OR_RETURN(std::vector<std::string> breakpoints, BreakpointsIn(text));
  if (!request.devices.empty())
    return MakeError("a run is debugged on one CPU: leave 'Devices' empty");
  std::lock_guard lock(mutex_);
  ending_.remove_if([](const auto& session) { return session->is_over(); });
  if (ending_.size() >= kMostEnding)
    return MakeError("{0} ended sessions are still running a kernel: try again later",
                     ending_.size());
  ForgetOldest();
  if (!thread_.joinable()) thread_ = std::thread([this] { Watch(); });
  int64_t keep = std::min(kKept, MemoryBudget::Get().limit() / 8);
  ++last_;
  sessions_[last_] = std::make_shared<DebugSession>(last_, std::move(opened), std::move(request),
                                                    std::move(breakpoints), std::move(find), keep);
  return PageDocument(
      [&](llvm::json::OStream& json) { json.object([&] { json.attribute("session", last_); }); });
}

// Makes room for another session: drops one that is over, else ends the one whose last request is
// oldest.
void DebugTable::ForgetOldest() {
  while (sessions_.size() >= kMostSessions) {
    auto oldest = sessions_.begin();
    for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
      bool is_over = it->second->is_over(), was_over = oldest->second->is_over();
      if (is_over != was_over ? is_over : it->second->last_asked() < oldest->second->last_asked())
        oldest = it;
    }
    oldest->second->End("");
    ending_.push_back(std::move(oldest->second));
    sessions_.erase(oldest);
  }
}

Expected<std::shared_ptr<DebugSession>> DebugTable::Find(uint64_t number,
                                                         const OpenedGraph& opened) {
  std::lock_guard lock(mutex_);
  auto found = sessions_.find(number);
  if (found == sessions_.end()) {
    return MakeError("there is no session {0}: at most {1} are kept", number, kMostSessions);
  }
  if (&found->second->opened() != &opened)
    return MakeError("session {0} is of another graph", number);
  found->second->Asked();
  return found->second;
}

void DebugTable::End(uint64_t number) {
  std::lock_guard lock(mutex_);
  auto found = sessions_.find(number);
  if (found != sessions_.end()) found->second->End("it was ended");
}

void DebugTable::Watch() {
  std::unique_lock lock(mutex_);
  while (!end_) {
    wake_.wait_for(lock, std::min<std::chrono::milliseconds>(lease_ / 4, std::chrono::seconds(1)));
    Clock::time_point now = Clock::now();
    for (const auto& [number, session] : sessions_) {
      if (now - session->last_asked() > lease_ && !session->is_over())
        session->End("its page stopped asking for it");
    }
    ending_.remove_if([](const auto& session) { return session->is_over(); });
  }
}

}  // namespace grapnel
