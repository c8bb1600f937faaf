#include "lib/serve/routes/host_names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// Splits "name", "name:80" or "[::1]:80" into name and port.
std::pair<llvm::StringRef, llvm::StringRef> SplitPort(llvm::StringRef host) {
  size_t colon = host.rfind(':');
  if (colon == llvm::StringRef::npos || host.ends_with("]")) return {host, {}};
  return {host.take_front(colon), host.drop_front(colon + 1)};
}

bool IsPort(llvm::StringRef text) {
  unsigned port = 0;
  return !text.getAsInteger(10, port) && port > 0 && port < 65536;
}

bool IsName(llvm::StringRef text) {
  bool bracketed = text.starts_with("[") && text.ends_with("]");
  if (bracketed) text = text.drop_front().drop_back();
  return !text.empty() && llvm::all_of(text, [&](char c) {
    return llvm::isAlnum(c) || c == '.' || c == '-' || c == '_' || (bracketed && c == ':');
  });
}

}  // namespace

Expected<HostNames> HostNames::Parse(llvm::ArrayRef<std::string> texts) {
  HostNames names;
  for (const std::string& text : texts) {
    auto [name, port] = SplitPort(text);
    bool has_port = text.size() != name.size();
    if (!IsName(name) || (has_port && !IsPort(port)))
      return MakeError("'{0}': expected NAME or NAME:PORT, as in an address between // and /",
                       text);
    names.more_.push_back({name.str(), port.str()});
  }
  return names;
}

bool HostNames::Allows(llvm::StringRef host) const {
  auto [name, port] = SplitPort(host);
  if (host.size() != name.size() && !IsPort(port)) return false;
  for (llvm::StringRef own : {"127.0.0.1", "localhost", "[::1]"})
    if (name.equals_insensitive(own)) return true;
  return llvm::any_of(more_, [&, name = name, port = port](const Name& one) {
    return name.equals_insensitive(one.name) && (one.port.empty() || port == one.port);
  });
}

bool HostNames::IsOwnOrigin(llvm::StringRef origin, llvm::StringRef host) const {
  if (origin.empty()) return true;
  return (origin.consume_front("http://") || origin.consume_front("https://")) &&
         origin.equals_insensitive(host);
}

}  // namespace grapnel
