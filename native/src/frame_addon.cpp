#include "frame_addon.h"

#include <new>
#include <utility>

#include "async_job.h"
#include "frame_encode.h"
#include "frame_pack.h"
#include "plan.h"

namespace serving {
namespace {

// The largest integer up to which JavaScript has all.
constexpr size_t kMaxNumber = size_t{1} << 53;

// parse, in: max columns, max cells, four 32-bit words of a secret

// encode: columns, steps and rows, then the words of each column:
//   kind, data, validity and offsets of three words each (see RangeOrNone), part of the first heap, heaps, key's start,
//   key's end
// and of each step:
//   0, start, end: a piece of the texts
//   1, label mode, 0 or the number of the label's column from 1 on, before's start, end, after's, end, close's, end,
//      first column, columns, keys?
//   2: lines of CSV of all columns

// (json: Uint8Array, layout: number, limits: Float64Array); layouts from kFrameLayouts on are read as written
struct FrameArguments {
  Span json;
  FrameLayout layout;
  FrameLimits limits;
  uint64_t seeds[2];
  bool as_written;
};

bool ReadFrameArguments(napi_env env, const napi_value* args, FrameArguments& to) {
  View words;
  int32_t layout;
  if (!GetSpan(env, args[0], napi_uint8_array, to.json) || napi_get_value_int32(env, args[1], &layout) != napi_ok ||
      layout < 0 || layout >= 2 * kFrameLayouts || !GetView(env, args[2], napi_float64_array, words)) {
    return false;
  }
  Plan plan(env, words, nullptr, {nullptr, 0});
  to.layout = static_cast<FrameLayout>(layout % kFrameLayouts);
  to.as_written = layout >= kFrameLayouts;
  to.limits.max_columns = plan.Number(kMaxNumber);
  to.limits.max_cells = plan.Number(kMaxNumber);
  for (uint64_t& seed : to.seeds) {
    const uint64_t high = plan.Number(UINT32_MAX);
    seed = high << 32 | plan.Number(UINT32_MAX);
  }
  return plan.ok();
}

Packed Parse(const FrameArguments& from) {
  // Text offsets are 32 bits wide.
  if (from.json.size > INT32_MAX) return {};
  FrameParser parser(from.json.data, from.json.size, from.limits, from.seeds[0], from.seeds[1], from.as_written);
  parser.Parse(from.layout);
  return PackFrame(parser);
}

// (csv: Uint8Array, isText: Uint8Array, max cells: number)
struct CsvArguments {
  Span csv;
  Span is_text;
  size_t max_cells;
};

bool ReadCsvArguments(napi_env env, const napi_value* args, CsvArguments& to) {
  double max_cells;
  if (!GetSpan(env, args[0], napi_uint8_array, to.csv) || !GetSpan(env, args[1], napi_uint8_array, to.is_text) ||
      to.is_text.size == 0 || napi_get_value_double(env, args[2], &max_cells) != napi_ok ||
      !(max_cells >= 0 && max_cells <= static_cast<double>(kMaxNumber))) {
    return false;
  }
  to.max_cells = static_cast<size_t>(max_cells);
  return true;
}

Packed Parse(const CsvArguments& from) {
  // Text offsets are 32 bits wide.
  if (from.csv.size > INT32_MAX) return {};
  CsvParser parser(from.csv.data, from.csv.size, from.is_text.size, from.is_text.data, from.max_cells);
  parser.Parse();
  return PackCsv(parser);
}

template <class Arguments>
class ParseTableJob final : public Job {
 public:
  Arguments from;

  ~ParseTableJob() override { std::free(packed_.data); }
  void Run() override { packed_ = Parse(from); }

  napi_value Result(napi_env env) override { return HandOver(env, std::exchange(packed_.data, nullptr), packed_.size); }

 private:
  Packed packed_;
};

template <class Arguments>
napi_value ParseAtOnce(napi_env env, napi_callback_info info, bool (*read)(napi_env, const napi_value*, Arguments&)) {
  napi_value args[3];
  Arguments from;
  if (!GetArguments(env, info, args) || !read(env, args, from)) return Misused(env);
  const Packed packed = Parse(from);
  return HandOver(env, packed.data, packed.size);
}

template <class Arguments>
napi_value ParseAsync(napi_env env, napi_callback_info info, bool (*read)(napi_env, const napi_value*, Arguments&)) {
  using Parsing = ParseTableJob<Arguments>;
  return StartJob<Parsing, 3>(env, info, [&](const napi_value* args, Parsing& to) { return read(env, args, to.from); });
}

}  // namespace

napi_value ParseFrame(napi_env env, napi_callback_info info) { return ParseAtOnce(env, info, ReadFrameArguments); }

napi_value ParseFrameAsync(napi_env env, napi_callback_info info) { return ParseAsync(env, info, ReadFrameArguments); }

napi_value ParseCsv(napi_env env, napi_callback_info info) { return ParseAtOnce(env, info, ReadCsvArguments); }

napi_value ParseCsvAsync(napi_env env, napi_callback_info info) { return ParseAsync(env, info, ReadCsvArguments); }

namespace {

bool ReadColumn(Plan& plan, EncodeColumn& column, Bytes& heaps) {
  column.dtype = static_cast<Dtype>(plan.Number(static_cast<size_t>(Dtype::kJson)));
  column.data = plan.RangeOrNone();
  column.validity = plan.RangeOrNone();
  column.offsets = plan.RangeOrNone();
  const size_t first = plan.Number(UINT32_MAX);
  column.heap_count = plan.Number(UINT32_MAX - first);
  column.key = plan.Text();
  for (size_t i = 0; i < column.heap_count && plan.ok(); i++) {
    if (!heaps.Push(plan.PartAt(first + i))) return false;
  }
  return plan.ok() && column.data.data != nullptr;
}

bool RunStep(Plan& plan, const EncodeColumn* columns, size_t count, size_t rows, Bytes& out) {
  const size_t what = plan.Number(2);
  if (what == 0) {
    const Span text = plan.Text();
    return plan.ok() && out.Append(text.data, text.size);
  }
  EncodeRows step{rows, 0, nullptr, {}, {}, {}, columns, count, false};
  if (what == 1) {
    step.label_mode = static_cast<int>(plan.Number(2));
    const size_t label = plan.Number(count);
    if (label > 0) step.labels = columns + label - 1;
    step.before = plan.Text();
    step.after = plan.Text();
    step.close = plan.Text();
    const size_t first = plan.Number(count);
    step.columns = columns + first;
    step.count = plan.Number(count - first);
    step.keys = plan.Flag();
  }
  if (!plan.ok() || (step.labels != nullptr && !HoldsRows(*step.labels, rows))) return false;
  for (size_t i = 0; i < step.count; i++) {
    if (!HoldsRows(step.columns[i], rows)) return false;
  }
  return what == 1 ? EncodeRowsTo(out, step) : EncodeCsvTo(out, columns, count, rows);
}

}  // namespace

napi_value EncodeFrame(napi_env env, napi_callback_info info) {
  napi_value args[3];
  View words;
  Span texts;
  if (!GetArguments(env, info, args) || !GetView(env, args[0], napi_float64_array, words) ||
      !GetSpan(env, args[2], napi_uint8_array, texts)) {
    return Misused(env);
  }
  Plan plan(env, words, args[1], texts);
  const size_t count = plan.Number(words.length);
  const size_t steps = plan.Number(words.length);
  const size_t rows = plan.Number(SIZE_MAX / 128);
  Bytes columns;
  Bytes heaps;
  if (!columns.Reserve((count + 1) * sizeof(EncodeColumn))) return nullptr;
  EncodeColumn* const list = columns.As<EncodeColumn>();
  for (size_t i = 0; i < count; i++) {
    if (!ReadColumn(plan, list[i], heaps)) return Misused(env);
  }
  // Set last: `heaps` may move its memory while it grows.
  size_t heap = 0;
  for (size_t i = 0; i < count; i++) {
    list[i].heaps = heaps.As<Span>() + heap;
    heap += list[i].heap_count;
  }
  Bytes out;
  for (size_t i = 0; i < steps; i++) {
    if (!RunStep(plan, list, count, rows, out)) return nullptr;
  }
  if (!plan.ok()) return Misused(env);
  const size_t size = out.size();
  return HandOver(env, out.Release(), size);
}

}  // namespace serving
