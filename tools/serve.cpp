// `grapnel serve [PATH...]`: the page, on this machine.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "lib/serve/http/server.h"
#include "lib/serve/work/reloader.h"
#include "lib/support/file.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/progress.h"

namespace grapnel {
namespace {

struct Flags {
  std::vector<std::string> paths;
  int port = 0;
};

// Keeps the signals that end it from every thread made after this.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

constexpr auto kTimeToEnd = std::chrono::milliseconds(250);

// One thread waits for them, which may then stop the server; the result says when it has. A kernel
// or a pass that takes longer is not waited for: nothing of it would be kept.
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

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  invocation.follows_files = true;
  OnCutFile(nullptr);
  ASSIGN_OR_RETURN(std::string token, MakeToken());
  auto pages = std::make_shared<PageSet>();
  for (const std::string& path : flags.paths) RETURN_IF_ERROR(pages->AddPath(path));
  Progress::End();  // its thread would take the signals
  sigset_t signals = BlockSignals();
  Router router(std::move(pages), token);
  std::optional<Reloader> reloader;
  if (!llvm::is_contained(flags.paths, "-")) reloader.emplace(router, flags.paths);
  ASSIGN_OR_RETURN(std::unique_ptr<Server> server, Server::Listen(router, flags.port));
  std::future<void> stopped = StopOnSignal(*server, signals);
  invocation.out() << "http://127.0.0.1:" << server->port() << "/?token=" << token << "\n";
  invocation.out().flush();
  invocation.sink()(Severity::kInfo, "open it in a browser on this machine; Ctrl-C ends it");
  server->Run();
  stopped.wait();  // from here on nobody calls the server
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  line.WithoutJson();
  auto flags = std::make_shared<Flags>();
  line.Option("PATH", flags->paths,
              "any TensorFlow graphs, or folders of dumps; the page may read nothing else")
      .Required();
  line.Option("--port", flags->port, "where to listen on 127.0.0.1; 0: any free port")
      .Between(0, 65535)
      .ShowDefault();
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("serve", "shows graphs on a web page, for this machine only", "serve model.pb",
                SetUp);

}  // namespace
}  // namespace grapnel
