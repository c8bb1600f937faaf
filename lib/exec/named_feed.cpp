#include "lib/exec/named_feed.h"

#include <map>
#include <mutex>

namespace grapnel {
namespace {

struct NamedFeeds {
  std::mutex mutex;
  std::map<std::string, Tensor, std::less<>> by_name;

  static NamedFeeds& Get() {
    static auto* feeds = new NamedFeeds;
    return *feeds;
  }
};

}  // namespace

NamedFeed::NamedFeed(std::string name, Tensor value) : name_(std::move(name)) {
  NamedFeeds& feeds = NamedFeeds::Get();
  std::lock_guard lock(feeds.mutex);
  feeds.by_name[name_] = std::move(value);
}

NamedFeed::~NamedFeed() {
  NamedFeeds& feeds = NamedFeeds::Get();
  std::lock_guard lock(feeds.mutex);
  feeds.by_name.erase(name_);
}

Tensor FindNamedFeed(llvm::StringRef name) {
  NamedFeeds& feeds = NamedFeeds::Get();
  std::lock_guard lock(feeds.mutex);
  auto found = feeds.by_name.find(std::string_view(name.data(), name.size()));
  return found == feeds.by_name.end() ? Tensor() : found->second;
}

}  // namespace grapnel
