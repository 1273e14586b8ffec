// Runs jobs on libuv's thread pool, for all add-ons.
#pragma once

#include <node_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "node_values.h"

namespace serving {

// One job: `Run` is called on a thread of the pool, then `Result` on the event loop's thread.
class Job {
 public:
  virtual ~Job() = default;
  virtual void Run() = 0;
  // Returns the value of the promise; nullptr for undefined.
  virtual napi_value Result(napi_env env) = 0;

  // Returns the promise; nullptr with an exception pending. Keeps the arguments alive until it settles.
  static napi_value Start(napi_env env, std::unique_ptr<Job> job, const napi_value* args, size_t count) {
    napi_value promise, name, list;
    if (napi_create_array_with_length(env, count, &list) != napi_ok) return nullptr;
    for (size_t i = 0; i < count; i++) {
      if (napi_set_element(env, list, static_cast<uint32_t>(i), args[i]) != napi_ok) return nullptr;
    }
    if (napi_create_string_utf8(env, "serving", NAPI_AUTO_LENGTH, &name) != napi_ok ||
        napi_create_reference(env, list, 1, &job->arguments_) != napi_ok) {
      return nullptr;
    }
    if (napi_create_promise(env, &job->deferred_, &promise) != napi_ok ||
        napi_create_async_work(env, nullptr, name, Execute, Complete, job.get(), &job->handle_) != napi_ok) {
      napi_delete_reference(env, job->arguments_);
      return nullptr;
    }
    if (napi_queue_async_work(env, job->handle_) != napi_ok) {
      napi_delete_async_work(env, job->handle_);
      napi_delete_reference(env, job->arguments_);
      return nullptr;
    }
    job.release();
    return promise;
  }

 private:
  static void Execute(napi_env, void* data) { static_cast<Job*>(data)->Run(); }

  static void Complete(napi_env env, napi_status status, void* data) {
    const std::unique_ptr<Job> job(static_cast<Job*>(data));
    if (status == napi_ok) {
      napi_value result = job->Result(env);
      if (result == nullptr) napi_get_undefined(env, &result);
      napi_resolve_deferred(env, job->deferred_, result);
    } else {
      // The environment ends: the job was taken out of the queue.
      napi_value message, error;
      napi_create_string_utf8(env, "the job was cancelled", NAPI_AUTO_LENGTH, &message);
      napi_create_error(env, nullptr, message, &error);
      napi_reject_deferred(env, job->deferred_, error);
    }
    napi_delete_reference(env, job->arguments_);
    napi_delete_async_work(env, job->handle_);
  }

  napi_async_work handle_ = nullptr;
  napi_deferred deferred_ = nullptr;
  napi_ref arguments_ = nullptr;
};

// Starts a job of N arguments, which `read` reads into it. Returns the promise; nullptr with an exception pending.
// Without exceptions, a plain `new` that fails would end the process.
template <class T, size_t N, class Read>
napi_value StartJob(napi_env env, napi_callback_info info, const Read& read) {
  napi_value args[N];
  std::unique_ptr<T> job(new (std::nothrow) T);
  if (job == nullptr || !GetArguments(env, info, args) || !read(args, *job)) return Misused(env);
  return Job::Start(env, std::move(job), args, N);
}

}  // namespace serving
