// Node-API functions for frames.
#pragma once

#include <node_api.h>

namespace serving {

// (json: Uint8Array, layout: number, limits: Float64Array) => ArrayBuffer | undefined
napi_value ParseFrame(napi_env env, napi_callback_info info);

// (csv: Uint8Array, isText: Uint8Array, max cells: number) => ArrayBuffer | undefined
napi_value ParseCsv(napi_env env, napi_callback_info info);

// Async variants on libuv's threads, which return promises. Do not write or transfer an argument until they settle.
napi_value ParseFrameAsync(napi_env env, napi_callback_info info);
napi_value ParseCsvAsync(napi_env env, napi_callback_info info);

// (program: Float64Array, parts: Uint8Array[], texts: Uint8Array) => ArrayBuffer | undefined
napi_value EncodeFrame(napi_env env, napi_callback_info info);

}  // namespace serving
