// A typed function for every op of TensorFlow 2.21, in namespace ops:
//
//   ops::Conv2D(t, x, filter, {1, 1, 1, 1}, "SAME")
//
// lib/trace/ops/math.h, nn.h, array.h and so on have the ops of one TensorFlow module each
// (gen_math_ops, ...). The build generates them from the op table (scripts/make_op_builders.py).
#ifndef GRAPNEL_LIB_TRACE_OP_BUILDERS_H_
#define GRAPNEL_LIB_TRACE_OP_BUILDERS_H_

#include "lib/trace/op_call.h"
#include "lib/trace/ops/all.h"

#endif  // GRAPNEL_LIB_TRACE_OP_BUILDERS_H_
