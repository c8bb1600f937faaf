// The tab that runs the graph on the serving machine: the form, progress, results; and debugged
// runs.
#include "lib/serve/routes/tab.h"
#include "lib/serve/work/run_request.h"

namespace grapnel {
namespace {

Expected<Document> Form(const RouteCall& call) {
  ASSIGN_OR_RETURN(auto opened, OpenedOf(*call.page));
  return RunFormJson(*opened);
}

Expected<Document> Start(const RouteCall& call) {
  ASSIGN_OR_RETURN(auto opened, OpenedOf(*call.page));
  return call.runs.Start(std::move(opened), call.body);
}

Expected<Document> Stop(const RouteCall& call) { return call.runs.Stop(call["run"]); }

// The body is a .npy file.
Expected<Document> Feed(const RouteCall& call) { return call.runs.KeepFile(call.body); }

Expected<Document> Status(const RouteCall& call) { return call.runs.StatusJson(call["run"]); }

Expected<Document> Tensors(const RouteCall& call) {
  return call.runs.TensorsJson(call["run"], call["from"]);
}

Expected<Document> Boxes(const RouteCall& call) {
  ASSIGN_OR_RETURN(GraphPage * graph, call.page->Drawing());
  return call.runs.BoxesJson(call["run"], *graph);
}

Expected<Document> OfNode(const RouteCall& call) {
  ASSIGN_OR_RETURN(GraphPage * graph, call.page->Drawing());
  return call.runs.NodeJson(call["run"], *graph, call["body"], call["node"]);
}

Expected<Document> Fetched(const RouteCall& call) {
  ASSIGN_OR_RETURN(std::string bytes, call.runs.NpyFile(call["run"], call["fetch"]));
  return Document(std::move(bytes), "fetch_" + std::to_string(call["fetch"]) + ".npy");
}

Expected<Document> Debug(const RouteCall& call) {
  ASSIGN_OR_RETURN(auto opened, OpenedOf(*call.page));
  return call.debugs.Start(std::move(opened), call.body,
                           [&runs = call.runs](uint64_t upload) { return runs.FindFile(upload); });
}

Expected<std::shared_ptr<DebugSession>> SessionOf(const RouteCall& call) {
  ASSIGN_OR_RETURN(auto opened, OpenedOf(*call.page));
  return call.debugs.Find(call["session"], *opened);
}

Expected<Document> DebugStatus(const RouteCall& call) {
  ASSIGN_OR_RETURN(auto session, SessionOf(call));
  return session->StatusJson();
}

// The body is a line for the prompt of `grapnel debug`.
Expected<Document> DebugCommand(const RouteCall& call) {
  ASSIGN_OR_RETURN(auto session, SessionOf(call));
  return session->Do(call.body);
}

Expected<Document> DebugValue(const RouteCall& call) {
  ASSIGN_OR_RETURN(auto session, SessionOf(call));
  return session->Value(call.body);
}

Expected<Document> DebugPause(const RouteCall& call) {
  ASSIGN_OR_RETURN(auto session, SessionOf(call));
  session->Pause();
  return session->StatusJson();
}

Expected<Document> DebugEnd(const RouteCall& call) {
  call.debugs.End(call["session"]);
  return std::string("{}");
}

Expected<Document> DebugFile(const RouteCall& call) {
  constexpr const char* kKinds[] = {"input", "output", "fetch"};
  ASSIGN_OR_RETURN(auto session, SessionOf(call));
  std::string kind = kKinds[call["of"]];
  ASSIGN_OR_RETURN(std::string bytes, session->NpyFile(kind, call["index"]));
  return Document(std::move(bytes), kind + "_" + std::to_string(call["index"]) + ".npy");
}

GRAPNEL_TAB(
    {.place = 80,
     .name = "run",
     .needs_server = true,
     .is_on = [](const Page& page) { return page.opened() != nullptr; },
     .routes = {
         {Method::kGet, "{entry}/run", kNoBody, Form},
         {Method::kPost, "{entry}/run", kLargestTyped, Start, WorkerClass::kStart},
         {Method::kPost, "{entry}/stop/{run}", kNoBody, Stop, WorkerClass::kAtOnce},
         {Method::kPost, "{entry}/feed", kLargestFile, Feed, WorkerClass::kStart},
         {Method::kGet, "{entry}/run/{run}", kNoBody, Status, WorkerClass::kAtOnce},
         {Method::kGet, "{entry}/run-tensors/{run}/{from}", kNoBody, Tensors},
         {Method::kGet, "{entry}/run-boxes/{run}", kNoBody, Boxes},
         {Method::kGet, "{entry}/run-node/{run}/{body}/{node}", kNoBody, OfNode},
         {Method::kGet, "{entry}/npy/{run}/{fetch}", kNoBody, Fetched},
         {Method::kPost, "{entry}/debug-run", kLargestTyped, Debug, WorkerClass::kStart},
         {Method::kGet, "{entry}/debug-run/{session}", kNoBody, DebugStatus, WorkerClass::kAtOnce},
         {Method::kPost, "{entry}/debug-command/{session}", kLargestRequest, DebugCommand},
         {Method::kPost, "{entry}/debug-value/{session}", kLargestRequest, DebugValue},
         {Method::kPost, "{entry}/debug-pause/{session}", kNoBody, DebugPause,
          WorkerClass::kAtOnce},
         {Method::kPost, "{entry}/debug-end/{session}", kNoBody, DebugEnd, WorkerClass::kAtOnce},
         {Method::kGet, "{entry}/debug-npy/{session}/{of=input|output|fetch}/{index}", kNoBody,
          DebugFile}}});

}  // namespace
}  // namespace grapnel
