// Arguments and result words of the array functions.
#pragma once

#include "ndarray_encode.h"
#include "ndarray_parse.h"
#include "node_values.h"

namespace serving {

// The result words: a Float64Array of the caller, for what a call reports beside its result. Returning an object
// instead costs 0.3 µs.
// Parsing sets all of ResultWord. Printing reads rank and dims, and sets status and length.
constexpr size_t kResultWords = ResultWord::kDims + kMaxDimensions;

// (json: Uint8Array, cast: number, words: Float64Array); `cast` is a dtype's code, plus kEnforcedCast to enforce it, or
// -1 to infer it.
struct ParseArguments {
  const uint8_t* text;
  size_t length;
  Cast cast;
  double* words;
};

bool ReadParseArguments(napi_env env, const napi_value* args, ParseArguments& to);

// (data: TypedArray, dtype: number, nonFinite: number, words: Float64Array)
struct EncodeArguments {
  Array array;
  NonFinite non_finite;
  double* words;
  size_t dims[kMaxDimensions];
};

// `to.array.dims` points into `to`.
bool ReadEncodeArguments(napi_env env, const napi_value* args, EncodeArguments& to);

void WriteResult(const ParseResult& result, double* words);

inline void WriteStatus(Status status, double* words) { words[ResultWord::kStatus] = static_cast<double>(status); }

}  // namespace serving
