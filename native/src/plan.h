// Reads a plan of JavaScript: records of numbers (src/core/native/shared-numbers.ts), and the buffers and texts that
// they refer to.
#pragma once

#include "frame_encode.h"
#include "node_values.h"

namespace serving {

inline bool GetSpan(napi_env env, napi_value value, napi_typedarray_type type, Span& span) {
  View view;
  if (!GetView(env, value, type, view)) return false;
  // An empty view may have a null address, which would mean "absent".
  span.data = view.data == nullptr ? reinterpret_cast<const uint8_t*>("") : view.data;
  span.size = view.length;
  return true;
}

// Reads the records of a plan one after the other, the numbers of each by name. Each number is checked: from the first
// wrong one on, all are zeros and empty, and `ok` is false.
class Plan {
 public:
  Plan(napi_env env, const View& words, napi_value parts, const Span& texts)
      : env_(env),
        words_(reinterpret_cast<const double*>(words.data)),
        left_(words.length),
        parts_(parts),
        texts_(texts) {}

  bool ok() const { return ok_; }

  // Goes on to the next record, which has `count` numbers.
  void Next(size_t count) {
    if (count > left_) ok_ = false;
    if (!ok_) return;
    record_ = words_;
    words_ += count;
    left_ -= count;
  }

  size_t Number(size_t at, size_t max) {
    const double word = Real(at);
    if (!(word >= 0 && word <= static_cast<double>(max))) ok_ = false;
    return ok_ ? static_cast<size_t>(word) : 0;
  }
  bool Flag(size_t at) { return Number(at, 1) != 0; }
  uint32_t Whole(size_t at, uint32_t min) {
    const size_t number = Number(at, INT32_MAX);
    if (number < min) ok_ = false;
    return static_cast<uint32_t>(number);
  }
  double Real(size_t at) const { return ok_ ? record_[at] : -1; }
  // -1 stands for none, SIZE_MAX.
  size_t NumberOrNone(size_t at, size_t max) { return ok_ && Real(at) == -1 ? SIZE_MAX : Number(at, max); }
  // A code of an enum whose last one is `last`.
  template <class Code>
  Code CodeUpTo(size_t at, Code last) {
    return static_cast<Code>(Number(at, static_cast<size_t>(last)));
  }

  // A piece of the texts, by its start and, behind it, its end.
  Span Text(size_t at) {
    const size_t start = Number(at, texts_.size);
    const size_t end = Number(at + 1, texts_.size);
    if (end < start) ok_ = false;
    return ok_ ? Span{texts_.data + start, end - start} : Span{nullptr, 0};
  }

  // A buffer, by its number.
  Span Part(size_t at) { return PartAt(Number(at, UINT32_MAX)); }
  Span PartOrNone(size_t at) {
    const size_t index = NumberOrNone(at, UINT32_MAX);
    return index == SIZE_MAX ? Span{nullptr, 0} : PartAt(index);
  }
  Span PartAt(size_t index) {
    napi_value value;
    Span span;
    ok_ = ok_ && napi_get_element(env_, parts_, static_cast<uint32_t>(index), &value) == napi_ok &&
          GetSpan(env_, value, napi_uint8_array, span);
    return ok_ ? span : Span{nullptr, 0};
  }

  // Three words: the number of a part or -1 for none, where the span starts in it, and its bytes. Columns of one buffer
  // follow each other, and asking JavaScript for a part takes 0.1 us.
  Span RangeOrNone(size_t at) {
    const size_t index = NumberOrNone(at, UINT32_MAX);
    if (index != SIZE_MAX && index != last_) range_ = PartAt(index);
    last_ = index == SIZE_MAX ? last_ : index;
    const size_t start = Number(at + 1, index == SIZE_MAX ? 0 : range_.size);
    const size_t bytes = Number(at + 2, index == SIZE_MAX ? 0 : range_.size - start);
    return ok_ && index != SIZE_MAX ? Span{range_.data + start, bytes} : Span{nullptr, 0};
  }

 private:
  napi_env env_;
  const double* record_ = nullptr;
  const double* words_;
  size_t left_;
  napi_value parts_;
  Span texts_;
  bool ok_ = true;
  size_t last_ = SIZE_MAX;
  Span range_ = {nullptr, 0};
};

}  // namespace serving
