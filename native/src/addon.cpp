// The boundary to JavaScript: raw Node-API, which neither throws nor allocates on the way. No globals; every
// environment (worker thread) registers its own functions.
#include <node_api.h>

#include <cstdlib>

#include "frame_addon.h"
#include "ndarray_encode.h"
#include "ndarray_parse.h"

namespace serving {
namespace {

// Changes with every change of what crosses the boundary; src/bindings/native.ts refuses any other.
constexpr uint32_t kContract = 3;

// What a call reports beside its result lies in a Float64Array of the caller's: making an object instead costs 0.3 µs.
//   parse, out:  [status, offset, dtype, rank, dims...]
//   encode, in:  [0, 0, 0, rank, dims...]      encode, out: [status, length]
constexpr size_t kHeadLength = 4 + kMaxDimensions;

// Texts up to here are written on the stack and become a string of their exact length.
constexpr size_t kStringBytes = 32 * 1024;

struct View {
  void* data;
  size_t length;
  napi_typedarray_type type;
};

bool GetView(napi_env env, napi_value value, View& view) {
  return napi_get_typedarray_info(env, value, &view.type, &view.length, &view.data, nullptr, nullptr) == napi_ok;
}

bool GetHead(napi_env env, napi_value value, double*& head) {
  View view;
  if (!GetView(env, value, view) || view.type != napi_float64_array || view.length != kHeadLength) return false;
  head = static_cast<double*>(view.data);
  return true;
}

napi_value Misused(napi_env env) {
  napi_throw_type_error(env, nullptr, "serving_native: called outside its contract");
  return nullptr;
}

// An ArrayBuffer of `size` bytes. False when there is no room for it; nothing is thrown then.
bool NewBuffer(napi_env env, size_t size, void** data, napi_value* buffer) {
  // V8 ends the whole process where this allocation fails, so that a large one is tried out first: two system calls.
  constexpr size_t kLarge = 16 * 1024 * 1024;
  constexpr size_t kMost = 0xFFFFFFFFu;
  if (size > kMost) return false;
  if (size > kLarge) {
    void* const probe = std::malloc(size);
    if (probe == nullptr) return false;
    // Volatile, for else compilers may drop the pair.
    *static_cast<volatile char*>(probe) = 0;
    std::free(probe);
  }
  if (napi_create_arraybuffer(env, size, data, buffer) == napi_ok) return true;
  bool pending;
  napi_value error;
  if (napi_is_exception_pending(env, &pending) == napi_ok && pending) napi_get_and_clear_last_exception(env, &error);
  return false;
}

// (json: Uint8Array, dtype: number, head: Float64Array) => ArrayBuffer | undefined
napi_value Parse(napi_env env, napi_callback_info info) {
  napi_value args[3];
  size_t argc = 3;
  View json;
  double* head;
  int32_t code;
  if (napi_get_cb_info(env, info, &argc, args, nullptr, nullptr) != napi_ok || argc != 3 ||
      !GetView(env, args[0], json) || json.type != napi_uint8_array ||
      napi_get_value_int32(env, args[1], &code) != napi_ok || code < -1 || code > 11 || !GetHead(env, args[2], head)) {
    return Misused(env);
  }
  const uint8_t* const text = static_cast<const uint8_t*>(json.data);
  const Dtype dtype = static_cast<Dtype>(code);
  // Exactly as long as the result of a good text, so that nothing is copied or grown.
  const size_t capacity = CountElements(text, json.length);
  napi_value buffer;
  void* out;
  if (!NewBuffer(env, capacity * ItemSize(dtype), &out, &buffer)) {
    head[0] = static_cast<double>(Status::kGaveUp);
    return nullptr;
  }
  ParseResult result;
  ParseNdarray(text, json.length, dtype, out, capacity, result);
  head[0] = static_cast<double>(result.status);
  head[1] = static_cast<double>(result.offset);
  if (result.status != Status::kOk) {
    // At once, not when the collector comes round: 20 MB of commas ask for 160 MB.
    napi_detach_arraybuffer(env, buffer);
    return nullptr;
  }
  head[2] = static_cast<double>(result.dtype);
  head[3] = result.rank;
  for (int i = 0; i < result.rank; i++) head[4 + i] = static_cast<double>(result.dims[i]);
  if (dtype == Dtype::kInferred && result.dtype == Dtype::kBool) {
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
  size_t argc = 4;
  View data;
  double* head;
  int32_t code;
  int32_t non_finite;
  if (napi_get_cb_info(env, info, &argc, args, nullptr, nullptr) != napi_ok || argc != 4 ||
      !GetView(env, args[0], data) || napi_get_value_int32(env, args[1], &code) != napi_ok || code < 0 || code > 11 ||
      napi_get_value_int32(env, args[2], &non_finite) != napi_ok || non_finite < 0 || non_finite > 2 ||
      !GetHead(env, args[3], head)) {
    return Misused(env);
  }
  // The view's own element size must be the dtype's, or the loop below would read past its end.
  static constexpr size_t kSizes[] = {1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8};
  const double rank = head[3];
  if (static_cast<size_t>(data.type) >= sizeof kSizes / sizeof *kSizes ||
      kSizes[data.type] != ItemSize(static_cast<Dtype>(code)) || !(rank >= 0 && rank <= kMaxDimensions)) {
    return Misused(env);
  }
  size_t dims[kMaxDimensions];
  double product = 1;
  for (int i = 0; i < static_cast<int>(rank); i++) {
    const double dim = head[4 + i];
    if (!(dim >= 1 && dim <= 9007199254740992.0)) return Misused(env);
    dims[i] = static_cast<size_t>(dim);
    product *= dim;
  }
  if (product != static_cast<double>(data.length)) return Misused(env);

  const Array array{data.data, data.length, static_cast<Dtype>(code), static_cast<int>(rank), dims};
  const size_t bound = EncodedBound(array);
  size_t length = 0;
  napi_value result = nullptr;
  if (bound <= kStringBytes) {
    char text[kStringBytes];
    const Status status = EncodeNdarray(array, static_cast<NonFinite>(non_finite), text, length);
    head[0] = static_cast<double>(status);
    if (status == Status::kOk && napi_create_string_latin1(env, text, length, &result) != napi_ok) return nullptr;
    return result;
  }
  void* out;
  if (!NewBuffer(env, bound, &out, &result)) {
    head[0] = static_cast<double>(Status::kGaveUp);
    return nullptr;
  }
  const Status status = EncodeNdarray(array, static_cast<NonFinite>(non_finite), static_cast<char*>(out), length);
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
      {"parseFrame", nullptr, serving::ParseFrame, nullptr, nullptr, nullptr, plain, nullptr},
      {"parseCsv", nullptr, serving::ParseCsv, nullptr, nullptr, nullptr, plain, nullptr},
      {"encodeFrame", nullptr, serving::EncodeFrame, nullptr, nullptr, nullptr, plain, nullptr},
  };
  napi_define_properties(env, exports, sizeof properties / sizeof *properties, properties);
  return exports;
}
