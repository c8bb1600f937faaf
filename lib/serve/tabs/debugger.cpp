// The tab with the records of TensorFlow's debugger: causes, tensors, executions, sources.
#include <algorithm>
#include <set>

#include "lib/serve/pages/debug_page.h"
#include "lib/serve/routes/tab.h"
#include "llvm/Support/Casting.h"

namespace grapnel {
namespace {

constexpr size_t kCardsAChunk = 256;  // as in source.js
constexpr size_t kMostCards = 2048;   // cards in a file

const DebugPage& Debug(const RouteCall& call) { return llvm::cast<DebugPage>(*call.page); }

Expected<Document> Report(const RouteCall& call) { return Debug(call).Json(); }
Expected<Document> Sources(const RouteCall& call) { return Debug(call).SourcesJson(); }
Expected<Document> Traces(const RouteCall& call) {
  return Debug(call).TracesJson(call["from"], kTracesAPage);
}
Expected<Document> Executions(const RouteCall& call) {
  return Debug(call).ExecutionsJson(call["from"], kTracesAPage);
}
Expected<Document> Trace(const RouteCall& call) { return Debug(call).TraceJson(call["trace"]); }
Expected<Document> Execution(const RouteCall& call) {
  return Debug(call).ExecutionJson(call["execution"]);
}
Expected<Document> Source(const RouteCall& call) { return Debug(call).SourceJson(call["source"]); }

// Writes the cards (of one recorded tensor or execution each) of the first kMostCards records, and
// of the causes of bad tensors and the records around them.
Error WriteCards(const DebugPage& page, bool trace, FileDocuments& file) {
  size_t count = trace ? page.num_traces() : page.num_executions();
  std::set<size_t> chunks;
  for (size_t i = 0; i < std::min(count, kMostCards); i += kCardsAChunk)
    chunks.insert(i / kCardsAChunk);
  for (const DebugAlert& cause : page.Causes())
    if (int index = trace ? cause.trace : cause.execution; index >= 0)
      chunks.insert(index / kCardsAChunk);
  for (size_t number : chunks) {
    FileChunk chunk;
    for (size_t i = number * kCardsAChunk; i < std::min((number + 1) * kCardsAChunk, count); ++i) {
      ASSIGN_OR_RETURN(std::string card, trace ? page.TraceJson(i) : page.ExecutionJson(i));
      chunk.Add(static_cast<uint32_t>(i), card);
    }
    file.Put((trace ? "cards/trace/" : "cards/execution/") + std::to_string(number),
             std::move(chunk).Finish());
  }
  return Error::success();
}

// Writes the report, the lists, the user's sources, and as many cards as a file may have.
Error Write(const PageSet&, Page& shown, FileDocuments& file) {
  const auto& page = llvm::cast<DebugPage>(shown);
  file.Put("debug", page.Json());
  file.Put("sources", page.SourcesJson());
  for (size_t from = 0; from == 0 || from < page.num_traces(); from += kTracesAPage)
    file.Put("traces/" + std::to_string(from), page.TracesJson(from, kTracesAPage));
  for (size_t from = 0; from == 0 || from < page.num_executions(); from += kTracesAPage)
    file.Put("executions/" + std::to_string(from), page.ExecutionsJson(from, kTracesAPage));
  for (bool trace : {true, false}) RETURN_IF_ERROR(WriteCards(page, trace, file));
  for (size_t source = 0; source < page.num_sources(); ++source) {
    if (page.IsFramework(source)) continue;
    ASSIGN_OR_RETURN(std::string document, page.SourceJson(source));
    file.Put("source/" + std::to_string(source), document);
  }
  return Error::success();
}

GRAPNEL_TAB({.place = 10,
             .name = "debugger",
             .is_on = [](const Page& page) { return llvm::isa<DebugPage>(page); },
             .routes = {{Method::kGet, "{entry}/debug", kNoBody, Report},
                        {Method::kGet, "{entry}/sources", kNoBody, Sources},
                        {Method::kGet, "{entry}/traces/{from}", kNoBody, Traces},
                        {Method::kGet, "{entry}/executions/{from}", kNoBody, Executions},
                        {Method::kGet, "{entry}/trace/{trace}", kNoBody, Trace},
                        {Method::kGet, "{entry}/execution/{execution}", kNoBody, Execution},
                        {Method::kGet, "{entry}/source/{source}", kNoBody, Source}},
             .write = Write});

}  // namespace
}  // namespace grapnel
