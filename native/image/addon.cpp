// Resizes pictures on libuv's threads, and reads and writes JPEG by the system's libjpeg-turbo where SERVING_JPEG is
// defined. Built twice, since the binary with libjpeg-turbo does not load where that library is missing. Raw Node-API
// without globals, as in ../src/addon.cpp; without exceptions a failed `new` would abort the process, so memory comes
// from malloc or from `new (std::nothrow)`.
#include <node_api.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "../src/async_job.h"
#include "../src/plan.h"
#include "jpeg.h"
#include "resample.h"

namespace serving {
namespace {

// A plan is a PictureWord, whose denominator is that of the size that a JPEG is decoded at, and for a resize a
// ResizeWord.

enum Kind { kDecode, kResample, kEncode };

// A job of the pool for one picture.
class PictureJob final : public Job {
 public:
  explicit PictureJob(Kind of) : kind(of) {}
  ~PictureJob() override { std::free(encoded_.data); }

  void Run() override {
    switch (kind) {
      case kResample:
        return Resample();
#ifdef SERVING_JPEG
      case kDecode:
        return Decode();
      case kEncode:
        return EncodeJpeg(input.data, picture, quality, encoded_, *stop, failure_);
#endif
      default:
        return FailWith("built without libjpeg-turbo");
    }
  }

  // Returns a text that says what failed, the encoded bytes, or undefined when `out` was written.
  napi_value Result(napi_env env) override {
    napi_value result = nullptr;
    if (failure_[0] == 0 && kind == kEncode) {
      result = HandOver(env, std::exchange(encoded_.data, nullptr), encoded_.length);
      if (result == nullptr) FailWith("no memory");
    }
    if (failure_[0] == 0) return result;
    return napi_create_string_latin1(env, failure_, NAPI_AUTO_LENGTH, &result) == napi_ok ? result : nullptr;
  }

  const Kind kind;
  Picture picture{};
  uint32_t denominator = 1;
  bool is_resized = false;
  ResamplePlan plan{};
  View input{};
  StopFlag* stop = nullptr;
  View out{};
  const float* table = nullptr;
  int quality = 0;

 private:
  void FailWith(const char* reason) { std::strcpy(failure_, reason); }

  void Resample() {
    Resampler resampler;
    if (!resampler.Prepare(plan, table, out.data)) return FailWith("no memory");
    const size_t row = size_t{picture.width} * picture.channels;
    for (uint32_t y = 0; y < picture.height; y++) {
      if (stop->load(std::memory_order_relaxed) != 0) return FailWith("given up");
      resampler.Push(input.data + row * y);
    }
  }

#ifdef SERVING_JPEG
  void Decode() {
    Resampler resampler;
    Array<uint8_t> row;
    RowTarget target{};
    if (is_resized) {
      if (!resampler.Prepare(plan, table, out.data) || !row.Allocate(size_t{plan.x.input} * picture.channels)) {
        return FailWith("no memory");
      }
      target.row = row.get();
      target.resampler = &resampler;
    } else {
      target.pixels = out.data;
    }
    DecodeJpeg(input.data, input.length, picture, denominator, target, *stop, failure_);
  }
#endif

  Output encoded_{};
  char failure_[kFailureLength] = {};
};

bool ReadResize(Plan& words, const PictureJob& job, ResamplePlan& plan) {
  using Word = ResizeWord;
  words.Next(Word::kWords);
  plan.filter = words.CodeUpTo(Word::kFilter, Filter::kLanczos);
  plan.x.extent = words.Real(Word::kXExtent);
  plan.y.extent = words.Real(Word::kYExtent);
  plan.x.full = words.Whole(Word::kXFull, 1);
  plan.y.full = words.Whole(Word::kYFull, 1);
  plan.x.first = words.Whole(Word::kXFirst, 0);
  plan.y.first = words.Whole(Word::kYFirst, 0);
  plan.x.count = words.Whole(Word::kXCount, 1);
  plan.y.count = words.Whole(Word::kYCount, 1);
  plan.channels = words.Whole(Word::kChannels, 1);
  plan.width = words.Whole(Word::kWidth, 1);
  plan.height = words.Whole(Word::kHeight, 1);
  plan.left = words.Whole(Word::kLeft, 0);
  plan.top = words.Whole(Word::kTop, 0);
  plan.is_planar = words.Flag(Word::kIsPlanar);
  plan.has_alpha = words.Flag(Word::kHasAlpha);
  if (!words.ok()) return false;
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
bool ReadPlan(napi_env env, napi_value value, PictureJob* job) {
  View view;
  if (!GetView(env, value, napi_float64_array, view)) return false;
  Plan words(env, view, nullptr, {nullptr, 0});
  Picture& picture = job->picture;
  words.Next(PictureWord::kWords);
  picture.width = words.Whole(PictureWord::kWidth, 1);
  picture.height = words.Whole(PictureWord::kHeight, 1);
  picture.channels = words.Whole(PictureWord::kChannels, 1);
  const uint32_t last = words.Whole(job->kind == kEncode ? PictureWord::kQuality : PictureWord::kDenominator, 1);
  if (!words.ok() || picture.channels > 4) return false;
  job->is_resized = view.length > PictureWord::kWords;
  // The resampler would take inks for colours with alpha.
  const bool takes_inks = job->kind == kResample || (job->kind == kDecode && !job->is_resized);
  if (picture.channels == 2 ? job->kind != kResample : picture.channels == 4 && !takes_inks) return false;
  const bool is_pixels = job->kind != kDecode;
  if (is_pixels && !IsSize(job->input.length, picture.width, picture.height, picture.channels)) return false;
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
  if (!ReadResize(words, *job, job->plan)) return false;
  const ResamplePlan& plan = job->plan;
  const size_t unit = plan.channels * (job->table == nullptr ? sizeof(uint8_t) : sizeof(float));
  const bool is_aligned = job->table == nullptr || reinterpret_cast<uintptr_t>(job->out.data) % sizeof(float) == 0;
  return is_aligned && IsSize(job->out.length, plan.width, plan.height, unit);
}

// Reads (input, plan, stop) for encode, (input, plan, stop, out, table or undefined) for the others.
bool ReadArguments(napi_env env, const napi_value* args, PictureJob* job) {
  View stop{};
  if (!GetView(env, args[0], napi_uint8_array, job->input) || !GetView(env, args[2], napi_uint8_array, stop) ||
      stop.length != 1) {
    return false;
  }
  job->stop = reinterpret_cast<StopFlag*>(stop.data);
  if (job->kind != kEncode) {
    napi_valuetype type;
    if (!GetView(env, args[3], napi_uint8_array, job->out) || napi_typeof(env, args[4], &type) != napi_ok) return false;
    if (type != napi_undefined) {
      View table{};
      // The number of channels is read later, by ReadPlan, so the largest table is required.
      if (!GetView(env, args[4], napi_float32_array, table) || table.length != 4 * 256) return false;
      job->table = reinterpret_cast<const float*>(table.data);
    }
  }
  return ReadPlan(env, args[1], job);
}

template <size_t N>
napi_value Start(napi_env env, napi_callback_info info, Kind kind) {
  napi_value args[N];
  std::unique_ptr<PictureJob> job(new (std::nothrow) PictureJob(kind));
  if (job == nullptr || !GetArguments(env, info, args) || !ReadArguments(env, args, job.get())) return Misused(env);
  return Job::Start(env, std::move(job), args, N);
}

// (memory: ArrayBuffer) => undefined. Detaches the memory and frees it now, where the collector would do so later.
napi_value FreeMemory(napi_env env, napi_callback_info info) {
  napi_value args[1];
  bool is_buffer = false;
  if (!GetArguments(env, info, args) || napi_is_arraybuffer(env, args[0], &is_buffer) != napi_ok || !is_buffer) {
    return Misused(env);
  }
  if (napi_detach_arraybuffer(env, args[0]) != napi_ok) {
    napi_throw_error(env, nullptr, "serving: memory that cannot be freed");
  }
  return nullptr;
}

// (pixels, plan, stop, out, table or undefined) => Promise<string | undefined>
napi_value StartResample(napi_env env, napi_callback_info info) { return Start<5>(env, info, kResample); }

#ifdef SERVING_JPEG
// (bytes, plan, stop, out, table or undefined) => Promise<string | undefined>
napi_value StartDecode(napi_env env, napi_callback_info info) { return Start<5>(env, info, kDecode); }

// (pixels, plan, stop) => Promise<string | ArrayBuffer>
napi_value StartEncode(napi_env env, napi_callback_info info) { return Start<3>(env, info, kEncode); }
#endif

}  // namespace
}  // namespace serving

NAPI_MODULE_INIT() {
  const napi_property_attributes plain = napi_enumerable;
  napi_value contract;
  if (napi_create_uint32(env, serving::kPicturesContract, &contract) != napi_ok) return nullptr;
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
