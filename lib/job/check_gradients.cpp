#include "lib/job/check_gradients.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "lib/io/signature.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/job/gradient_variables.h"
#include "lib/job/name_resolver.h"
#include "lib/trace/gradient.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

constexpr const char* kNoRealFetch =
    "no fetch is floating point: gradients need floating-point fetches; name a tensor with --fetch";

// Returns the dtype of a tensor or, for the handle of a variable, of the variable.
DataType DifferentiatedType(const Graph& graph, Port port) {
  Node node = graph.node(port.node);
  return node.op() == "VarHandleOp" ? node.GetType("dtype") : TypeOfPort(graph, port);
}

double DefaultStep(DataType dtype) {
  switch (dtype) {
    case proto::DT_DOUBLE:
      return 1e-3;
    case proto::DT_FLOAT:
      return 1e-2;
    default:
      return 6e-2;
  }
}

Tensor Of(DataType dtype, llvm::ArrayRef<int64_t> dims, llvm::function_ref<double(int64_t)> at) {
  int64_t count = NumElements(dims).value_or(0);
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) bytes += Literal::Scalar(dtype, at(i)).bytes();
  auto tensor = Tensor::FromLiteral(Literal::Make(dtype, dims, bytes));
  if (tensor) return *tensor;
  llvm::consumeError(tensor.takeError());
  return Tensor();
}

// Returns a copy of the tensor with one element replaced.
Tensor With(const Tensor& tensor, int64_t index, double value) {
  Literal literal = tensor.ToLiteral();
  std::string bytes = literal.bytes().str();
  size_t size = DataTypeSize(tensor.dtype());
  bytes.replace(index * size, size, Literal::Scalar(tensor.dtype(), value).bytes().str());
  auto made = Tensor::FromLiteral(Literal::Make(tensor.dtype(), tensor.dims(), bytes));
  if (made) return *made;
  llvm::consumeError(made.takeError());
  return Tensor();
}

// A generator of pseudo-random numbers in [-1, 1], the same on every machine.
class Numbers {
 public:
  double Next() { return static_cast<double>(engine_()) / (1u << 31) - 1; }

 private:
  std::mt19937 engine_{20240229};
};

// A tensor x with respect to which gradients are checked: a fed tensor, or a variable of the
// session.
struct Input {
  std::string name, label;  // as in CheckedTensor
  int feed = -1;
  std::vector<StoredVariable*> variables;  // the variable in the session; empty for a feed
  Tensor value;
};

class Checker {
 public:
  Checker(OpenedGraph& opened, const GradientCheckRequest& request)
      : opened_(opened), request_(request) {}

  Expected<GradientCheck> Run() {
    RETURN_IF_ERROR(RunGraph());
    RETURN_IF_ERROR(FindInputs());
    RETURN_IF_ERROR(RunGradients());
    GradientCheck check;
    check.ys = ys_;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      ASSIGN_OR_RETURN(CheckedTensor checked, Check(inputs_[i], gradients_[i]));
      check.tensors.push_back(std::move(checked));
    }
    return check;
  }

 private:
  RunRequest PlainRun() const {
    RunRequest run = request_.run.ByItself();
    run.pool = request_.run.pool;
    run.cancel = request_.run.cancel;
    return run;
  }

  Error RunGraph() {
    RunRequest run = PlainRun();
    RETURN_IF_ERROR(FillPlaceholders(&run));
    ASSIGN_OR_RETURN(RunJob job, RunJob::Make(opened_, std::move(run)));
    job_ = std::make_unique<RunJob>(std::move(job));
    RETURN_IF_ERROR(job_->Prepare());
    ASSIGN_OR_RETURN(std::vector<Tensor> values, job_->Run());
    ASSIGN_OR_RETURN(std::vector<Tensor> again, job_->Run());
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i] || !IsReal(values[i].dtype())) continue;
      ys_.push_back(job_->fetches()[i]);
      at_.push_back(i);
      Numbers numbers;
      weights_.push_back(Of(values[i].dtype(), values[i].dims(),
                            [&](int64_t) { return 1 + 0.5 * numbers.Next(); }));
      if (values[i].num_elements() != 0 && !again[i].ToLiteral().SameValue(values[i].ToLiteral()))
        return MakeError(
            "fetch '{0}' changes from run to run, so finite differences cannot be measured: does "
            "it depend on random numbers, or on a variable that the run changes?",
            ys_.back());
    }
    values_ = std::move(values);
    if (ys_.empty()) return MakeError("{0}", kNoRealFetch);
    return Error::success();
  }

  // Feeds random numbers to the floating-point placeholders of known shape that the fetches need
  // and that have no feed.
  Error FillPlaceholders(RunRequest* run) {
    ASSIGN_OR_RETURN(FeedsAndFetches known,
                     FeedsAndFetchesOf(opened_, {}, {}, request_.run.signature));
    ASSIGN_OR_RETURN(std::vector<bool> needed, NeededByFetches(known.fetches));
    llvm::DenseSet<NodeId> fed;
    const Graph& graph = opened_.module().main;
    auto note = [&](const std::string& name) {
      if (auto port = FindTensorIfThere(graph, name)) fed.insert(port->node);
    };
    NameResolver resolver(opened_, request_.run.signature);
    for (const FeedSource& feed : run->feeds) {
      ASSIGN_OR_RETURN(std::string tensor, resolver.MainTensor(feed.tensor));
      note(tensor);
    }
    if (IsCase(opened_.model())) llvm::for_each(known.feeds, note);
    Numbers numbers;
    for (Node node : graph.nodes()) {
      if (node.op() != "Placeholder" || fed.contains(node.id()) || !needed[node.id()]) continue;
      DataType dtype = node.GetType("dtype");
      auto attr = node.FindAttr("shape");
      std::optional<Shape> shape = attr ? attr->AsShape() : std::nullopt;
      if (!IsReal(dtype) || !shape || !shape->IsFullyKnown()) continue;
      run->feeds.push_back({OutputNameOf(node), "",
                            Of(dtype, shape->dims(), [&](int64_t) { return numbers.Next(); })});
    }
    return Error::success();
  }

  // Returns for each node whether the fetches of the request, or those that the file knows, need
  // it; true for all nodes if a fetch is inside of a call, or nothing says what is fetched.
  Expected<std::vector<bool>> NeededByFetches(const std::vector<std::string>& known) const {
    const Graph& graph = opened_.module().main;
    std::vector<std::string> tensors = request_.run.fetches.empty() ? known : request_.run.fetches;
    NameResolver resolver(opened_, request_.run.signature);
    for (std::string& tensor : tensors) {
      ASSIGN_OR_RETURN(auto found, resolver.MainTensorIfThere(tensor));
      if (!found) return std::vector<bool>(graph.end_id(), true);
      tensor = std::move(*found);
    }
    if (tensors.empty()) return std::vector<bool>(graph.end_id(), true);
    return NodesNeededBy(graph, tensors);
  }

  static std::string OutputNameOf(const Node& node) { return node.name().str() + ":0"; }
  static bool IsCase(const Model& model) { return model.case_info.has_value(); }

  Error FindInputs() {
    std::vector<std::string> labels =
        NamesOfFeeds(opened_.model(), opened_.file(), request_.run.signature, job_->feeds());
    for (size_t i = 0; i < job_->feeds().size(); ++i) {
      const Tensor& value = job_->feed_values()[i];
      if (!value || !IsReal(value.dtype())) continue;
      Input input;
      input.name = job_->feeds()[i];
      input.label = labels[i];
      input.feed = static_cast<int>(i);
      input.value = value;
      AddIfAsked(std::move(input));
    }
    for (const GradientVariable& found : GradientVariables(opened_, ys_)) {
      // A name may be that of a needed variable in the program, and of another one in the graph.
      if (!found.is_needed && (request_.by.empty() || asked_.contains(found.label))) continue;
      StoredVariable* variable = VariableOf(job_->session(), found.node);
      Tensor value = variable ? variable->Get() : Tensor();
      if (!value) continue;
      Input input;
      input.name = found.node.name().str();
      input.label = found.label;
      input.variables = {variable};
      input.value = value;
      AddIfAsked(std::move(input));
    }
    for (const std::string& name : request_.by) {
      if (!asked_.contains(name))
        return MakeError(
            "--by {0}: is neither a floating-point feed nor a floating-point resource variable "
            "with a value",
            name);
    }
    if (inputs_.empty())
      return MakeError(
          "no gradient to check: the graph has no floating-point feed, and the fetches depend on "
          "no floating-point resource variable that has a value; give one with --feed");
    return Error::success();
  }

  void AddIfAsked(Input input) {
    bool wanted = request_.by.empty();
    for (const std::string& by : request_.by) {
      if (by != input.label && WithoutZeroIndex(by) != WithoutZeroIndex(input.name)) continue;
      asked_.insert(by);
      wanted = true;
    }
    if (wanted) inputs_.push_back(std::move(input));
  }

  static StoredVariable* VariableOf(const Session& session, const Node& node) {
    std::string name = node.GetString("shared_name");
    if (name.empty()) name = node.name().str();
    std::string container = node.GetString("container");
    if (!container.empty()) name = container + "/" + name;
    for (const auto& [key, object] : session.Resources()) {
      if (key == name) return dynamic_cast<StoredVariable*>(object.get());
    }
    return nullptr;
  }

  Error RunGradients() {
    std::vector<std::string> xs;
    for (const Input& input : inputs_) xs.push_back(input.name);
    std::vector<Shape> seeds;
    for (const Tensor& weight : weights_) seeds.push_back(Shape(weight.dims()));
    ASSIGN_OR_RETURN(GraphWithGradients made, AddGradients(opened_.module(), ys_, xs, seeds));
    OpenedGraph with = opened_.With(std::move(made.module));
    RunRequest run = PlainRun();
    run.completes = false;
    run.feeds.clear();
    run.fetches.clear();
    for (size_t i = 0; i < job_->feeds().size(); ++i)
      run.feeds.push_back({job_->feeds()[i], "", job_->feed_values()[i]});
    for (size_t i = 0; i < weights_.size(); ++i)
      run.feeds.push_back({"gradient_seed_" + std::to_string(i) + ":0", "", weights_[i]});
    gradients_.resize(inputs_.size());
    for (const std::string& gradient : made.gradients) {
      if (!gradient.empty() && !llvm::is_contained(run.fetches, gradient))
        run.fetches.push_back(gradient);
    }
    if (run.fetches.empty()) return Error::success();
    std::vector<std::string> fetches = run.fetches;
    ASSIGN_OR_RETURN(RunJob job, RunJob::Make(with, std::move(run)));
    RETURN_IF_ERROR(job.Prepare());
    ASSIGN_OR_RETURN(std::vector<Tensor> values, job.Run());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      auto at = llvm::find(fetches, made.gradients[i]);
      if (at != fetches.end()) gradients_[i] = values[at - fetches.begin()];
    }
    return Error::success();
  }

  Expected<double> SumAt(Input& input, int64_t index, double value) {
    Tensor moved = With(input.value, index, value);
    std::vector<Tensor> feeds(job_->feed_values().begin(), job_->feed_values().end());
    if (input.feed >= 0) feeds[input.feed] = moved;
    for (StoredVariable* variable : input.variables) variable->Set(moved);
    auto values = job_->Run(std::move(feeds));
    for (StoredVariable* variable : input.variables) variable->Set(input.value);
    if (!values) return values.takeError();
    double sum = 0;
    for (size_t i = 0; i < at_.size(); ++i) {
      Literal y = (*values)[at_[i]].ToLiteral(), w = weights_[i].ToLiteral();
      if (y.num_elements() != w.num_elements()) continue;
      for (int64_t k = 0; k < y.num_elements(); ++k) sum += y.AsDouble(k) * w.AsDouble(k);
    }
    return sum;
  }

  Expected<double> Difference(Input& input, int64_t index, double step) {
    Literal literal = input.value.ToLiteral();
    double x = literal.AsDouble(index);
    ASSIGN_OR_RETURN(double up, SumAt(input, index, x + step));
    ASSIGN_OR_RETURN(double down, SumAt(input, index, x - step));
    // Divides by the actual distance of the two values after rounding to the dtype, not by 2 *
    // step.
    double above = Literal::Scalar(input.value.dtype(), x + step).AsDouble(0);
    double below = Literal::Scalar(input.value.dtype(), x - step).AsDouble(0);
    return (up - down) / (above - below);
  }

  Expected<CheckedTensor> Check(Input& input, const Tensor& gradient) {
    CheckedTensor checked;
    checked.name = input.name;
    checked.label = input.label;
    checked.dtype = input.value.dtype();
    checked.dims = Dims(input.value.dims().begin(), input.value.dims().end());
    checked.is_connected = static_cast<bool>(gradient);
    checked.tolerance =
        request_.tolerance > 0 ? request_.tolerance : DefaultTolerance(checked.dtype);
    int64_t count = input.value.num_elements();
    if (gradient && gradient.num_elements() != count)
      return MakeError(
          "the gradient with respect to '{0}' has shape {1}, but the tensor has shape {2}",
          input.name, DimsText(gradient.dims()), DimsText(checked.dims));
    int64_t steps = std::min<int64_t>(count, request_.elements);
    double scale = 1e-3;
    for (int64_t i = 0; gradient && i < count; ++i)
      scale = std::max(scale, std::fabs(gradient.ToLiteral().AsDouble(i)));
    for (int64_t i = 0; i < steps; ++i) {
      int64_t index = i * count / steps;
      ASSIGN_OR_RETURN(CheckedElement element,
                       CheckElement(input, gradient, index, scale, checked.tolerance));
      ++checked.checked;
      // Written so that an error of NaN counts as larger than any number.
      if (i == 0 || !(element.error <= checked.worst.error)) checked.worst = element;
    }
    return checked;
  }

  Expected<CheckedElement> CheckElement(Input& input, const Tensor& gradient, int64_t index,
                                        double scale, double tolerance) {
    CheckedElement element;
    element.index = index;
    element.made = gradient ? gradient.ToLiteral().AsDouble(index) : 0;
    double size = std::max(1.0, std::fabs(input.value.ToLiteral().AsDouble(index)));
    double first = size * (request_.step > 0 ? request_.step : DefaultStep(input.value.dtype()));
    element.error = std::numeric_limits<double>::infinity();
    double step = first, rounding = 0;
    for (int attempt = 0; attempt < 4 && !(element.error <= tolerance); ++attempt, step /= 8) {
      ASSIGN_OR_RETURN(double near, Difference(input, index, step));
      ASSIGN_OR_RETURN(double far, Difference(input, index, 2 * step));
      double measured = (4 * near - far) / 3;
      double most = std::max(scale, std::fabs(measured));
      double distance = std::fabs(element.made - measured);
      // Later attempts use smaller steps, in case the function has a kink near x. The allowance for
      // rounding stays that of the first step, although rounding matters more with a smaller step:
      // a larger allowance would hide real errors.
      if (attempt == 0 && distance > tolerance * most) {
        ASSIGN_OR_RETURN(rounding, Rounding(input, index, first));
      }
      double error = std::max(0.0, distance - kErrorMargin * rounding / first) / most;
      if (attempt != 0 && !(error < element.error)) continue;
      element.measured = measured;
      element.error = std::isnan(distance) ? std::numeric_limits<double>::infinity() : error;
    }
    return element;
  }

  // Returns the standard deviation of the error of one sum, the larger of two estimates: the error
  // of rounding the ys to their dtype, and the noise of sums at points on a fine grid. Fourth
  // differences remove the smooth part of these sums (More and Wild, Estimating Computational
  // Noise); the median of the differences is not affected by the kink of a Relu.
  Expected<double> Rounding(Input& input, int64_t index, double step) {
    constexpr int kPoints = 13, kOrder = 4;
    const double of_fourth = std::sqrt(70.0), of_median = 0.6745;
    double x = input.value.ToLiteral().AsDouble(index);
    std::vector<double> sums;
    for (int i = 0; i < kPoints; ++i) {
      int from_middle = i - kPoints / 2;
      double at = x + step * from_middle / (kPoints - 1);
      ASSIGN_OR_RETURN(double sum, SumAt(input, index, at));
      sums.push_back(sum);
    }
    double stored = 0;
    for (size_t i = 0; i < at_.size(); ++i) stored += SquareOfStored(values_[at_[i]], weights_[i]);
    for (int order = 0; order < kOrder; ++order) {
      for (size_t i = 0; i + 1 < sums.size(); ++i) sums[i] = sums[i + 1] - sums[i];
      sums.pop_back();
    }
    for (double& sum : sums) sum = std::fabs(sum);
    std::nth_element(sums.begin(), sums.begin() + sums.size() / 2, sums.end());
    double noise = sums[sums.size() / 2] / of_fourth / of_median;
    return std::max(std::sqrt(stored), noise);
  }

  // The variance of the weighted sum of a tensor due to rounding its elements to the dtype, if the
  // rounding errors are uniformly distributed.
  static double SquareOfStored(const Tensor& value, const Tensor& weight) {
    Literal y = value.ToLiteral(), w = weight.ToLiteral();
    double square = 0, unit = RoundingUnit(value.dtype()) / std::sqrt(3.0);
    for (int64_t k = 0; k < y.num_elements(); ++k) {
      double one = y.AsDouble(k) * w.AsDouble(k) * unit;
      if (std::isfinite(one)) square += one * one;
    }
    return square;
  }

  static double RoundingUnit(DataType dtype) {
    switch (dtype) {
      case proto::DT_DOUBLE:
        return std::ldexp(1.0, -53);
      case proto::DT_FLOAT:
        return std::ldexp(1.0, -24);
      case proto::DT_HALF:
        return std::ldexp(1.0, -11);
      default:  // bfloat16
        return std::ldexp(1.0, -8);
    }
  }

  // Rounding changes the extrapolated derivative by about one standard deviation of a sum divided
  // by the step; this many such deviations are attributed to rounding.
  static constexpr double kErrorMargin = 4;

  OpenedGraph& opened_;
  const GradientCheckRequest& request_;
  std::unique_ptr<RunJob> job_;
  std::vector<std::string> ys_;
  std::vector<size_t> at_;      // positions of the ys among the fetches
  std::vector<Tensor> values_;  // the fetches of the unmodified graph
  std::vector<Tensor> weights_, gradients_;
  std::vector<Input> inputs_;
  llvm::StringSet<> asked_;
};

}  // namespace

double DefaultTolerance(DataType dtype) {
  switch (dtype) {
    case proto::DT_DOUBLE:
      return 1e-6;
    case proto::DT_FLOAT:
      return 5e-3;
    default:
      return 0.2;
  }
}

bool GradientCheck::ok() const {
  return llvm::all_of(tensors, [](const CheckedTensor& tensor) { return tensor.ok(); });
}

const CheckedTensor* GradientCheck::worst() const {
  const CheckedTensor* worst = nullptr;
  for (const CheckedTensor& tensor : tensors) {
    if (!worst || tensor.worst.error / tensor.tolerance > worst->worst.error / worst->tolerance)
      worst = &tensor;
  }
  return worst;
}

Expected<GraphWithGradients> AddGradients(const Module& module, llvm::ArrayRef<std::string> ys,
                                          llvm::ArrayRef<std::string> xs,
                                          llvm::ArrayRef<Shape> seed_shapes) {
  Tracer t(module.Copy(), SourceLocation::Unknown());
  Values of, by;
  for (const std::string& y : ys) of.push_back(t.Find(y));
  for (const std::string& x : xs) by.push_back(t.Find(x));
  GradientOptions options;
  for (size_t i = 0; i < seed_shapes.size(); ++i) {
    options.grad_ys.push_back(
        t.Placeholder(of[i].dtype(), seed_shapes[i], "gradient_seed_" + std::to_string(i)));
  }
  Values gradients = Gradients(t, of, by, options);
  GraphWithGradients made;
  for (const Value& gradient : gradients) made.gradients.push_back(gradient.name());
  ASSIGN_OR_RETURN(made.module, t.Finish());
  return made;
}

namespace {

bool HasGradient(DataType dtype) { return IsReal(dtype) || IsComplex(dtype); }

// Returns the tensor that `name`, a key or a tensor, names; it must be floating point or complex.
Expected<std::string> RealTensorOf(const OpenedGraph& opened, NameResolver& resolver,
                                   llvm::StringRef name) {
  ASSIGN_OR_RETURN(std::string tensor, resolver.MainTensor(name));
  ASSIGN_OR_RETURN(Port port, FindTensor(opened.module().main, tensor));
  DataType dtype = DifferentiatedType(opened.module().main, port);
  if (HasGradient(dtype)) return tensor;
  return MakeError("'{0}' is {1}: gradients need floating-point or complex tensors", name,
                   DataTypeName(dtype));
}

}  // namespace

Expected<GradientEnds> FindGradientEnds(const OpenedGraph& opened, llvm::StringRef signature,
                                        llvm::ArrayRef<std::string> fetches,
                                        llvm::ArrayRef<std::string> by) {
  const Graph& graph = opened.module().main;
  if (fetches.empty())
    RETURN_IF_ERROR(ChooseOneSignature(opened.model(), opened.file(), signature).takeError());
  ASSIGN_OR_RETURN(FeedsAndFetches known, FeedsAndFetchesOf(opened, {}, {}, signature));
  auto add_real = [&](llvm::ArrayRef<std::string> tensors, std::vector<std::string>& ends) {
    for (const std::string& tensor : tensors) {
      std::optional<Port> port = FindTensorIfThere(graph, tensor);
      if (port && HasGradient(DifferentiatedType(graph, *port))) ends.push_back(tensor);
    }
  };
  GradientEnds ends;
  NameResolver resolver(opened, signature);
  for (const std::string& name : fetches) {
    ASSIGN_OR_RETURN(std::string tensor, RealTensorOf(opened, resolver, name));
    ends.ys.push_back(std::move(tensor));
  }
  if (fetches.empty()) add_real(known.fetches, ends.ys);
  if (ends.ys.empty()) return MakeError("{0}", kNoRealFetch);
  std::vector<GradientVariable> variables = GradientVariables(opened, ends.ys);
  for (const std::string& name : by) {
    auto named = llvm::find_if(variables, [&](const auto& each) { return each.label == name; });
    std::string tensor;
    if (named != variables.end()) {
      tensor = named->node.name().str();
    } else {
      ASSIGN_OR_RETURN(tensor, RealTensorOf(opened, resolver, name));
    }
    ends.xs.push_back(std::move(tensor));
    ends.labels.push_back(name);
  }
  if (!by.empty()) return ends;
  add_real(known.feeds, ends.xs);
  ends.labels = NamesOfFeeds(opened.model(), opened.file(), signature, ends.xs);
  for (const GradientVariable& variable : variables) {
    if (!variable.is_needed) continue;
    ends.xs.push_back(variable.node.name().str());
    ends.labels.push_back(variable.label);
  }
  if (ends.xs.empty())
    return MakeError(
        "no gradient to check: the graph has no floating-point feed, and the fetches depend on no "
        "floating-point resource variable; give one with --feed");
  return ends;
}

Expected<GradientCheck> CheckGradients(OpenedGraph& opened, const GradientCheckRequest& request) {
  return Checker(opened, request).Run();
}

}  // namespace grapnel
