// The update rules of optimizers for one element of a variable and its slots, given the gradient.
// The formulas and their order of operations are those of tensorflow/core/kernels/training_ops.cc:
// half and bfloat16 round after each operation.
#ifndef GRAPNEL_KERNELS_CPU_STATE_OPTIMIZER_RULES_H_
#define GRAPNEL_KERNELS_CPU_STATE_OPTIMIZER_RULES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace grapnel::optimizer {

struct Flags {
  bool nesterov = false, update_slots = true, times_lr = false;
  bool of_rows = false;  // the gradient covers only some rows
};

template <typename T>
T SqrtOf(T x) {
  using std::sqrt;
  return sqrt(x);
}
template <typename T>
T RsqrtOf(T x) {
  return T(1) / SqrtOf(x);
}
template <typename T>
T AbsOf(T x) {
  using std::abs;
  return abs(x);
}
template <typename T>
T SignOf(T x) {
  return T((T(0) < x) - (x < T(0)));
}
template <typename T>
T PowOf(T x, T y) {
  using std::pow;
  return pow(x, y);
}
template <typename T>
T ExpOf(T x) {
  using std::exp;
  return exp(x);
}

// A rule is constructed from the op's scalars, in the op's order, and called with the elements of
// the variable and of its slots, which it updates, and the gradient.

template <typename T>
struct GradientDescent {
  static constexpr int kSlots = 1;
  T lr;
  GradientDescent(const T* s, int64_t, Flags) : lr(s[0]) {}
  void operator()(T& var, T g) const { var -= g * lr; }
};

template <typename T>
struct Momentum {
  static constexpr int kSlots = 2;
  T lr, momentum;
  bool nesterov;
  Momentum(const T* s, int64_t, Flags f) : lr(s[0]), momentum(s[1]), nesterov(f.nesterov) {}
  void operator()(T& var, T& accum, T g) const {
    accum = accum * momentum + g;
    var -= nesterov ? T(g * lr + accum * momentum * lr) : T(accum * lr);
  }
};

template <typename T>
struct KerasMomentum {
  static constexpr int kSlots = 2;
  T lr, momentum;
  bool nesterov;
  KerasMomentum(const T* s, int64_t, Flags f) : lr(s[0]), momentum(s[1]), nesterov(f.nesterov) {}
  void operator()(T& var, T& accum, T g) const {
    accum = accum * momentum - g * lr;
    var += nesterov ? T(accum * momentum - g * lr) : accum;
  }
};

// Scalars: beta1_power, beta2_power, lr, beta1, beta2, epsilon.
template <typename T>
struct Adam {
  static constexpr int kSlots = 3;
  T alpha, beta1, beta2, epsilon;
  bool nesterov;
  Adam(const T* s, int64_t, Flags f)
      : alpha(s[2] * SqrtOf(T(T(1) - s[1])) / (T(1) - s[0])),
        beta1(s[3]),
        beta2(s[4]),
        epsilon(s[5]),
        nesterov(f.nesterov) {}
  void operator()(T& var, T& m, T& v, T g) const {
    m += (g - m) * (T(1) - beta1);
    v += (g * g - v) * (T(1) - beta2);
    T step = nesterov ? T(g * (T(1) - beta1) + beta1 * m) : m;
    var -= (step * alpha) / (SqrtOf(v) + epsilon);
  }
};

template <typename T>
struct AdamWithAmsgrad {
  static constexpr int kSlots = 4;
  Adam<T> adam;
  AdamWithAmsgrad(const T* s, int64_t step, Flags f) : adam(s, step, f) {}
  void operator()(T& var, T& m, T& v, T& vhat, T g) const {
    m += (g - m) * (T(1) - adam.beta1);
    v += (g * g - v) * (T(1) - adam.beta2);
    vhat = std::max(vhat, v);
    var -= (m * adam.alpha) / (SqrtOf(vhat) + adam.epsilon);
  }
};

// Scalars: beta1_power, lr, beta1, beta2, epsilon.
template <typename T>
struct AdaMax {
  static constexpr int kSlots = 3;
  T rate, beta1, beta2, epsilon;
  AdaMax(const T* s, int64_t, Flags)
      : rate(s[1] / (T(1) - s[0])), beta1(s[2]), beta2(s[3]), epsilon(s[4]) {}
  void operator()(T& var, T& m, T& v, T g) const {
    m += (g - m) * (T(1) - beta1);
    v = std::max(T(beta2 * v), AbsOf(g));
    var -= rate * (m / (v + epsilon));
  }
};

template <typename T>
struct Adagrad {
  static constexpr int kSlots = 2;
  T lr;
  bool update;
  Adagrad(const T* s, int64_t, Flags f) : lr(s[0]), update(f.update_slots) {}
  void operator()(T& var, T& accum, T g) const {
    if (update) accum += g * g;
    var -= g * lr * RsqrtOf(accum);
  }
};

template <typename T>
struct AdagradV2 {
  static constexpr int kSlots = 2;
  T lr, epsilon;
  bool update;
  AdagradV2(const T* s, int64_t, Flags f) : lr(s[0]), epsilon(s[1]), update(f.update_slots) {}
  void operator()(T& var, T& accum, T g) const {
    if (update) accum += g * g;
    var -= g * lr / (SqrtOf(accum) + epsilon);
  }
};

// Scalars: lr, l1, l2, and the global step.
template <typename T>
struct AdagradDA {
  static constexpr int kSlots = 3;
  T lr, l1, l2, step;
  AdagradDA(const T* s, int64_t step, Flags)
      : lr(s[0]), l1(s[1]), l2(s[2]), step(static_cast<T>(step)) {}
  void operator()(T& var, T& sum, T& squares, T g) const {
    sum += g;
    squares += g * g;
    T shrunk = l1 > T(0) ? T(SignOf(sum) * std::max(T(AbsOf(sum) - l1 * step), T(0))) : sum;
    var = -lr * shrunk / (l2 * step * lr + SqrtOf(squares));
  }
};

// Scalars: lr, rho, epsilon.
template <typename T>
struct Adadelta {
  static constexpr int kSlots = 3;
  T lr, rho, epsilon;
  Adadelta(const T* s, int64_t, Flags) : lr(s[0]), rho(s[1]), epsilon(s[2]) {}
  void operator()(T& var, T& accum, T& updates, T g) const {
    accum = accum * rho + g * g * (T(1) - rho);
    T update = SqrtOf(T(updates + epsilon)) * RsqrtOf(T(accum + epsilon)) * g;
    var -= update * lr;
    updates = updates * rho + update * update * (T(1) - rho);
  }
};

// Scalars: lr, rho, momentum, epsilon.
template <typename T>
struct RMSProp {
  static constexpr int kSlots = 3;
  T lr, rho, momentum, epsilon;
  RMSProp(const T* s, int64_t, Flags) : lr(s[0]), rho(s[1]), momentum(s[2]), epsilon(s[3]) {}
  void operator()(T& var, T& ms, T& mom, T g) const {
    ms += (g * g - ms) * (T(1) - rho);
    mom = mom * momentum + (g * lr) / SqrtOf(T(ms + epsilon));
    var -= mom;
  }
};

template <typename T>
struct CenteredRMSProp {
  static constexpr int kSlots = 4;
  T lr, rho, momentum, epsilon;
  CenteredRMSProp(const T* s, int64_t, Flags)
      : lr(s[0]), rho(s[1]), momentum(s[2]), epsilon(s[3]) {}
  void operator()(T& var, T& mg, T& ms, T& mom, T g) const {
    ms += (g * g - ms) * (T(1) - rho);
    mg += (g - mg) * (T(1) - rho);
    mom = mom * momentum + (g * lr) / SqrtOf(T(ms - mg * mg + epsilon));
    var -= mom;
  }
};

// Scalars: lr, l1, l2, lr_power; V2 has l2_shrinkage before the last.
template <typename T, bool kShrinks>
struct FtrlOf {
  static constexpr int kSlots = 3;
  T lr, l1, l2, shrinkage, power;
  bool times_lr, of_rows;
  FtrlOf(const T* s, int64_t, Flags f)
      : lr(s[0]),
        l1(s[1]),
        l2(s[2]),
        shrinkage(kShrinks ? s[3] : T(0)),
        power(-s[kShrinks ? 4 : 3]),
        times_lr(f.times_lr),
        of_rows(f.of_rows) {}
  T Powered(T x) const { return power == T(0.5) ? SqrtOf(x) : PowOf(x, power); }
  void operator()(T& var, T& accum, T& linear, T g) const {
    T shrunk = kShrinks ? T(g + T(2) * shrinkage * var) : g;
    T grown = accum + g * g;
    T sigma = Powered(grown) - Powered(accum), threshold = times_lr ? T(l1 * lr) : l1;
    T quadratic;
    if (times_lr) {
      linear += shrunk * lr - sigma * var;
      quadratic = Powered(grown) + T(2) * l2 * lr;
    } else {
      linear += shrunk - sigma / lr * var;
      quadratic = Powered(grown) / lr + T(2) * l2;
    }
    // In sparse ops (`of_rows`), NaN and 0 / 0 propagate to the variable; in dense ops, TensorFlow
    // sets the variable to 0 in both cases.
    bool is_beyond = AbsOf(linear) > threshold;
    T pull = is_beyond ? T(threshold * SignOf(linear) - linear) : T(linear - linear);
    var = is_beyond || of_rows ? T(pull / quadratic) : T(0);
    accum = grown;
  }
};
template <typename T>
struct Ftrl : FtrlOf<T, false> {
  using FtrlOf<T, false>::FtrlOf;
};
template <typename T>
struct FtrlV2 : FtrlOf<T, true> {
  using FtrlOf<T, true>::FtrlOf;
};

template <typename T>
T Proximal(T var, T rate, T l1, T l2) {
  if (l1 > T(0)) var = SignOf(var) * std::max(T(AbsOf(var) - rate * l1), T(0));
  return var / (T(1) + l2 * rate);
}

// Scalars: lr, l1, l2.
template <typename T>
struct ProximalGradientDescent {
  static constexpr int kSlots = 1;
  T lr, l1, l2;
  ProximalGradientDescent(const T* s, int64_t, Flags) : lr(s[0]), l1(s[1]), l2(s[2]) {}
  void operator()(T& var, T g) const { var = Proximal(T(var - g * lr), lr, l1, l2); }
};

template <typename T>
struct ProximalAdagrad {
  static constexpr int kSlots = 2;
  T lr, l1, l2;
  ProximalAdagrad(const T* s, int64_t, Flags) : lr(s[0]), l1(s[1]), l2(s[2]) {}
  void operator()(T& var, T& accum, T g) const {
    accum += g * g;
    T rate = lr * RsqrtOf(accum);
    var = Proximal(T(var - g * rate), rate, l1, l2);
  }
};

// Scalars: lr, alpha, sign_decay, beta.
template <typename T>
struct AddSign {
  static constexpr int kSlots = 2;
  T lr, alpha, decay, beta;
  AddSign(const T* s, int64_t, Flags) : lr(s[0]), alpha(s[1]), decay(s[2]), beta(s[3]) {}
  void operator()(T& var, T& m, T g) const {
    m = m * beta + g * (T(1) - beta);
    var -= lr * (alpha + decay * (SignOf(g) * SignOf(m))) * g;
  }
};

// Scalars: lr, logbase, sign_decay, beta.
template <typename T>
struct PowerSign {
  static constexpr int kSlots = 2;
  T lr, logbase, decay, beta;
  PowerSign(const T* s, int64_t, Flags) : lr(s[0]), logbase(s[1]), decay(s[2]), beta(s[3]) {}
  void operator()(T& var, T& m, T g) const {
    m = m * beta + g * (T(1) - beta);
    var -= lr * ExpOf(T(logbase * decay * (SignOf(g) * SignOf(m)))) * g;
  }
};

}  // namespace grapnel::optimizer

#endif  // GRAPNEL_KERNELS_CPU_STATE_OPTIMIZER_RULES_H_
