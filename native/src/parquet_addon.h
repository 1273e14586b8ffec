// Node-API functions for Parquet. parquet_addon.cpp documents the words of a program.
#pragma once

#include <node_api.h>

namespace serving {

// (program: Float64Array, parts: Uint8Array[]) => ArrayBuffer[] | undefined
napi_value ReadParquet(napi_env env, napi_callback_info info);

// The same on libuv's threads. Do not write or transfer a part until the promise settles.
napi_value ReadParquetAsync(napi_env env, napi_callback_info info);

// (program: Float64Array, parts: Uint8Array[], texts: Uint8Array, out: Uint8Array) => number: the bytes of the file;
// those that it may take if `out` has fewer, and then nothing is written; -1 for contradicting offsets
napi_value WriteParquet(napi_env env, napi_callback_info info);

}  // namespace serving
