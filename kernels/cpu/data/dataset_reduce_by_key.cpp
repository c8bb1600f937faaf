// Reduces elements by key: each element updates the state of its key.
#include <map>

#include "kernels/cpu/data/dataset.h"

namespace grapnel {
namespace {

struct Reducer {
  CapturedFunction key, init, reduce, finish;
};

// Returns the final state of each key, in key order.
Expected<std::map<int64_t, DatasetElement>> StatesOf(DatasetNext& input, DatasetContext& context,
                                                     const Reducer& reducer) {
  std::map<int64_t, DatasetElement> states;
  for (;;) {
    ASSIGN_OR_RETURN(auto element, input(context));
    if (!element) return states;
    ASSIGN_OR_RETURN(DatasetElement key, reducer.key.Call(context, *element));
    if (key.size() != 1 || key[0].dtype() != proto::DT_INT64 || key[0].num_elements() != 1)
      return MakeError("key_func must return one int64");
    auto it = states.find(key[0].IntAt(0));
    if (it == states.end()) {
      ASSIGN_OR_RETURN(DatasetElement first, reducer.init.Call(context, key));
      it = states.emplace(key[0].IntAt(0), std::move(first)).first;
    }
    DatasetElement arguments = std::move(it->second);
    arguments.insert(arguments.end(), element->begin(), element->end());
    ASSIGN_OR_RETURN(it->second, reducer.reduce.Call(context, std::move(arguments)));
  }
}

DatasetNext ReducedOf(DatasetNext input, Reducer reducer) {
  return [input = std::move(input), reducer = std::move(reducer), started = false,
          states =
              std::map<int64_t, DatasetElement>()](DatasetContext& context) mutable -> NextElement {
    if (!started) {
      ASSIGN_OR_RETURN(states, StatesOf(input, context, reducer));
      started = true;
    }
    if (states.empty()) return NoElement();
    DatasetElement state = std::move(states.begin()->second);
    states.erase(states.begin());
    ASSIGN_OR_RETURN(DatasetElement result, reducer.finish.Call(context, std::move(state)));
    return std::optional(std::move(result));
  };
}

Expected<KernelFn> MakeGroupByReducer(const KernelSetup& setup) {
  const Node& node = setup.node();
  static constexpr const char* kNames[] = {"key", "init", "reduce", "finalize"};
  std::vector<CapturedFunction> functions;
  std::vector<int> ends{1};
  for (const char* name : kNames) {
    ASSIGN_OR_RETURN(CapturedFunction function,
                     CapturedFunction::Make(node, std::string(name) + "_func"));
    functions.push_back(std::move(function));
    ends.push_back(ends.back() +
                   CountTypes(node, std::string("T") + name + "_func_other_arguments"));
  }
  if (ends.back() != setup.num_inputs())
    return MakeError("the node has {0} inputs, {1} were expected", setup.num_inputs(), ends.back());
  return KernelFn([node, functions, ends](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    auto with = [&](int i) { return functions[i].With(InputsOf(ctx, ends[i], ends[i + 1])); };
    Reducer reducer{with(0), with(1), with(2), with(3)};
    return PutDataset(ctx, node, Dataset::kUnknown,
                      [input, reducer](DatasetContext& begin) -> Expected<DatasetNext> {
                        ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(begin));
                        return ReducedOf(std::move(next), reducer);
                      });
  });
}

GRAPNEL_CPU_KERNEL("GroupByReducerDataset", MakeGroupByReducer, KernelCost::kCheap);

}  // namespace
}  // namespace grapnel
