// Keeps free memory of the C heap for the next request, and returns it to the system.
#pragma once

#include <node_api.h>

namespace serving {

// Has the C library keep freed memory while requests come; see src/server/memory-reclaimer.ts for their end. Does
// nothing where the environment sets the limits of malloc, or the C library is another.
void KeepFreedMemory();

// () => boolean: returns free pages of every malloc arena to the system; false where the C library has no such call.
napi_value TrimMemory(napi_env env, napi_callback_info info);

}  // namespace serving
