// Resizes pictures on libuv's threads, and reads and writes JPEG by the system's libjpeg-turbo where SERVING_JPEG is
// defined. Built twice, since the binary with libjpeg-turbo does not load where that library is missing. Raw Node-API
// without globals, as in ../src/addon.cpp; without exceptions a failed `new` would abort the process, so memory comes
// from malloc or from `new (std::nothrow)`.
#include <node_api.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>

#include "jpeg.h"
#include "resample.h"

namespace serving {
namespace {

// The version of this interface; src/image/image-addon.ts refuses any other.
constexpr uint32_t kContract = 4;

// Fields of a plan, a Float64Array: those of the picture alone, or those of a resize as well.
enum PlanField {
  kWidth,
  kHeight,
  kChannels,
  kDenominator,  // of the size that a JPEG is decoded at
  kPictureFields,
  kFilter = kPictureFields,
  kExtentX,
  kExtentY,
  kFullWidth,
  kFullHeight,
  kFirstX,
  kFirstY,
  kCountX,
  kCountY,
  kOutChannels,
  kOutWidth,
  kOutHeight,
  kLeft,
  kTop,
  kIsPlanar,
  kHasAlpha,
  kResizeFields,
};

enum Kind { kDecode, kResample, kEncode };
enum Held { kInput, kStop, kOut, kTable, kHeldCount };

struct Bytes {
  uint8_t* data;
  size_t length;
};

// A job of the pool for one picture. The references keep the memory alive that the pool reads and writes.
struct Job {
  napi_async_work work = nullptr;
  napi_deferred deferred = nullptr;
  napi_ref held[kHeldCount] = {};
  Kind kind = kDecode;
  Picture picture{};
  uint32_t denominator = 1;
  bool is_resized = false;
  ResamplePlan plan{};
  Bytes input{};
  StopFlag* stop = nullptr;
  Bytes out{};
  const float* table = nullptr;
  int quality = 0;
  Output encoded{};
  char failure[kFailureLength] = {};
};

void Dispose(napi_env env, Job* job) {
  for (napi_ref ref : job->held) {
    if (ref != nullptr) napi_delete_reference(env, ref);
  }
  if (job->work != nullptr) napi_delete_async_work(env, job->work);
  std::free(job->encoded.data);
  delete job;
}

void FailWith(Job* job, const char* reason) { std::strcpy(job->failure, reason); }

void ResamplePixels(Job* job) {
  Resampler resampler;
  if (!resampler.Prepare(job->plan, job->table, job->out.data)) return FailWith(job, "no memory");
  const size_t row = size_t{job->picture.width} * job->picture.channels;
  for (uint32_t y = 0; y < job->picture.height; y++) {
    if (job->stop->load(std::memory_order_relaxed) != 0) return FailWith(job, "given up");
    resampler.Push(job->input.data + row * y);
  }
}

#ifdef SERVING_JPEG
void Decode(Job* job) {
  Resampler resampler;
  Array<uint8_t> row;
  RowTarget target{};
  if (job->is_resized) {
    if (!resampler.Prepare(job->plan, job->table, job->out.data) ||
        !row.Allocate(size_t{job->plan.x.input} * job->picture.channels)) {
      return FailWith(job, "no memory");
    }
    target.row = row.get();
    target.resampler = &resampler;
  } else {
    target.pixels = job->out.data;
  }
  DecodeJpeg(job->input.data, job->input.length, job->picture, job->denominator, target, *job->stop, job->failure);
}
#endif

void Execute(napi_env, void* data) {
  Job* const job = static_cast<Job*>(data);
  switch (job->kind) {
    case kResample:
      return ResamplePixels(job);
#ifdef SERVING_JPEG
    case kDecode:
      return Decode(job);
    case kEncode:
      return EncodeJpeg(job->input.data, job->picture, job->quality, job->encoded, *job->stop, job->failure);
#endif
    default:
      return FailWith(job, "built without libjpeg-turbo");
  }
}

void Free(napi_env, void* data, void*) { std::free(data); }

// Takes ownership of malloc's memory, or copies it where the engine refuses external memory. Returns false when neither
// works.
bool TakeOver(napi_env env, Output& output, napi_value& result) {
  if (napi_create_external_arraybuffer(env, output.data, output.length, Free, nullptr, &result) == napi_ok) {
    output.data = nullptr;
    return true;
  }
  void* copy;
  if (napi_create_arraybuffer(env, output.length, &copy, &result) == napi_ok) {
    std::memcpy(copy, output.data, output.length);
    return true;
  }
  bool is_pending;
  napi_value error;
  if (napi_is_exception_pending(env, &is_pending) == napi_ok && is_pending) {
    napi_get_and_clear_last_exception(env, &error);
  }
  return false;
}

// Resolves with a text that says what failed, with the encoded bytes, or with undefined when `out` was written.
void Complete(napi_env env, napi_status status, void* data) {
  Job* const job = static_cast<Job*>(data);
  napi_value result = nullptr;
  if (status != napi_ok) FailWith(job, "given up");
  if (job->failure[0] == 0 && job->kind == kEncode && !TakeOver(env, job->encoded, result)) FailWith(job, "no memory");
  napi_status made = napi_ok;
  if (job->failure[0] != 0) {
    made = napi_create_string_latin1(env, job->failure, NAPI_AUTO_LENGTH, &result);
  } else if (job->kind != kEncode) {
    made = napi_get_undefined(env, &result);
  }
  if (made == napi_ok) napi_resolve_deferred(env, job->deferred, result);
  Dispose(env, job);
}

bool Hold(napi_env env, napi_value value, napi_typedarray_type wanted, napi_ref& ref, Bytes& bytes) {
  napi_typedarray_type type;
  void* data;
  if (napi_get_typedarray_info(env, value, &type, &bytes.length, &data, nullptr, nullptr) != napi_ok ||
      type != wanted) {
    return false;
  }
  bytes.data = static_cast<uint8_t*>(data);
  return napi_create_reference(env, value, 1, &ref) == napi_ok;
}

// Reads a whole number from `min` to 2^31 - 1; returns false for any other.
bool GetWhole(double value, uint32_t min, uint32_t& to) {
  if (!(value >= min && value <= 2147483647.0)) return false;
  to = static_cast<uint32_t>(value);
  return to == value;
}

bool ReadResize(const double* fields, const Job& job, ResamplePlan& plan) {
  uint32_t filter;
  uint32_t is_planar;
  uint32_t has_alpha;
  const bool are_whole =
      GetWhole(fields[kFilter], 0, filter) && GetWhole(fields[kFullWidth], 1, plan.x.full) &&
      GetWhole(fields[kFullHeight], 1, plan.y.full) && GetWhole(fields[kFirstX], 0, plan.x.first) &&
      GetWhole(fields[kFirstY], 0, plan.y.first) && GetWhole(fields[kCountX], 1, plan.x.count) &&
      GetWhole(fields[kCountY], 1, plan.y.count) && GetWhole(fields[kOutChannels], 1, plan.channels) &&
      GetWhole(fields[kOutWidth], 1, plan.width) && GetWhole(fields[kOutHeight], 1, plan.height) &&
      GetWhole(fields[kLeft], 0, plan.left) && GetWhole(fields[kTop], 0, plan.top) &&
      GetWhole(fields[kIsPlanar], 0, is_planar) && GetWhole(fields[kHasAlpha], 0, has_alpha);
  if (!are_whole || filter > 2) return false;
  plan.filter = static_cast<Filter>(filter);
  plan.is_planar = is_planar != 0;
  plan.has_alpha = has_alpha != 0;
  plan.x.extent = fields[kExtentX];
  plan.y.extent = fields[kExtentY];
  plan.input_channels = job.picture.channels;
  plan.x.input = ScaledSide(job.picture.width, job.denominator);
  plan.y.input = ScaledSide(job.picture.height, job.denominator);
  // Sums of two numbers below 2^31 cannot overflow.
  for (const Axis& axis : {plan.x, plan.y}) {
    if (!(axis.extent > 0 && axis.extent <= axis.input) || axis.first + axis.count > axis.full) return false;
  }
  if (plan.left + plan.x.count > plan.width || plan.top + plan.y.count > plan.height) return false;
  if (plan.has_alpha) return plan.channels == plan.input_channels && plan.channels % 2 == 0;
  return plan.channels <= 4 && (plan.channels == plan.input_channels || plan.channels == 1 || plan.channels == 3);
}

// Whether `length` is width × height × unit. Divides, since the product may overflow.
bool IsSize(size_t length, size_t width, size_t height, size_t unit) {
  const size_t row = width * unit;
  return length % row == 0 && length / row == height;
}

// Reads the plan of a call and checks it against the lengths of the memory.
bool ReadPlan(napi_env env, napi_value value, Job* job) {
  napi_typedarray_type type;
  void* data;
  size_t length;
  if (napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr) != napi_ok ||
      type != napi_float64_array || (length != kPictureFields && length != kResizeFields)) {
    return false;
  }
  const double* const fields = static_cast<const double*>(data);
  Picture& picture = job->picture;
  uint32_t last;
  if (!GetWhole(fields[kWidth], 1, picture.width) || !GetWhole(fields[kHeight], 1, picture.height) ||
      !GetWhole(fields[kChannels], 1, picture.channels) || picture.channels > 4 ||
      !GetWhole(fields[kDenominator], 1, last)) {
    return false;
  }
  if (job->kind != kResample && picture.channels != 1 && picture.channels != 3) return false;
  const bool is_pixels = job->kind != kDecode;
  if (is_pixels && !IsSize(job->input.length, picture.width, picture.height, picture.channels)) return false;
  job->is_resized = length == kResizeFields;
  if (job->kind == kEncode) {
    job->quality = static_cast<int>(last);
    return !job->is_resized && last <= 100;
  }
  if (job->kind == kResample ? last != 1 || !job->is_resized : last != 1 && last != 2 && last != 4 && last != 8) {
    return false;
  }
  job->denominator = last;
  if (!job->is_resized) {
    return last == 1 && job->table == nullptr &&
           IsSize(job->out.length, picture.width, picture.height, picture.channels);
  }
  if (!ReadResize(fields, *job, job->plan)) return false;
  const ResamplePlan& plan = job->plan;
  const size_t unit = plan.channels * (job->table == nullptr ? sizeof(uint8_t) : sizeof(float));
  const bool is_aligned = job->table == nullptr || reinterpret_cast<uintptr_t>(job->out.data) % sizeof(float) == 0;
  return is_aligned && IsSize(job->out.length, plan.width, plan.height, unit);
}

// Reads (input, plan, stop) for encode, (input, plan, stop, out, table or undefined) for the others.
bool ReadArguments(napi_env env, napi_callback_info info, Job* job) {
  napi_value args[5];
  size_t argc = 5;
  const size_t wanted = job->kind == kEncode ? 3 : 5;
  Bytes stop{};
  if (napi_get_cb_info(env, info, &argc, args, nullptr, nullptr) != napi_ok || argc != wanted ||
      !Hold(env, args[0], napi_uint8_array, job->held[kInput], job->input) ||
      !Hold(env, args[2], napi_uint8_array, job->held[kStop], stop) || stop.length != 1) {
    return false;
  }
  job->stop = reinterpret_cast<StopFlag*>(stop.data);
  if (job->kind != kEncode) {
    napi_valuetype type;
    if (!Hold(env, args[3], napi_uint8_array, job->held[kOut], job->out) ||
        napi_typeof(env, args[4], &type) != napi_ok) {
      return false;
    }
    if (type != napi_undefined) {
      Bytes table{};
      if (!Hold(env, args[4], napi_float32_array, job->held[kTable], table)) return false;
      job->table = reinterpret_cast<const float*>(table.data);
      // `length` counts elements. The number of channels is read later, by ReadPlan, so the largest table is required.
      if (table.length != 4 * 256) return false;
    }
  }
  return ReadPlan(env, args[1], job);
}

napi_value Start(napi_env env, napi_callback_info info, Kind kind) {
  Job* const job = new (std::nothrow) Job;
  if (job == nullptr) {
    napi_throw_error(env, nullptr, "serving_image: no memory");
    return nullptr;
  }
  job->kind = kind;
  napi_value name;
  napi_value promise;
  if (!ReadArguments(env, info, job)) {
    Dispose(env, job);
    napi_throw_type_error(env, nullptr, "serving_image: called outside its contract");
    return nullptr;
  }
  if (napi_create_string_latin1(env, "serving_image", NAPI_AUTO_LENGTH, &name) != napi_ok ||
      napi_create_promise(env, &job->deferred, &promise) != napi_ok ||
      napi_create_async_work(env, nullptr, name, Execute, Complete, job, &job->work) != napi_ok ||
      napi_queue_async_work(env, job->work) != napi_ok) {
    Dispose(env, job);
    napi_throw_error(env, nullptr, "serving_image: no work can be queued");
    return nullptr;
  }
  return promise;
}

// (memory: ArrayBuffer) => undefined. Detaches the memory and frees it now, where the collector would do so later.
napi_value FreeMemory(napi_env env, napi_callback_info info) {
  napi_value memory;
  size_t argc = 1;
  bool is_buffer = false;
  if (napi_get_cb_info(env, info, &argc, &memory, nullptr, nullptr) != napi_ok || argc != 1 ||
      napi_is_arraybuffer(env, memory, &is_buffer) != napi_ok || !is_buffer) {
    napi_throw_type_error(env, nullptr, "serving_image: called outside its contract");
  } else if (napi_detach_arraybuffer(env, memory) != napi_ok) {
    napi_throw_error(env, nullptr, "serving_image: memory that cannot be freed");
  }
  return nullptr;
}

// (pixels, plan, stop, out, table or undefined) => Promise<string | undefined>
napi_value StartResample(napi_env env, napi_callback_info info) { return Start(env, info, kResample); }

#ifdef SERVING_JPEG
// (bytes, plan, stop, out, table or undefined) => Promise<string | undefined>
napi_value StartDecode(napi_env env, napi_callback_info info) { return Start(env, info, kDecode); }

// (pixels, plan, stop) => Promise<string | ArrayBuffer>
napi_value StartEncode(napi_env env, napi_callback_info info) { return Start(env, info, kEncode); }
#endif

}  // namespace
}  // namespace serving

NAPI_MODULE_INIT() {
  const napi_property_attributes plain = napi_enumerable;
  napi_value contract;
  if (napi_create_uint32(env, serving::kContract, &contract) != napi_ok) return nullptr;
#ifdef SERVING_JPEG
  napi_value library;
  if (napi_create_string_latin1(env, serving::JpegLibrary(), NAPI_AUTO_LENGTH, &library) != napi_ok) return nullptr;
#endif
  const napi_property_descriptor properties[] = {
      {"contract", nullptr, nullptr, nullptr, nullptr, contract, plain, nullptr},
      {"freeMemory", nullptr, serving::FreeMemory, nullptr, nullptr, nullptr, plain, nullptr},
      {"resample", nullptr, serving::StartResample, nullptr, nullptr, nullptr, plain, nullptr},
#ifdef SERVING_JPEG
      {"library", nullptr, nullptr, nullptr, nullptr, library, plain, nullptr},
      {"decode", nullptr, serving::StartDecode, nullptr, nullptr, nullptr, plain, nullptr},
      {"encode", nullptr, serving::StartEncode, nullptr, nullptr, nullptr, plain, nullptr},
#endif
  };
  napi_define_properties(env, exports, sizeof properties / sizeof *properties, properties);
  return exports;
}
