// `grapnel serve [PATH...]`: serves the web page on this machine.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "lib/job/plugin.h"
#include "lib/serve/http/server.h"
#include "lib/serve/routes/reloader.h"
#include "lib/support/file.h"
#include "lib/support/suggest.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/progress.h"

namespace grapnel {
namespace {

struct Flags {
  ServedPaths paths;
  std::vector<std::string> host_names;
  int port = 0;
};

// Blocks SIGINT and SIGTERM in this thread and all threads created after this call.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// Returns "user@host"; without "user@" if $USER is not set, and "MACHINE" if the host has no name.
std::string SshTarget() {
  char host[256] = "";
  if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == 0) return "MACHINE";
  const char* user = std::getenv("USER");
  return (user && *user ? std::string(user) + "@" : "") + host;
}

constexpr auto kTimeToEnd = std::chrono::milliseconds(250);

// Starts a thread that waits for the signals, stops the server and soon after ends the process. The
// returned future is ready when Stop() has returned. A kernel or pass that still runs then is not
// awaited, since its result would be lost anyway.
std::future<void> StopOnSignal(Server& server, sigset_t signals) {
  std::promise<void> promise;
  std::future<void> stopped = promise.get_future();
  std::thread([&server, signals, promise = std::move(promise)]() mutable {
    int signal = 0;
    sigwait(&signals, &signal);
    server.Stop();
    promise.set_value();
    std::this_thread::sleep_for(kTimeToEnd);
    _exit(kExitOk);
  }).detach();
  return stopped;
}

// Returns an error if no model has a signature with this name.
Error CheckSignature(const PageSet& pages, llvm::StringRef name) {
  if (name.empty()) return Error::success();
  std::vector<llvm::StringRef> names;
  for (size_t i = 0; i < pages.size(); ++i) {
    std::shared_ptr<const OpenedGraph> opened = pages.at(i)->opened();
    if (!opened) continue;
    for (const Signature& signature : opened->file().signatures) names.push_back(signature.name);
  }
  return llvm::is_contained(names, name) ? Error::success() : NotFound("signature", name, names);
}

// Rejects C++ files: opening a page must not run a compiler.
Error CheckNoSource(llvm::ArrayRef<std::string> paths) {
  for (const std::string& path : paths) {
    if (std::string file = SourceAndFunction(path).first; FileExists(file))
      return MakeError(
          "{0}: is a C++ program, which the page does not compile: `grapnel trace {0} -o FILE.pb` "
          "makes a graph of it",
          path);
  }
  return Error::success();
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  invocation.follows_files = true;
  OnCutFile(nullptr);
  RETURN_IF_ERROR(CheckNoSource(flags.paths.models));
  ASSIGN_OR_RETURN(std::string token, MakeToken());
  ASSIGN_OR_RETURN(std::shared_ptr<PageSet> pages, flags.paths.Open());
  RETURN_IF_ERROR(CheckSignature(*pages, flags.paths.signature));
  ASSIGN_OR_RETURN(std::vector<std::string> missing, pages->MissingNodes());
  for (const std::string& line : missing) invocation.sink()(Severity::kWarning, line);
  Progress::End();  // its thread would receive the signals
  sigset_t signals = BlockSignals();
  auto hosts = HostNames::Parse(flags.host_names);
  if (!hosts) return Annotate("--host-name", hosts.takeError());
  Router router(std::move(pages), token);
  router.AllowHosts(std::move(*hosts));
  std::optional<Reloader> reloader;
  if (!llvm::is_contained(flags.paths.models, "-")) reloader.emplace(router, flags.paths);
  ASSIGN_OR_RETURN(std::unique_ptr<Server> server, Server::Listen(router, flags.port));
  std::future<void> stopped = StopOnSignal(*server, signals);
  invocation.out() << "http://127.0.0.1:" << server->port() << "/?token=" << token << "\n";
  if (!invocation.flags.quiet)
    invocation.out() << "from another machine first: ssh -L " << server->port()
                     << ":127.0.0.1:" << server->port() << " " << SshTarget() << "\n";
  invocation.out().flush();
  invocation.sink()(Severity::kInfo, "open it in a browser on this machine; Ctrl-C ends it");
  server->Run();
  stopped.wait();  // the server is not called after this
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  line.WithoutJson();
  line.WithoutPlugins();  // requests to the page must never run foreign code
  auto flags = std::make_shared<Flags>();
  line.Option("PATH", flags->paths.models,
              "any TensorFlow graphs, or dump or debug folders; the page can read no other files, "
              "except source files below their folders or the working directory")
      .Required();
  line.Option("--signature", flags->paths.signature,
              "the signature of a SavedModel whose body is shown first; default: serving_default, "
              "else the only one, else the main graph")
      .ShownAs("NAME");
  line.Option("--node-data", flags->paths.node_data,
              "numbers for nodes, to color boxes by: Model Explorer's node data, or a table (CSV) "
              "of nodes and values; may be repeated")
      .ShownAs("FILE");
  line.Option("--host-name", flags->host_names,
              "a further host name by which browsers reach the server, as through a proxy; "
              "127.0.0.1 and localhost work with any port")
      .ShownAs("NAME[:PORT]");
  line.Option("--port", flags->port, "the port to listen on, at 127.0.0.1; 0: any free port")
      .Between(0, 65535)
      .ShowDefault();
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("serve", "shows graphs on a web page, for this machine only", "serve model.pb",
                SetUp);

}  // namespace
}  // namespace grapnel
