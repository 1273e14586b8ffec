// The boundary to JavaScript: raw Node-API, which neither throws nor allocates on the way. No globals; every
// environment (worker thread) registers its own functions.
#include <node_api.h>

#include <cstdlib>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "boundary.h"
#include "frame_addon.h"
#include "later_addon.h"
#include "memory_addon.h"

namespace serving {
namespace {

// Changes with every change of what crosses the boundary; src/array/native-codec.ts refuses any other.
constexpr uint32_t kContract = 6;

// Texts up to here are written on the stack and become a string of their exact length.
constexpr size_t kStringBytes = 32 * 1024;

// Whether so much memory can be had, which is tried.
bool HasRoom(size_t size) {
#if defined(__linux__)
  // Not by malloc: what it gives back is no longer known to be zeroes, so that V8 would have all of it cleared.
  void* const probe = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED) return false;
  munmap(probe, size);
#else
  void* const probe = std::malloc(size);
  if (probe == nullptr) return false;
  // Volatile, for else compilers may drop the pair.
  *static_cast<volatile char*>(probe) = 0;
  std::free(probe);
#endif
  return true;
}

// An ArrayBuffer of `size` bytes. False when there is no room for it; nothing is thrown then.
bool NewBuffer(napi_env env, size_t size, void** data, napi_value* buffer) {
  // V8 ends the whole process where this allocation fails, so that a large one is tried out first: two system calls.
  constexpr size_t kLarge = 16 * 1024 * 1024;
  constexpr size_t kMost = 0xFFFFFFFFu;
  if (size > kMost || (size > kLarge && !HasRoom(size))) return false;
  if (napi_create_arraybuffer(env, size, data, buffer) == napi_ok) return true;
  bool pending;
  napi_value error;
  if (napi_is_exception_pending(env, &pending) == napi_ok && pending) napi_get_and_clear_last_exception(env, &error);
  return false;
}

// (json: Uint8Array, dtype: number, head: Float64Array) => ArrayBuffer | undefined
napi_value Parse(napi_env env, napi_callback_info info) {
  napi_value args[3];
  ParseArguments json;
  if (!GetArguments<3>(env, info, args) || !ReadParseArguments(env, args, json)) return Misused(env);
  double* const head = json.head;
  // Exactly as long as the result of a good text, so that nothing is copied or grown.
  const size_t capacity = CountElements(json.text, json.length);
  napi_value buffer;
  void* out;
  if (!NewBuffer(env, capacity * ItemSize(json.dtype), &out, &buffer)) {
    head[0] = static_cast<double>(Status::kGaveUp);
    return nullptr;
  }
  ParseResult result;
  ParseNdarray(json.text, json.length, json.dtype, out, capacity, result);
  WriteHead(result, head);
  if (result.status != Status::kOk) {
    // At once, not when the collector comes round: 20 MB of commas ask for 160 MB.
    napi_detach_arraybuffer(env, buffer);
    return nullptr;
  }
  if (json.dtype == Dtype::kInferred && result.dtype == Dtype::kBool) {
    napi_value flags;
    void* bytes;
    if (!NewBuffer(env, result.count, &bytes, &flags)) {
      head[0] = static_cast<double>(Status::kGaveUp);
      return nullptr;
    }
    const double* const values = static_cast<const double*>(out);
    for (size_t i = 0; i < result.count; i++) static_cast<uint8_t*>(bytes)[i] = values[i] != 0;
    napi_detach_arraybuffer(env, buffer);
    return flags;
  }
  return buffer;
}

// (data: TypedArray, dtype: number, nonFinite: number, head: Float64Array) => string | ArrayBuffer | undefined
napi_value Encode(napi_env env, napi_callback_info info) {
  napi_value args[4];
  EncodeArguments to;
  if (!GetArguments<4>(env, info, args) || !ReadEncodeArguments(env, args, to)) return Misused(env);
  const Array& array = to.array;
  double* const head = to.head;
  const size_t bound = EncodedBound(array);
  size_t length = 0;
  napi_value result = nullptr;
  if (bound <= kStringBytes) {
    char text[kStringBytes];
    const Status status = EncodeNdarray(array, to.non_finite, text, length);
    head[0] = static_cast<double>(status);
    if (status == Status::kOk && napi_create_string_latin1(env, text, length, &result) != napi_ok) return nullptr;
    return result;
  }
  void* out;
  if (!NewBuffer(env, bound, &out, &result)) {
    head[0] = static_cast<double>(Status::kGaveUp);
    return nullptr;
  }
  const Status status = EncodeNdarray(array, to.non_finite, static_cast<char*>(out), length);
  head[0] = static_cast<double>(status);
  head[1] = static_cast<double>(length);
  if (status != Status::kOk) {
    napi_detach_arraybuffer(env, result);
    return nullptr;
  }
  return result;
}

}  // namespace
}  // namespace serving

NAPI_MODULE_INIT() {
  const napi_property_attributes plain = napi_enumerable;
  napi_value contract;
  if (napi_create_uint32(env, serving::kContract, &contract) != napi_ok) return nullptr;
  const napi_property_descriptor properties[] = {
      {"contract", nullptr, nullptr, nullptr, nullptr, contract, plain, nullptr},
      {"parseNdarray", nullptr, serving::Parse, nullptr, nullptr, nullptr, plain, nullptr},
      {"encodeNdarray", nullptr, serving::Encode, nullptr, nullptr, nullptr, plain, nullptr},
      {"countElementsLater", nullptr, serving::CountLater, nullptr, nullptr, nullptr, plain, nullptr},
      {"parseNdarrayLater", nullptr, serving::ParseLater, nullptr, nullptr, nullptr, plain, nullptr},
      {"encodeNdarrayLater", nullptr, serving::EncodeLater, nullptr, nullptr, nullptr, plain, nullptr},
      {"encodedBound", nullptr, serving::EncodedBoundOf, nullptr, nullptr, nullptr, plain, nullptr},
      {"trimMemory", nullptr, serving::TrimMemory, nullptr, nullptr, nullptr, plain, nullptr},
      {"parseFrame", nullptr, serving::ParseFrame, nullptr, nullptr, nullptr, plain, nullptr},
      {"parseCsv", nullptr, serving::ParseCsv, nullptr, nullptr, nullptr, plain, nullptr},
      {"encodeFrame", nullptr, serving::EncodeFrame, nullptr, nullptr, nullptr, plain, nullptr},
  };
  napi_define_properties(env, exports, sizeof properties / sizeof *properties, properties);
  return exports;
}
