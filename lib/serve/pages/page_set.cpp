#include "lib/serve/pages/page_set.h"

#include <malloc.h>

#include <cassert>
#include <mutex>
#include <utility>

#include "lib/job/graph_path.h"
#include "lib/render/labels.h"
#include "lib/render/node_data.h"
#include "lib/serve/pages/debug_page.h"
#include "lib/serve/pages/evicted_page.h"
#include "lib/serve/pages/model_page.h"
#include "lib/serve/pages/stage_page.h"
#include "lib/support/file.h"
#include "lib/support/printable.h"
#include "lib/support/thread_pool.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

namespace grapnel {

namespace {

// Returns a name for each path: its last component, with the directory before it if two names would
// be equal.
std::vector<std::string> ModelNames(llvm::ArrayRef<std::string> paths) {
  std::vector<std::string> names;
  names.reserve(paths.size());
  for (llvm::StringRef path : paths) {
    llvm::StringRef name = llvm::sys::path::filename(path);
    auto alike = [&](llvm::StringRef other) { return llvm::sys::path::filename(other) == name; };
    llvm::StringRef folder = llvm::sys::path::filename(llvm::sys::path::parent_path(path));
    bool alone = llvm::count_if(paths, alike) == 1 || folder.empty();
    names.push_back(alone ? name.str() : (folder + "/" + name).str());
  }
  return names;
}

}  // namespace

struct PageSet::NodeDataFile {
  std::string path, text;
  std::vector<NodeData> data;
};

size_t PageSet::Add(std::unique_ptr<Page> page) {
  std::vector<std::unique_ptr<Page>> one;
  one.push_back(std::move(page));
  return AddAll(std::move(one));
}

size_t PageSet::AddAll(std::vector<std::unique_ptr<Page>> pages) {
  std::unique_lock lock(mutex_);
  return Append(std::move(pages), model_paths_.empty() ? 0 : model_paths_.size() - 1);
}

size_t PageSet::AddMade(std::vector<std::unique_ptr<Page>> pages, size_t model) {
  Made made = {0, pages.size(), 0};
  for (const std::unique_ptr<Page>& page : pages) made.weight += page->Weight();
  std::vector<std::shared_ptr<Page>> forgotten;  // destroyed after the lock is released
  std::unique_lock lock(mutex_);
  made.first = Append(std::move(pages), model);
  num_made_ += made.count;
  made_weight_ += made.weight;
  made_.push_back(made);
  forgotten = ForgetOldest();
  lock.unlock();
  if (forgotten.empty()) return made.first;
  forgotten.clear();
  malloc_trim(0);  // returns memory of other threads' heaps to the system
  return made.first;
}

// While there are too many pages made on request, replaces the oldest of them by EvictedPages.
// Never evicts the newest page, however large it is. Returns the evicted pages.
std::vector<std::shared_ptr<Page>> PageSet::ForgetOldest() {
  std::vector<std::shared_ptr<Page>> forgotten;
  while (made_.size() > 1 && (num_made_ > kMostMade || made_weight_ > kMostMadeWeight)) {
    Made oldest = made_.front();
    made_.pop_front();
    num_made_ -= oldest.count;
    made_weight_ -= oldest.weight;
    for (size_t i = oldest.first; i < oldest.first + oldest.count; ++i) {
      auto instead = std::make_shared<EvictedPage>(pages_[i]->title());
      instead->number_ = i;
      instead->model_ = pages_[i]->model_;
      forgotten.push_back(std::exchange(pages_[i], std::move(instead)));
    }
  }
  return forgotten;
}

size_t PageSet::Append(std::vector<std::unique_ptr<Page>> pages, size_t model) {
  size_t first = pages_.size();
  for (std::unique_ptr<Page>& page : pages) {
    page->number_ = pages_.size();
    page->model_ = model;
    pages_.push_back(std::move(page));
  }
  return first;
}

Error PageSet::AddPath(llvm::StringRef path, llvm::StringRef signature) {
  {
    std::unique_lock lock(mutex_);
    model_paths_.push_back(path.rtrim('/').str());
  }
  return Open(path, llvm::sys::path::filename(path).str(), signature);
}

Error PageSet::Open(llvm::StringRef path, const std::string& title, llvm::StringRef signature) {
  if (IsDebugFolder(path)) {
    ASSIGN_OR_RETURN(std::unique_ptr<DebugPage> page, DebugPage::Open(path));
    Add(std::move(page));
    return Error::success();
  }
  if (GraphPath named = ReadGraphPath(path); !named.title.empty()) {
    ASSIGN_OR_RETURN(OpenedGraph opened, OpenedGraph::Open(path));
    Add(std::make_unique<ModelPage>(
        std::make_shared<const OpenedGraph>(std::move(opened)),
        llvm::sys::path::filename(llvm::StringRef(named.path).rtrim('/')).str() + ": " +
            named.title,
        signature));
    return Error::success();
  }
  ASSIGN_OR_RETURN(Model opened, OpenModel(path));
  auto model = std::make_shared<Model>(std::move(opened));
  if (model->kind == FileKind::kDumpFolder) {
    ThreadPool pool;
    ASSIGN_OR_RETURN(Timeline timeline, ReadTimeline(path, {}, pool));
    PassRun run;
    run.timeline = std::make_shared<Timeline>(std::move(timeline));
    run.folder = path.str();
    run.record = ReadRunRecord(path);
    AddAll(StagePages(std::move(run), title));
    return Error::success();
  }
  for (size_t i = 0; i < model->graphs.size(); ++i) {
    const GraphInFile& file = model->graphs[i];
    bool several = model->graphs.size() > 1 && !file.title.empty();
    Add(std::make_unique<ModelPage>(std::make_shared<const OpenedGraph>(model, i),
                                    several ? title + ": " + file.title : title, signature));
  }
  return Error::success();
}

Error PageSet::AddNodeData(llvm::StringRef path) {
  ASSIGN_OR_RETURN(std::shared_ptr<const FileBytes> bytes, FileBytes::Open(path));
  ASSIGN_OR_RETURN(std::vector<NodeData> data, ReadNodeData(bytes->bytes(), path));
  node_data_.push_back(std::make_shared<const NodeDataFile>(
      NodeDataFile{path.str(), bytes->bytes().str(), std::move(data)}));
  return Error::success();
}

std::string PageSet::NodeDataJson() const {
  return PageDocument([&](llvm::json::OStream& json) {
    json.array([&] {
      for (const auto& file : node_data_) {
        json.object([&] {
          json.attribute("file", Printable(llvm::sys::path::filename(file->path)));
          json.attribute("text", llvm::json::fixUTF8(file->text));
        });
      }
    });
  });
}

Expected<std::vector<std::string>> PageSet::MissingNodes() const {
  std::vector<std::shared_ptr<Page>> kept;
  std::vector<const Module*> modules;
  for (size_t i = 0; i < size(); ++i) {
    kept.push_back(at(i));
    if (const Module* module = kept.back()->module()) modules.push_back(module);
  }
  std::vector<std::string> lines;
  if (modules.empty()) return lines;  // all pages are, for example, debug folders
  for (const auto& file : node_data_) {
    auto missing = ::grapnel::MissingNodes(file->data, modules);
    if (!missing) return Annotate(file->path, missing.takeError());
    if (!missing->empty()) lines.push_back(file->path + ": " + *missing);
  }
  return lines;
}

size_t PageSet::size() const {
  std::shared_lock lock(mutex_);
  return pages_.size();
}

Expected<std::shared_ptr<Page>> PageSet::Find(size_t number) const {
  std::shared_lock lock(mutex_);
  if (number < pages_.size()) return pages_[number];
  return MakeError("there is no graph {0}: the number of graphs is {1}", number, pages_.size());
}

std::shared_ptr<Page> PageSet::at(size_t number) const {
  std::shared_lock lock(mutex_);
  assert(number < pages_.size());
  return pages_[number];
}

std::string PageSet::Json(TabsOf tabs_of, bool in_file) const {
  std::vector<std::string> paths;
  size_t count;
  {  // both under one lock: a page added later may be of a path that is not in `paths`
    std::shared_lock lock(mutex_);
    paths = model_paths_;
    count = pages_.size();
  }
  std::vector<std::string> names = ModelNames(paths);
  return PageDocument([&](llvm::json::OStream& json) {
    json.array([&] {
      for (size_t i = 0; i < count; ++i) {
        std::shared_ptr<Page> kept = at(i);
        const Page& page = *kept;
        json.object([&] {
          json.attribute("id", std::to_string(i));
          json.attribute("title", Printable(page.title()));
          if (!page.group().empty()) json.attribute("group", Printable(page.group()));
          if (names.size() > 1) {
            json.attribute("model", page.model());
            json.attribute("file", Printable(names[page.model()]));
          }
          if (!page.note().empty()) json.attribute("note", Printable(page.note()));
          if (page.opened()) json.attribute("opened", true);
          if (!page.Differs()) json.attribute("same", true);
          if (page.module() && !in_file) json.attribute("module", true);
          if (in_file ? page.HasPanesInFile() : page.HasPanes()) json.attribute("panes", true);
          json.attributeArray("tabs", [&] {
            for (llvm::StringRef name : tabs_of(page)) json.value(name);
          });
          page.WriteListed(json);
        });
      }
    });
  });
}

}  // namespace grapnel
