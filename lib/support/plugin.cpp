#include "lib/support/plugin.h"

#include <dlfcn.h>
#include <elf.h>

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <vector>

#include "lib/support/exceptions.h"
#include "lib/support/file.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FileSystem.h"

namespace grapnel {
namespace {

struct Loading {
  const char* path = "";
  void (*told)(const char* path, const char* why) = nullptr;
  std::terminate_handler terminate = nullptr;  // the previous handler
  std::vector<std::string> faults;
};

struct LoadedPlugin {
  std::string name;     // the file or source file in messages; kept for PluginBeingLoaded
  std::string failure;  // the error of the load; empty: it succeeded
};

Loading& State() {
  static auto* loading = new Loading;
  return *loading;
}

// Reads a T at a byte offset of a file; nullopt if the file is too short.
template <typename T>
std::optional<T> ReadAt(llvm::StringRef bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

llvm::StringRef NameAt(llvm::StringRef bytes, uint64_t offset) {
  if (offset > bytes.size()) return {};
  return bytes.drop_front(offset).take_until([](char letter) { return letter == '\0'; });
}

Expected<Elf64_Ehdr> ReadHeader(llvm::StringRef bytes) {
  auto header = ReadAt<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return MakeError("is not a shared object");
  bool fits = header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64 &&
              header->e_type == ET_DYN && header->e_shentsize == sizeof(Elf64_Shdr);
  if (!fits) return MakeError("is not a 64-bit shared object for x86-64 with section headers");
  return *header;
}

// Reads the PluginRecord in a plugin's file without loading the plugin; nullopt if the file has no
// valid one.
Expected<std::optional<PluginRecord>> ReadRecord(llvm::StringRef bytes) {
  ASSIGN_OR_RETURN(Elf64_Ehdr header, ReadHeader(bytes));
  auto section = [&](uint64_t i) {
    return ReadAt<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  auto names = section(header.e_shstrndx);
  for (uint64_t i = 0; names && i < header.e_shnum; ++i) {
    auto found = section(i);
    if (!found || NameAt(bytes, names->sh_offset + found->sh_name) != kPluginSection) continue;
    auto record = ReadAt<PluginRecord>(bytes, found->sh_offset);
    if (!record || std::strncmp(record->mark, kPluginMark, sizeof record->mark) != 0) break;
    record->version[sizeof record->version - 1] = record->abi[sizeof record->abi - 1] = '\0';
    record->name[sizeof record->name - 1] = '\0';
    return record;
  }
  return std::optional<PluginRecord>();
}

Error CheckRecord(llvm::StringRef bytes) {
  ASSIGN_OR_RETURN(std::optional<PluginRecord> record, ReadRecord(bytes));
  if (!record) return MakeError("is not a grapnel plugin: GRAPNEL_PLUGIN(\"NAME\") is missing");
  if (llvm::StringRef(record->version) == GRAPNEL_VERSION &&
      llvm::StringRef(record->abi) == GRAPNEL_ABI)
    return Error::success();
  return MakeError(
      "plugin '{0}' was built against grapnel {1} ({2}), and this is grapnel {3} ({4}); build it "
      "again",
      record->name, record->version, record->abi, GRAPNEL_VERSION, GRAPNEL_ABI);
}

// Returns why dlopen failed: the text of dlerror() without the path, which the caller adds; for an
// undefined symbol, a sentence with the demangled symbol.
std::string WhyNotLoaded(llvm::StringRef file) {
  const char* said = dlerror();
  llvm::StringRef why(said ? said : "no reason given");
  why.consume_front(file);
  why.consume_front(": ");
  auto [what, symbol] = why.split("undefined symbol: ");
  if (symbol.empty()) return why.str();
  return "it needs '" + llvm::demangle(symbol.str()) + "', which is not public in this program";
}

Error Start(void* plugin, bool has_record) {
  auto start = reinterpret_cast<void (*)(Error*)>(dlsym(plugin, kPluginStart));
  if (!start && !has_record) return Error::success();
  if (!start)
    return MakeError(
        "exports no start function: GRAPNEL_PLUGIN belongs outside of any unnamed namespace");
  return WithoutExceptions([&] {
    Error error = Error::success();
    {
      llvm::ErrorAsOutParameter filled(&error);
      start(&error);
    }
    return error;
  });
}

void EndInConstructor() {
  std::exception_ptr thrown = std::current_exception();
  if (thrown && State().told) {
    std::string why = TextOf(WithoutExceptions([&]() -> Error { std::rethrow_exception(thrown); }));
    State().told(State().path, why.c_str());
  }
  if (State().terminate) State().terminate();
  std::abort();
}

// Loads a shared object and, if no registration failed, calls its start function if it has one.
// `file` must contain a slash; otherwise dlopen would search the library path for it.
Error Load(const char* path, const char* file, bool has_record) {
  State().path = path;
  void* plugin = nullptr;
  Error error = WithoutExceptions([&]() -> Error {
    State().terminate = std::set_terminate(EndInConstructor);
    // The plugin is never closed, because the registries point into it.
    plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    std::set_terminate(State().terminate);
    return plugin ? Error::success() : MakeError("{0}", WhyNotLoaded(file));
  });
  if (!error && State().faults.empty()) error = Start(plugin, has_record);
  State().path = "";
  std::vector<std::string> faults = std::move(State().faults);
  State().faults.clear();
  if (error) return error;
  if (!faults.empty()) return MakeError("{0}", llvm::join(faults, "\n"));
  return Error::success();
}

}  // namespace

Error OpenPlugin(llvm::StringRef path, llvm::StringRef compiled_from) {
  // The loaded plugins, by real path. After a failure, later calls return the same error without
  // another try, as the plugin may have registered something.
  static auto* loaded = new std::map<std::string, LoadedPlugin>;
  llvm::SmallString<256> real;
  if (std::error_code code = llvm::sys::fs::real_path(path, real))
    return MakeError("{0}: {1}", path, code.message());
  std::string key = real.str().str();
  if (auto found = loaded->find(key); found != loaded->end()) {
    const std::string& failure = found->second.failure;
    return failure.empty() ? Error::success() : MakeError("{0}", failure);
  }
  llvm::StringRef name = compiled_from.empty() ? path : compiled_from;
  if (compiled_from.empty()) {
    ASSIGN_OR_RETURN(std::shared_ptr<const FileBytes> file, FileBytes::Open(path));
    if (Error error = CheckRecord(file->bytes())) return Annotate(path, std::move(error));
  }
  LoadedPlugin& kept = (*loaded)[key];
  kept.name = name.str();
  Error error = Annotate(name, Load(kept.name.c_str(), key.c_str(), compiled_from.empty()));
  if (!error) return error;
  kept.failure = TextOf(std::move(error));
  return MakeError("{0}", kept.failure);
}

void OnThrowingConstructor(void (*told)(const char* path, const char* why)) { State().told = told; }

const char* PluginBeingLoaded() { return State().path; }

void ReportBadRegistration(const std::string& text) {
  assert(*State().path && "a registration of the program itself is wrong");
  State().faults.push_back(text);
}

}  // namespace grapnel
