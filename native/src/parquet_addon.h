// Node-API functions for Parquet. parquet_addon.cpp documents the words of a program.
#pragma once

#include <node_api.h>

namespace serving {

// (file: Uint8Array) => Float64Array | undefined: see ReadFooter
napi_value ReadParquetFooter(napi_env env, napi_callback_info info);

// (file: Uint8Array, words: Float64Array, kinds: Uint8Array, unpack: (codec: number, start: number, end: number,
// size: number) => Uint8Array | undefined) => ArrayBuffer[] | undefined. `words` are those of ReadParquetFooter.
napi_value ReadParquet(napi_env env, napi_callback_info info);

// The same without `unpack` on libuv's threads. Do not write or transfer an argument until the promise settles.
napi_value ReadParquetAsync(napi_env env, napi_callback_info info);

// (program: Float64Array, parts: Uint8Array[], texts: Uint8Array, out: Uint8Array) => number: the bytes of the file;
// those that it may take if `out` has fewer, and then nothing is written; -1 for contradicting offsets
napi_value WriteParquet(napi_env env, napi_callback_info info);

}  // namespace serving
