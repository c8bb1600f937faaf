#include "lib/pass/pipeline.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// True if one toggle of the RewriterConfig is on.
bool IsTurnedOn(const PassInfo& info, llvm::StringRef toggle, const proto::RewriterConfig& config) {
  const auto* field = proto::RewriterConfig::descriptor()->FindFieldByName(toggle.str());
  if (!field) return info.default_on;
  // These two fields are not Toggles.
  if (field->name() == "auto_parallel") return config.auto_parallel().enable();
  if (field->name() == "memory_optimization")
    return config.memory_optimization() != proto::RewriterConfig::NO_MEM_OPT;
  const auto* reflection = config.GetReflection();
  if (field->type() == google::protobuf::FieldDescriptor::TYPE_BOOL) {
    return !reflection->GetBool(config, field);  // the field is named disable_...
  }
  switch (reflection->GetEnumValue(config, field)) {
    case proto::RewriterConfig::DEFAULT:
      return info.default_on;
    case proto::RewriterConfig::ON:
      return true;
    case proto::RewriterConfig::AGGRESSIVE:
      // A pass that is off by default runs only if its toggle is exactly ON, as in TensorFlow;
      // passes of mixed precision are an exception.
      return info.default_on || toggle.starts_with("auto_mixed_precision");
    default:
      return false;
  }
}

bool IsTurnedOn(const PassInfo& info, const proto::RewriterConfig& config) {
  llvm::SmallVector<llvm::StringRef, 2> toggles;
  llvm::StringRef(info.toggle).split(toggles, ',', -1, /*KeepEmpty=*/false);
  if (toggles.empty()) return info.default_on;
  return llvm::all_of(toggles,
                      [&](llvm::StringRef toggle) { return IsTurnedOn(info, toggle, config); });
}

// True if TensorFlow itself has that pass: such a pass runs as often as the config names it, a
// plugin's pass only once.
bool IsOfTensorFlow(const PassRegistry::Entry* entry) {
  return entry && !*entry->plugin && entry->info.order > 0;
}

}  // namespace

std::vector<std::string> PipelineOf(const proto::RewriterConfig& config,
                                    const PassRegistry& registry, const MessageSink& sink) {
  std::vector<std::string> names;
  auto add = [&](const std::string& name) {
    if (registry.Find(name)) {
      names.push_back(name);
    } else if (sink) {
      sink(Severity::kWarning, "the RewriterConfig names optimizer '" + name +
                                   "', which grapnel does not have: skipped");
    }
  };
  if (config.optimizers_size() > 0) {
    llvm::for_each(config.optimizers(), add);
  } else {
    for (const PassRegistry::Entry* entry : registry.Passes())
      if (entry->info.order > 0 && IsTurnedOn(entry->info, config))
        names.push_back(entry->info.name);
  }
  for (const auto& custom : config.custom_optimizers()) {
    bool runs_already = llvm::is_contained(config.optimizers(), custom.name()) &&
                        !IsOfTensorFlow(registry.Find(custom.name()));
    if (!runs_already) add(custom.name());
  }
  return names;
}

}  // namespace grapnel
