// Converts values from and to JavaScript, for all add-ons.
#pragma once

#include <node_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace serving {

// Whether exactly `N` arguments were given; `args` then holds them.
template <size_t N>
bool GetArguments(napi_env env, napi_callback_info info, napi_value (&args)[N]) {
  size_t argc = N;
  return napi_get_cb_info(env, info, &argc, args, nullptr, nullptr) == napi_ok && argc == N;
}

// A typed array's memory.
struct View {
  uint8_t* data;
  // Elements, not bytes.
  size_t length;
  napi_typedarray_type type;
};

// Whether `value` is a typed array.
inline bool GetView(napi_env env, napi_value value, View& view) {
  void* data;
  if (napi_get_typedarray_info(env, value, &view.type, &view.length, &data, nullptr, nullptr) != napi_ok) return false;
  view.data = static_cast<uint8_t*>(data);
  return true;
}

// Whether `value` is a typed array of that type.
inline bool GetView(napi_env env, napi_value value, napi_typedarray_type type, View& view) {
  return GetView(env, value, view) && view.type == type;
}

// Throws a TypeError: the caller broke the contract.
inline napi_value Misused(napi_env env) {
  napi_throw_type_error(env, nullptr, "serving: called outside its contract");
  return nullptr;
}

// Clears the pending exception of a failed call; the caller reports the failure by its result.
inline void ClearException(napi_env env) {
  bool pending;
  napi_value error;
  if (napi_is_exception_pending(env, &pending) == napi_ok && pending) napi_get_and_clear_last_exception(env, &error);
}

// Memory up to this size is copied: a finalizer costs the call and the collector 1.5 to 2.5 µs, as much as copying
// 16 to 32 KiB. In bytes.
constexpr size_t kMaxCopied = 16 * 1024;

// Returns an ArrayBuffer that owns malloc's memory, or for a small one a copy of it, as where the engine allows nothing
// else. nullptr when there is no memory, or no `bytes`.
inline napi_value HandOver(napi_env env, uint8_t* bytes, size_t size) {
  if (bytes == nullptr) return nullptr;
  napi_value buffer;
  const auto release = [](napi_env, void* data, void*) { std::free(data); };
  if (size > kMaxCopied && napi_create_external_arraybuffer(env, bytes, size, release, nullptr, &buffer) == napi_ok) {
    return buffer;
  }
  void* copy;
  const bool done = napi_create_arraybuffer(env, size, &copy, &buffer) == napi_ok;
  if (done) {
    // An empty one has no address.
    if (size != 0) std::memcpy(copy, bytes, size);
  } else {
    ClearException(env);
  }
  std::free(bytes);
  return done ? buffer : nullptr;
}

}  // namespace serving
