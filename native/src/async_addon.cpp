#include "async_addon.h"

#include <cstdint>

#include "async_job.h"
#include "boundary.h"

namespace serving {
namespace {

class CountJob final : public Job {
 public:
  ParseArguments json;

  void Run() override { count_ = CountElements(json.text, json.length); }

  napi_value Result(napi_env env) override {
    napi_value bytes;
    const double size = static_cast<double>(count_ * ItemSize(json.cast.dtype));
    return napi_create_double(env, size, &bytes) == napi_ok ? bytes : nullptr;
  }

 private:
  size_t count_ = 0;
};

class ParseJob final : public Job {
 public:
  ParseArguments json;
  View out;
  Piece piece;

  void Run() override {
    ParseNdarray(json.text, json.length, json.cast, out.data, out.length / ItemSize(json.cast.dtype), result_, piece);
    if (result_.status != Status::kOk || json.cast.dtype != Dtype::kInferred || result_.dtype != Dtype::kBool) return;
    // In place: each flag is written at or before the number that it is made from.
    const double* const values = reinterpret_cast<const double*>(out.data);
    for (size_t i = 0; i < result_.count; i++) out.data[i] = values[i] != 0;
  }

  napi_value Result(napi_env) override {
    WriteResult(result_, json.words);
    return nullptr;
  }

 private:
  ParseResult result_{};
};

class EncodeJob final : public Job {
 public:
  EncodeArguments to;
  View out;

  void Run() override { status_ = EncodeNdarray(to.array, to.non_finite, reinterpret_cast<char*>(out.data), length_); }

  napi_value Result(napi_env) override {
    WriteStatus(status_, to.words);
    to.words[ResultWord::kLength] = static_cast<double>(length_);
    return nullptr;
  }

 private:
  Status status_ = Status::kGaveUp;
  size_t length_ = 0;
};

}  // namespace

napi_value CountElementsAsync(napi_env env, napi_callback_info info) {
  return StartJob<CountJob, 3>(
      env, info, [env](const napi_value* args, CountJob& to) { return ReadParseArguments(env, args, to.json); });
}

napi_value ParseNdarrayAsync(napi_env env, napi_callback_info info) {
  return StartJob<ParseJob, 6>(env, info, [env](const napi_value* args, ParseJob& to) {
    return ReadParseArguments(env, args, to.json) && GetView(env, args[3], napi_uint8_array, to.out) &&
           reinterpret_cast<uintptr_t>(to.out.data) % ItemSize(to.json.cast.dtype) == 0 &&
           napi_get_value_bool(env, args[4], &to.piece.begins_before) == napi_ok &&
           napi_get_value_bool(env, args[5], &to.piece.ends_behind) == napi_ok;
  });
}

napi_value EncodeNdarrayAsync(napi_env env, napi_callback_info info) {
  return StartJob<EncodeJob, 5>(env, info, [env](const napi_value* args, EncodeJob& to) {
    return ReadEncodeArguments(env, args, to.to) && GetView(env, args[4], napi_uint8_array, to.out) &&
           to.out.length >= EncodedBound(to.to.array);
  });
}

napi_value EncodedBound(napi_env env, napi_callback_info info) {
  napi_value args[4];
  EncodeArguments to;
  if (!GetArguments(env, info, args) || !ReadEncodeArguments(env, args, to)) return Misused(env);
  napi_value bound;
  return napi_create_double(env, static_cast<double>(EncodedBound(to.array)), &bound) == napi_ok ? bound : nullptr;
}

}  // namespace serving
