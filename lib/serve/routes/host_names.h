// The host names by which clients may address the server.
#ifndef GRAPNEL_LIB_SERVE_ROUTES_HOST_NAMES_H_
#define GRAPNEL_LIB_SERVE_ROUTES_HOST_NAMES_H_

#include <string>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Guards against DNS rebinding: a foreign page can point its own name at this machine, but its
// requests then have that name in the header Host. Allows 127.0.0.1, localhost and [::1], with any
// port (a tunnel's port differs from the server's), and the names given when the server was
// started.
class HostNames {
 public:
  HostNames() = default;
  // Parses names, each "NAME" or "NAME:PORT" as in a browser's address, without "http://" and path.
  // Errors quote invalid names.
  static Expected<HostNames> Parse(llvm::ArrayRef<std::string> texts);

  // True if `host`, the header Host of a request, is one of the server's names.
  bool Allows(llvm::StringRef host) const;
  // True if the header Origin is the page's own: empty, or `host` with http or https.
  bool IsOwnOrigin(llvm::StringRef origin, llvm::StringRef host) const;

 private:
  struct Name {
    std::string name, port;  // an empty port allows any port
  };
  std::vector<Name> more_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_ROUTES_HOST_NAMES_H_
