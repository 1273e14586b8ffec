// JPEG through the system's libjpeg-turbo, in libuv's pool. An add-on of its own: where that library is missing, only
// this one does not load. Raw Node-API without globals, as in ../src/addon.cpp.
#include <node_api.h>

#include <cstdlib>
#include <cstring>

#include "jpeg.h"

namespace serving {
namespace {

// Changes with every change of what crosses the boundary; src/image/jpeg.ts refuses any other.
constexpr uint32_t kContract = 1;

enum Held { kInput, kStop, kHeldCount };

// One picture on its way through the pool. The references keep the memory that the pool reads.
struct Job {
  napi_async_work work = nullptr;
  napi_deferred deferred = nullptr;
  napi_ref held[kHeldCount] = {};
  bool is_encode = false;
  Picture picture{};
  // What is decoded.
  const uint8_t* bytes = nullptr;
  size_t length = 0;
  int quality = 0;
  // What came out.
  Output output{};
  char failure[kFailureLength] = {};
};

void Dispose(napi_env env, Job* job) {
  for (napi_ref ref : job->held) {
    if (ref != nullptr) napi_delete_reference(env, ref);
  }
  if (job->work != nullptr) napi_delete_async_work(env, job->work);
  std::free(job->output.data);
  delete job;
}

void Execute(napi_env, void* data) {
  Job* const job = static_cast<Job*>(data);
  if (job->is_encode) {
    EncodeJpeg(job->picture, job->quality, job->output, job->failure);
  } else {
    DecodeJpeg(job->bytes, job->length, job->picture, job->output, job->failure);
  }
}

void Free(napi_env, void* data, void*) { std::free(data); }

// Settles with a text that says what failed, or else with what came out.
void Complete(napi_env env, napi_status status, void* data) {
  Job* const job = static_cast<Job*>(data);
  Output& output = job->output;
  napi_value result;
  if (status != napi_ok) std::strcpy(job->failure, "given up");
  if (job->failure[0] == 0 &&
      napi_create_external_arraybuffer(env, output.data, output.length, Free, nullptr, &result) == napi_ok) {
    output.data = nullptr;
    napi_resolve_deferred(env, job->deferred, result);
  } else {
    const char* const reason = job->failure[0] == 0 ? "no memory" : job->failure;
    if (napi_create_string_latin1(env, reason, NAPI_AUTO_LENGTH, &result) == napi_ok) {
      napi_resolve_deferred(env, job->deferred, result);
    }
  }
  Dispose(env, job);
}

bool Hold(napi_env env, napi_value value, napi_ref& ref, uint8_t*& data, size_t& length) {
  napi_typedarray_type type;
  void* start;
  if (napi_get_typedarray_info(env, value, &type, &length, &start, nullptr, nullptr) != napi_ok ||
      type != napi_uint8_array) {
    return false;
  }
  data = static_cast<uint8_t*>(start);
  return napi_create_reference(env, value, 1, &ref) == napi_ok;
}

bool GetSide(napi_env env, napi_value value, uint32_t& side) {
  return napi_get_value_uint32(env, value, &side) == napi_ok && side >= 1;
}

bool ReadArguments(napi_env env, napi_callback_info info, Job* job) {
  napi_value args[6];
  size_t argc = 6;
  if (napi_get_cb_info(env, info, &argc, args, nullptr, nullptr) != napi_ok || argc != 6) return false;
  Picture& picture = job->picture;
  uint8_t* input;
  uint8_t* stop;
  size_t stops;
  if (!Hold(env, args[0], job->held[kInput], input, job->length) || !GetSide(env, args[1], picture.width) ||
      !GetSide(env, args[2], picture.height) || !GetSide(env, args[3], picture.channels) ||
      (picture.channels != 1 && picture.channels != 3) || !Hold(env, args[4], job->held[kStop], stop, stops) ||
      stops != 1 || napi_get_value_int32(env, args[5], &job->quality) != napi_ok) {
    return false;
  }
  picture.stop = stop;
  job->bytes = input;
  if (!job->is_encode) return true;
  picture.pixels = input;
  // Divided, since the product may be larger than any number here.
  const size_t row = size_t{picture.width} * picture.channels;
  return job->length % row == 0 && job->length / row == picture.height;
}

napi_value Start(napi_env env, napi_callback_info info, bool is_encode) {
  Job* const job = new Job;
  job->is_encode = is_encode;
  napi_value name;
  napi_value promise;
  if (!ReadArguments(env, info, job)) {
    Dispose(env, job);
    napi_throw_type_error(env, nullptr, "serving_jpeg: called outside its contract");
    return nullptr;
  }
  if (napi_create_string_latin1(env, "serving_jpeg", NAPI_AUTO_LENGTH, &name) != napi_ok ||
      napi_create_promise(env, &job->deferred, &promise) != napi_ok ||
      napi_create_async_work(env, nullptr, name, Execute, Complete, job, &job->work) != napi_ok ||
      napi_queue_async_work(env, job->work) != napi_ok) {
    Dispose(env, job);
    napi_throw_error(env, nullptr, "serving_jpeg: no work can be queued");
    return nullptr;
  }
  return promise;
}

// (bytes: Uint8Array, width, height, channels, stop: Uint8Array, 0) => Promise<string | ArrayBuffer>, of pixels
napi_value Decode(napi_env env, napi_callback_info info) { return Start(env, info, false); }

// (pixels: Uint8Array, width, height, channels, stop: Uint8Array, quality) => Promise<string | ArrayBuffer>
napi_value Encode(napi_env env, napi_callback_info info) { return Start(env, info, true); }

}  // namespace
}  // namespace serving

NAPI_MODULE_INIT() {
  const napi_property_attributes plain = napi_enumerable;
  napi_value contract;
  napi_value library;
  if (napi_create_uint32(env, serving::kContract, &contract) != napi_ok ||
      napi_create_string_latin1(env, serving::JpegLibrary(), NAPI_AUTO_LENGTH, &library) != napi_ok) {
    return nullptr;
  }
  const napi_property_descriptor properties[] = {
      {"contract", nullptr, nullptr, nullptr, nullptr, contract, plain, nullptr},
      {"library", nullptr, nullptr, nullptr, nullptr, library, plain, nullptr},
      {"decode", nullptr, serving::Decode, nullptr, nullptr, nullptr, plain, nullptr},
      {"encode", nullptr, serving::Encode, nullptr, nullptr, nullptr, plain, nullptr},
  };
  napi_define_properties(env, exports, sizeof properties / sizeof *properties, properties);
  return exports;
}
