// What the functions for arrays take from JavaScript, checked.
#pragma once

#include <node_api.h>

#include <cstdint>

#include "ndarray_encode.h"
#include "ndarray_parse.h"

namespace serving {

// What a call reports beside its result lies in a Float64Array of the caller's: making an object instead costs 0.3 µs.
//   parse, out:  [status, offset, dtype, rank, dims...]
//   encode, in:  [0, 0, 0, rank, dims...]      encode, out: [status, length]
constexpr size_t kHeadLength = 4 + kMaxDimensions;

// Exactly `N` arguments were given.
template <size_t N>
bool GetArguments(napi_env env, napi_callback_info info, napi_value (&args)[N]) {
  size_t argc = N;
  return napi_get_cb_info(env, info, &argc, args, nullptr, nullptr) == napi_ok && argc == N;
}

// (json: Uint8Array, dtype: number, head: Float64Array)
struct ParseArguments {
  const uint8_t* text;
  size_t length;
  Dtype dtype;
  double* head;
};

bool ReadParseArguments(napi_env env, const napi_value* args, ParseArguments& to);

// (data: TypedArray, dtype: number, nonFinite: number, head: Float64Array)
struct EncodeArguments {
  Array array;
  NonFinite non_finite;
  double* head;
  size_t dims[kMaxDimensions];
};

// `to.array.dims` points into `to`.
bool ReadEncodeArguments(napi_env env, const napi_value* args, EncodeArguments& to);

void WriteHead(const ParseResult& result, double* head);

// Throws: the caller broke the contract.
napi_value Misused(napi_env env);

}  // namespace serving
