// Reductions of arrays.
#pragma once

#include <node_api.h>

namespace serving {

// (data: TypedArray) => number: the sum of the elements in double precision, exact for integers up to 2^53. Does not
// accept 64-bit integers.
napi_value SumElements(napi_env env, napi_callback_info info);

}  // namespace serving
