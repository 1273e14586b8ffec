// Node-API functions for Parquet. parquet_addon.cpp documents the words of a program.
#pragma once

#include <node_api.h>

namespace serving {

// (program: Float64Array, parts: Uint8Array[]) => ArrayBuffer[] | undefined
napi_value ReadParquet(napi_env env, napi_callback_info info);

// The same on libuv's threads. Do not write or transfer a part until the promise settles.
napi_value ReadParquetAsync(napi_env env, napi_callback_info info);

// (program: Float64Array, parts: Uint8Array[]) => number: the maximum number of bytes that the pages take
napi_value BoundParquet(napi_env env, napi_callback_info info);

// (program: Float64Array, parts: Uint8Array[], out: Uint8Array) => boolean
napi_value WriteParquet(napi_env env, napi_callback_info info);

}  // namespace serving
