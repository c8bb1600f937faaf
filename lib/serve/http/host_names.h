// Under which names the server may be asked.
#ifndef GRAPNEL_LIB_SERVE_HTTP_HOST_NAMES_H_
#define GRAPNEL_LIB_SERVE_HTTP_HOST_NAMES_H_

#include <string>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// A page of a stranger can have its own name lead to this machine; its requests then carry that
// name. This machine's own names, with any port (a tunnel has another than the server), and those
// that whoever started the server says lead here, say nothing of the kind.
class HostNames {
 public:
  HostNames() = default;
  // Each "NAME" or "NAME:PORT", as a browser's address has it, without "http://" and path. Errors
  // quote what is none.
  static Expected<HostNames> Parse(llvm::ArrayRef<std::string> texts);

  // Whether the header Host names the server.
  bool Allows(llvm::StringRef host) const;
  // Whether the header Origin is the page's own: empty, or of that host by http or https.
  bool IsOwnOrigin(llvm::StringRef origin, llvm::StringRef host) const;

 private:
  struct Name {
    std::string name, port;  // no port: any
  };
  std::vector<Name> more_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_HTTP_HOST_NAMES_H_
