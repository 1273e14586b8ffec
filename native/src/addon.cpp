// The functions that JavaScript calls, in raw Node-API, which neither throws nor allocates on the way. No globals:
// every environment (worker thread) registers its own functions. Compiled without exceptions: a plain `new` that fails
// would end the process, so memory comes from malloc, `new (std::nothrow)` or Node-API.
#include <node_api.h>

#include <cstdlib>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "async_addon.h"
#include "boundary.h"
#include "frame_addon.h"
#include "json_scan.h"
#include "memory_addon.h"
#include "parquet_addon.h"
#include "reduce_addon.h"

namespace serving {
namespace {

// Texts of at most this many bytes are written on the stack and returned as a string.
constexpr size_t kStringBytes = 32 * 1024;

// Whether `size` bytes can be allocated now; allocates and frees them to find out.
bool HasRoom(size_t size) {
#if defined(__linux__)
  // Not by malloc: a block that malloc has freed is no longer known to be zeros, and V8 would clear all of it.
  void* const probe = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED) return false;
  munmap(probe, size);
#else
  void* const probe = std::malloc(size);
  if (probe == nullptr) return false;
  // Volatile: compilers may otherwise drop the pair.
  *static_cast<volatile char*>(probe) = 0;
  std::free(probe);
#endif
  return true;
}

// Makes an ArrayBuffer. Returns false, with no exception pending, when there is no memory for it.
bool NewBuffer(napi_env env, size_t size, void** data, napi_value* buffer) {
  // V8 ends the process when this allocation fails: a large one is tried first, which costs two system calls.
  constexpr size_t kLarge = 16 * 1024 * 1024;
  constexpr size_t kMax = 0xFFFFFFFFu;
  if (size > kMax || (size > kLarge && !HasRoom(size))) return false;
  if (napi_create_arraybuffer(env, size, data, buffer) == napi_ok) return true;
  ClearException(env);
  return false;
}

// (json: Uint8Array, cast: number, words: Float64Array) => ArrayBuffer | undefined
napi_value Parse(napi_env env, napi_callback_info info) {
  napi_value args[3];
  ParseArguments json;
  if (!GetArguments(env, info, args) || !ReadParseArguments(env, args, json)) return Misused(env);
  double* const words = json.words;
  // When the text is an array, exactly the size of the result: nothing is copied or grown.
  const size_t capacity = CountElements(json.text, json.length);
  napi_value buffer;
  void* out;
  if (!NewBuffer(env, capacity * ItemSize(json.cast.dtype), &out, &buffer)) {
    WriteStatus(Status::kGaveUp, words);
    return nullptr;
  }
  ParseResult result;
  ParseNdarray(json.text, json.length, json.cast, out, capacity, result);
  WriteResult(result, words);
  if (result.status != Status::kOk) {
    // Frees the buffer now, not at the next garbage collection: 20 MB of commas ask for 160 MB.
    napi_detach_arraybuffer(env, buffer);
    return nullptr;
  }
  if (json.cast.dtype == Dtype::kInferred && result.dtype == Dtype::kBool) {
    napi_value flags;
    void* bytes;
    if (!NewBuffer(env, result.count, &bytes, &flags)) {
      WriteStatus(Status::kGaveUp, words);
      return nullptr;
    }
    const double* const values = static_cast<const double*>(out);
    for (size_t i = 0; i < result.count; i++) static_cast<uint8_t*>(bytes)[i] = values[i] != 0;
    napi_detach_arraybuffer(env, buffer);
    return flags;
  }
  return buffer;
}

// (data: TypedArray, dtype: number, nonFinite: number, words: Float64Array) => string | ArrayBuffer | undefined
napi_value Encode(napi_env env, napi_callback_info info) {
  napi_value args[4];
  EncodeArguments to;
  if (!GetArguments(env, info, args) || !ReadEncodeArguments(env, args, to)) return Misused(env);
  const Array& array = to.array;
  double* const words = to.words;
  const size_t bound = ScannedBound(array);
  size_t length = 0;
  napi_value result = nullptr;
  if (bound <= kStringBytes) {
    char text[kStringBytes];
    const Status status = EncodeNdarray(array, to.non_finite, text, length);
    WriteStatus(status, words);
    if (status == Status::kOk && napi_create_string_latin1(env, text, length, &result) != napi_ok) return nullptr;
    return result;
  }
  void* out;
  if (!NewBuffer(env, bound, &out, &result)) {
    WriteStatus(Status::kGaveUp, words);
    return nullptr;
  }
  const Status status = EncodeNdarray(array, to.non_finite, static_cast<char*>(out), length);
  WriteStatus(status, words);
  words[ResultWord::kLength] = static_cast<double>(length);
  if (status != Status::kOk) {
    napi_detach_arraybuffer(env, result);
    return nullptr;
  }
  return result;
}

// (json: Uint8Array, words: Float64Array): sets the words of MeasureWord.
napi_value Measure(napi_env env, napi_callback_info info) {
  napi_value args[2];
  View json;
  View words;
  if (!GetArguments(env, info, args) || !GetView(env, args[0], napi_uint8_array, json) ||
      !GetView(env, args[1], napi_float64_array, words) || words.length < MeasureWord::kWords) {
    return Misused(env);
  }
  const JsonMeasure found = MeasureJson(json.data, json.length);
  double* const to = reinterpret_cast<double*>(words.data);
  to[MeasureWord::kDeepAt] = found.deep_at == SIZE_MAX ? -1 : static_cast<double>(found.deep_at);
  to[MeasureWord::kValues] = static_cast<double>(found.values);
  to[MeasureWord::kWidest] = static_cast<double>(found.widest);
  to[MeasureWord::kMayHoldBigNumbers] = found.may_hold_big_numbers;
  return nullptr;
}

}  // namespace
}  // namespace serving

NAPI_MODULE_INIT() {
  serving::KeepFreedMemory();
  const napi_property_attributes plain = napi_enumerable;
  napi_value contract;
  if (napi_create_uint32(env, serving::kNumbersContract, &contract) != napi_ok) return nullptr;
  const napi_property_descriptor properties[] = {
      {"contract", nullptr, nullptr, nullptr, nullptr, contract, plain, nullptr},
      {"measureJson", nullptr, serving::Measure, nullptr, nullptr, nullptr, plain, nullptr},
      {"parseNdarray", nullptr, serving::Parse, nullptr, nullptr, nullptr, plain, nullptr},
      {"encodeNdarray", nullptr, serving::Encode, nullptr, nullptr, nullptr, plain, nullptr},
      {"countElementsAsync", nullptr, serving::CountElementsAsync, nullptr, nullptr, nullptr, plain, nullptr},
      {"parseNdarrayAsync", nullptr, serving::ParseNdarrayAsync, nullptr, nullptr, nullptr, plain, nullptr},
      {"encodeNdarrayAsync", nullptr, serving::EncodeNdarrayAsync, nullptr, nullptr, nullptr, plain, nullptr},
      {"encodedBound", nullptr, serving::EncodedBound, nullptr, nullptr, nullptr, plain, nullptr},
      {"sumElements", nullptr, serving::SumElements, nullptr, nullptr, nullptr, plain, nullptr},
      {"trimMemory", nullptr, serving::TrimMemory, nullptr, nullptr, nullptr, plain, nullptr},
      {"parseFrame", nullptr, serving::ParseFrame, nullptr, nullptr, nullptr, plain, nullptr},
      {"parseCsv", nullptr, serving::ParseCsv, nullptr, nullptr, nullptr, plain, nullptr},
      {"parseFrameAsync", nullptr, serving::ParseFrameAsync, nullptr, nullptr, nullptr, plain, nullptr},
      {"parseCsvAsync", nullptr, serving::ParseCsvAsync, nullptr, nullptr, nullptr, plain, nullptr},
      {"readParquetFooter", nullptr, serving::ReadParquetFooter, nullptr, nullptr, nullptr, plain, nullptr},
      {"readParquet", nullptr, serving::ReadParquet, nullptr, nullptr, nullptr, plain, nullptr},
      {"readParquetAsync", nullptr, serving::ReadParquetAsync, nullptr, nullptr, nullptr, plain, nullptr},
      {"writeParquet", nullptr, serving::WriteParquet, nullptr, nullptr, nullptr, plain, nullptr},
      {"encodeFrame", nullptr, serving::EncodeFrame, nullptr, nullptr, nullptr, plain, nullptr},
  };
  napi_define_properties(env, exports, sizeof properties / sizeof *properties, properties);
  return exports;
}
