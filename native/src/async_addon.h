// Async variants of parse and encode for large arrays, on libuv's threads. Do not read, write or transfer any argument
// until the promise settles.
#pragma once

#include <node_api.h>

namespace serving {

// (json: Uint8Array, cast: number, words: Float64Array) => Promise<number>
// Returns the bytes that ParseNdarrayAsync needs: exactly those of the result when the text is an array.
napi_value CountElementsAsync(napi_env env, napi_callback_info info);

// (json: Uint8Array, cast: number, words: Float64Array, out: Uint8Array) => Promise<undefined>
// Inferred booleans are one byte each, at the start of `out`.
napi_value ParseNdarrayAsync(napi_env env, napi_callback_info info);

// (data: TypedArray, dtype: number, nonFinite: number, words: Float64Array, out: Uint8Array) => Promise<undefined>
// `out` has at least as many bytes as encodedBound returns.
napi_value EncodeNdarrayAsync(napi_env env, napi_callback_info info);

// (data: TypedArray, dtype: number, nonFinite: number, words: Float64Array) => number
napi_value EncodedBound(napi_env env, napi_callback_info info);

}  // namespace serving
