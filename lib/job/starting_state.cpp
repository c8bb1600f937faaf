#include "lib/job/starting_state.h"

#include "lib/exec/saved_state.h"
#include "lib/ir/node_types.h"

namespace grapnel {

Expected<std::shared_ptr<const StartingState>> StartingState::Of(const OpenedGraph& opened,
                                                                 ThreadPool& pool) {
  ASSIGN_OR_RETURN(OpenedGraph again, opened.Reopen());
  const GraphInFile& file = again.file();
  const Model& model = again.model();
  bool has_state = !InitOpOf(file).empty() || !file.initial_values.empty() || model.case_info;
  for (Node node : file.module->main.nodes()) has_state |= IsVariable(node);
  if (!has_state) return nullptr;
  std::shared_ptr<StartingState> state(new StartingState(std::move(again), pool));
  RETURN_IF_ERROR(RestoreSession(state->opened_.file(), state->opened_.model().variables_prefix,
                                 state->session_, pool)
                      .takeError());
  return state;
}

Error StartingState::Fill(Session& session) const {
  for (const auto& [name, resource] : session_.Resources()) {
    auto* variable = dynamic_cast<StoredVariable*>(resource.get());
    if (!variable || !variable->Get()) continue;
    ObjectRef own = session.FindOrMake("", name, [&variable = *variable] {
      return ObjectRef(new StoredVariable(variable.name(), variable.dtype(), variable.shape()));
    });
    if (auto* copy = dynamic_cast<StoredVariable*>(own.get())) copy->Set(variable->Get());
  }
  RETURN_IF_ERROR(RestoreSession(opened_.file(), "", session, pool_).takeError());
  if (const auto& values = opened_.model().case_info)
    return RestoreCase(opened_.file(), *values, session, pool_);
  return Error::success();
}

}  // namespace grapnel
