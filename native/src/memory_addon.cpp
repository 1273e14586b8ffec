#include "memory_addon.h"

#if defined(__GLIBC__)
#include <malloc.h>

#include <cstdlib>
#include <initializer_list>
#endif

namespace serving {

void KeepFreedMemory() {
#if defined(__GLIBC__)
  for (const char* name : {"MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES"}) {
    if (std::getenv(name) != nullptr) return;
  }
  // What glibc comes to by itself once 32 MiB were freed in one piece. Before, it returns freed memory to the system
  // and takes it back for the next request: at bodies of 1 MiB 100 to 260 page faults for each, a third of the time.
  constexpr int kLargestFromHeap = 32 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargestFromHeap);
  mallopt(M_TRIM_THRESHOLD, 2 * kLargestFromHeap);
#endif
}

napi_value TrimMemory(napi_env env, napi_callback_info) {
  bool can_trim = false;
#if defined(__GLIBC__)
  // glibc keeps the free memory of its arenas, one for each thread that allocated: 180 MB after a burst of 20 MB
  // bodies.
  malloc_trim(0);
  can_trim = true;
#endif
  napi_value result = nullptr;
  napi_get_boolean(env, can_trim, &result);
  return result;
}

}  // namespace serving
