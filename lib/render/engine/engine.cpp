#include "lib/render/engine/engine.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

#include "lib/render/engine/api.h"
#include "lib/render/web/script_bundle.h"
#include "lib/render/web/web_file.h"
#include "lib/support/program_file.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

constexpr double kMostSeconds = 120, kMostPixels = 1 << 26;

// A package (./x package) brings fonts in ../lib/fonts for machines that have none.
void UseOwnFonts() {
  std::string fonts = BesideTheProgram("../lib/fonts/fonts.conf");
  bool has_some = access("/etc/fonts/fonts.conf", R_OK) == 0;
  if (!has_some && access(fonts.c_str(), R_OK) == 0) setenv("FONTCONFIG_FILE", fonts.c_str(), 0);
}

// The engine reserves 64 GiB of addresses, none of them used; told not to, it still ends the
// program where it gets none. A limit on addresses (ulimit -v) is a limit on what may be tried.
std::string NotEnoughAddresses() {
  constexpr rlim_t kNeeded = rlim_t{8} << 30;
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY) return "";
  setenv("GIGACAGE_ENABLED", "0", 0);
  if (limit.rlim_cur >= kNeeded) return "";
  return llvm::formatv("the limit on addresses (ulimit -v) of {0} is below {1}",
                       HumanBytes(limit.rlim_cur), HumanBytes(kNeeded));
}

// The engine would stop its threads by SIGUSR1, to collect and to end what takes too long. LLVM
// takes that signal over with the next file that it watches, after which a collection waits for
// ever. So it collects between steps, and looks at the time itself.
void UseNoSignals() {
  setenv("JSC_useConcurrentGC", "0", 0);
  setenv("JSC_usePollingTraps", "1", 0);
}

// Stays open: its libraries keep threads.
Expected<const GrapnelPictureApi*> OpenModule() {
  static const std::string path = ModulePath("grapnel_picture.so");
  static std::string why;
  static const GrapnelPictureApi* const api = []() -> const GrapnelPictureApi* {
    UseOwnFonts();
    UseNoSignals();
    if (why = NotEnoughAddresses(); !why.empty()) return nullptr;
    if (access("/dev/urandom", R_OK)) {  // without, the engine ends the program
      why = "there is no /dev/urandom";
      return nullptr;
    }
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!module) {
      why = dlerror();
      return nullptr;
    }
    auto entry = reinterpret_cast<GrapnelPictureEntryFn>(dlsym(module, GRAPNEL_PICTURE_ENTRY));
    const GrapnelPictureApi* found = entry ? entry(GRAPNEL_PICTURE_API_VERSION) : nullptr;
    if (!found) why = path + " is of another version of grapnel";
    return found;
  }();
  if (!api) return MakeError("cannot draw: {0}; a .dot file needs no module", why);
  return api;
}

void Take(void* text, const char* bytes, size_t size) {
  static_cast<std::string*>(text)->assign(bytes, size);
}

}  // namespace

Expected<std::string> CallScript(llvm::StringRef name, const std::string& function,
                                 llvm::ArrayRef<std::string> arguments) {
  ASSIGN_OR_RETURN(const GrapnelPictureApi* api, OpenModule());
  ASSIGN_OR_RETURN(std::string script, BundleScripts(name, FindPictureFile));
  std::vector<const char*> texts;
  texts.reserve(arguments.size());
  for (const std::string& argument : arguments) texts.push_back(argument.c_str());
  std::string answer;
  if (!api->run(script.c_str(), function.c_str(), texts.data(), static_cast<int32_t>(texts.size()),
                kMostSeconds, Take, &answer))
    return MakeError("cannot draw: {0}", answer);
  return answer;
}

Expected<PngImage> PngOfSvg(llvm::StringRef svg) {
  ASSIGN_OR_RETURN(const GrapnelPictureApi* api, OpenModule());
  PngImage png;
  if (!api->png(svg.data(), svg.size(), kMostPixels, &png.scale, Take, &png.bytes))
    return MakeError("cannot draw: {0}", png.bytes);
  return png;
}

}  // namespace grapnel
