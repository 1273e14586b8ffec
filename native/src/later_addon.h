// The same for large arrays, on a thread of libuv's pool. Whoever calls keeps off all arguments until the promise
// settles.
#pragma once

#include <node_api.h>

namespace serving {

// (json: Uint8Array, dtype: number, head: Float64Array) => Promise<number>
// Bytes that ParseLater needs: just those of the result, if the text is good.
napi_value CountLater(napi_env env, napi_callback_info info);

// (json: Uint8Array, dtype: number, head: Float64Array, out: Uint8Array) => Promise<undefined>
// Inferred booleans are a byte each, at the start of `out`.
napi_value ParseLater(napi_env env, napi_callback_info info);

// (data: TypedArray, dtype: number, nonFinite: number, head: Float64Array, out: Uint8Array) => Promise<undefined>
// `out` has at least the bytes of encodedBound.
napi_value EncodeLater(napi_env env, napi_callback_info info);

// (data: TypedArray, dtype: number, nonFinite: number, head: Float64Array) => number
napi_value EncodedBoundOf(napi_env env, napi_callback_info info);

}  // namespace serving
