#include "later_addon.h"

#include <cstdint>
#include <memory>

#include "boundary.h"

namespace serving {
namespace {

// A buffer to write to.
struct Room {
  uint8_t* data;
  size_t length;
};

bool GetRoom(napi_env env, napi_value value, Room& room) {
  void* data;
  napi_typedarray_type type;
  if (napi_get_typedarray_info(env, value, &type, &room.length, &data, nullptr, nullptr) != napi_ok) return false;
  room.data = static_cast<uint8_t*>(data);
  return type == napi_uint8_array;
}

// One piece of work on its way: `Run` on the pool's thread, then `Result` on the loop's.
class Work {
 public:
  virtual ~Work() = default;
  virtual void Run() = 0;
  // The value of the promise; nullptr for undefined.
  virtual napi_value Result(napi_env env) = 0;

  // The arguments stay alive until the promise settles. Answers the promise; nullptr with an exception pending.
  static napi_value Start(napi_env env, std::unique_ptr<Work> work, const napi_value* args, size_t count) {
    napi_value promise, name, kept;
    if (napi_create_array_with_length(env, count, &kept) != napi_ok) return nullptr;
    for (size_t i = 0; i < count; i++) {
      if (napi_set_element(env, kept, static_cast<uint32_t>(i), args[i]) != napi_ok) return nullptr;
    }
    if (napi_create_string_utf8(env, "serving_native", NAPI_AUTO_LENGTH, &name) != napi_ok ||
        napi_create_reference(env, kept, 1, &work->arguments_) != napi_ok) {
      return nullptr;
    }
    if (napi_create_promise(env, &work->deferred_, &promise) != napi_ok ||
        napi_create_async_work(env, nullptr, name, Execute, Complete, work.get(), &work->handle_) != napi_ok) {
      napi_delete_reference(env, work->arguments_);
      return nullptr;
    }
    if (napi_queue_async_work(env, work->handle_) != napi_ok) {
      napi_delete_async_work(env, work->handle_);
      napi_delete_reference(env, work->arguments_);
      return nullptr;
    }
    work.release();
    return promise;
  }

 private:
  static void Execute(napi_env, void* data) { static_cast<Work*>(data)->Run(); }

  static void Complete(napi_env env, napi_status status, void* data) {
    const std::unique_ptr<Work> work(static_cast<Work*>(data));
    napi_value result = status == napi_ok ? work->Result(env) : nullptr;
    if (result == nullptr) napi_get_undefined(env, &result);
    napi_resolve_deferred(env, work->deferred_, result);
    napi_delete_reference(env, work->arguments_);
    napi_delete_async_work(env, work->handle_);
  }

  napi_async_work handle_ = nullptr;
  napi_deferred deferred_ = nullptr;
  napi_ref arguments_ = nullptr;
};

class CountWork final : public Work {
 public:
  ParseArguments json;

  void Run() override { count_ = CountElements(json.text, json.length); }

  napi_value Result(napi_env env) override {
    napi_value bytes;
    const double size = static_cast<double>(count_ * ItemSize(json.dtype));
    return napi_create_double(env, size, &bytes) == napi_ok ? bytes : nullptr;
  }

 private:
  size_t count_ = 0;
};

class ParseWork final : public Work {
 public:
  ParseArguments json;
  Room out;

  void Run() override {
    ParseNdarray(json.text, json.length, json.dtype, out.data, out.length / ItemSize(json.dtype), result_);
    if (result_.status != Status::kOk || json.dtype != Dtype::kInferred || result_.dtype != Dtype::kBool) return;
    // In place: each flag lies at or before the number that it is made of.
    const double* const values = reinterpret_cast<const double*>(out.data);
    for (size_t i = 0; i < result_.count; i++) out.data[i] = values[i] != 0;
  }

  napi_value Result(napi_env) override {
    WriteHead(result_, json.head);
    return nullptr;
  }

 private:
  ParseResult result_{};
};

class EncodeWork final : public Work {
 public:
  EncodeArguments to;
  Room out;

  void Run() override { status_ = EncodeNdarray(to.array, to.non_finite, reinterpret_cast<char*>(out.data), length_); }

  napi_value Result(napi_env) override {
    to.head[0] = static_cast<double>(status_);
    to.head[1] = static_cast<double>(length_);
    return nullptr;
  }

 private:
  Status status_ = Status::kGaveUp;
  size_t length_ = 0;
};

}  // namespace

napi_value CountLater(napi_env env, napi_callback_info info) {
  napi_value args[3];
  auto work = std::make_unique<CountWork>();
  if (!GetArguments<3>(env, info, args) || !ReadParseArguments(env, args, work->json)) return Misused(env);
  return Work::Start(env, std::move(work), args, 3);
}

napi_value ParseLater(napi_env env, napi_callback_info info) {
  napi_value args[4];
  auto work = std::make_unique<ParseWork>();
  if (!GetArguments<4>(env, info, args) || !ReadParseArguments(env, args, work->json) ||
      !GetRoom(env, args[3], work->out) || reinterpret_cast<uintptr_t>(work->out.data) % 8 != 0) {
    return Misused(env);
  }
  return Work::Start(env, std::move(work), args, 4);
}

napi_value EncodeLater(napi_env env, napi_callback_info info) {
  napi_value args[5];
  auto work = std::make_unique<EncodeWork>();
  if (!GetArguments<5>(env, info, args) || !ReadEncodeArguments(env, args, work->to) ||
      !GetRoom(env, args[4], work->out) || work->out.length < LooseBound(work->to.array)) {
    return Misused(env);
  }
  return Work::Start(env, std::move(work), args, 5);
}

napi_value EncodedBoundOf(napi_env env, napi_callback_info info) {
  napi_value args[4];
  EncodeArguments to;
  if (!GetArguments<4>(env, info, args) || !ReadEncodeArguments(env, args, to)) return Misused(env);
  napi_value bound;
  return napi_create_double(env, static_cast<double>(LooseBound(to.array)), &bound) == napi_ok ? bound : nullptr;
}

}  // namespace serving
