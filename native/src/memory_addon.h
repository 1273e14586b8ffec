// Returns free memory of the C heap to the system.
#pragma once

#include <node_api.h>

namespace serving {

// () => boolean: returns free pages of every malloc arena to the system; false where the C library has no such call.
napi_value TrimMemory(napi_env env, napi_callback_info info);

}  // namespace serving
