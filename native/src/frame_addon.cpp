#include "frame_addon.h"

#include <new>
#include <utility>

#include "async_job.h"
#include "frame_encode.h"
#include "frame_pack.h"
#include "plan.h"

namespace serving {
namespace {

// parse, in: max columns, max cells, four 32-bit words of a secret
constexpr size_t kLimitWords = 6;

// encode: [out: 1 when written, out: length, columns, steps, first row, rows], then columns and steps.
constexpr size_t kProgramWords = 6;
//   kind, data, validity and offsets of three words each (see RangeOrNone), part of the first heap, heaps, key's start,
//   key's end
constexpr size_t kColumnPlan = 14;
//   0, start, end: a piece of the texts
//   1, label mode, label column or -1, before's start, end, after's, end, close's, end, first column, columns, keys?
//   2: lines of CSV of all columns
constexpr size_t kStepPlan = 12;

// (json: Uint8Array, layout: number, limits: Float64Array); layouts from kFrameLayouts on are read as written
struct FrameArguments {
  Span json;
  FrameLayout layout;
  FrameLimits limits;
  uint64_t seeds[2];
  bool as_written;
};

bool ReadFrameArguments(napi_env env, const napi_value* args, FrameArguments& to) {
  Span words;
  int32_t layout;
  if (!GetSpan(env, args[0], napi_uint8_array, to.json) || napi_get_value_int32(env, args[1], &layout) != napi_ok ||
      layout < 0 || layout >= 2 * kFrameLayouts || !GetSpan(env, args[2], napi_float64_array, words) ||
      words.size != kLimitWords) {
    return false;
  }
  uint64_t word[kLimitWords];
  for (size_t i = 0; i < kLimitWords; i++) {
    const double value = reinterpret_cast<const double*>(words.data)[i];
    if (!(value >= 0 && value <= 9007199254740992.0)) return false;
    word[i] = static_cast<uint64_t>(value);
  }
  to.layout = static_cast<FrameLayout>(layout % kFrameLayouts);
  to.as_written = layout >= kFrameLayouts;
  to.limits = {static_cast<size_t>(word[0]), static_cast<size_t>(word[1])};
  to.seeds[0] = word[2] << 32 | word[3];
  to.seeds[1] = word[4] << 32 | word[5];
  return true;
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
      !(max_cells >= 0 && max_cells <= 9007199254740992.0)) {
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

bool ReadColumn(Plan& plan, size_t at, EncodeColumn& column, Bytes& heaps) {
  size_t code;
  size_t first;
  if (!plan.Number(at, static_cast<int>(Dtype::kJson), code) || !plan.RangeOrNone(at + 1, column.data) ||
      column.data.data == nullptr || !plan.RangeOrNone(at + 4, column.validity) ||
      !plan.RangeOrNone(at + 7, column.offsets) || !plan.Number(at + 10, UINT32_MAX, first) ||
      !plan.Number(at + 11, UINT32_MAX - first, column.heap_count) || !plan.Text(at + 12, column.key)) {
    return false;
  }
  column.dtype = static_cast<Dtype>(code);
  for (size_t i = 0; i < column.heap_count; i++) {
    Span heap;
    if (!plan.PartAt(first + i, heap) || !heaps.Push(heap)) return false;
  }
  return true;
}

bool RunStep(const Plan& plan, size_t at, const EncodeColumn* columns, size_t count, Bytes& out) {
  size_t what;
  if (!plan.Number(at, 2, what)) return false;
  if (what == 0) {
    Span text;
    return plan.Text(at + 1, text) && out.Append(text.data, text.size);
  }
  EncodeRows rows;
  size_t mode;
  size_t label;
  size_t first;
  size_t keys;
  rows.labels = nullptr;
  if (!plan.Number(4, SIZE_MAX / 128, rows.first) || !plan.Number(5, SIZE_MAX / 128, rows.rows)) return false;
  const size_t end = rows.first + rows.rows;
  if (what == 2) {
    for (size_t i = 0; i < count; i++) {
      if (!HoldsRows(columns[i], end)) return false;
    }
    return EncodeCsvTo(out, columns, count, rows.first, rows.rows);
  }
  if (!plan.Number(at + 1, 2, mode)) return false;
  if (!plan.IsAbsent(at + 2)) {
    if (count == 0 || !plan.Number(at + 2, count - 1, label)) return false;
    rows.labels = columns + label;
    if (!HoldsRows(*rows.labels, end)) return false;
  }
  if (!plan.Text(at + 3, rows.before) || !plan.Text(at + 5, rows.after) || !plan.Text(at + 7, rows.close) ||
      !plan.Number(at + 9, count, first) || !plan.Number(at + 10, count - first, rows.count) ||
      !plan.Number(at + 11, 1, keys)) {
    return false;
  }
  rows.label_mode = static_cast<int>(mode);
  rows.columns = columns + first;
  rows.keys = keys != 0;
  for (size_t i = 0; i < rows.count; i++) {
    if (!HoldsRows(rows.columns[i], end)) return false;
  }
  return EncodeRowsTo(out, rows);
}

}  // namespace

napi_value EncodeFrame(napi_env env, napi_callback_info info) {
  napi_value args[3];
  View program;
  Span texts;
  if (!GetArguments(env, info, args) || !GetView(env, args[0], napi_float64_array, program) ||
      program.length < kProgramWords || !GetSpan(env, args[2], napi_uint8_array, texts)) {
    return Misused(env);
  }
  double* const words = reinterpret_cast<double*>(program.data);
  Plan plan(env, words, program.length, args[1], texts);
  words[0] = 0;
  size_t count;
  size_t steps;
  if (!plan.Number(2, program.length, count) || !plan.Number(3, program.length, steps)) return Misused(env);
  Bytes columns;
  Bytes heaps;
  if (!columns.Reserve((count + 1) * sizeof(EncodeColumn))) return nullptr;
  EncodeColumn* const list = columns.As<EncodeColumn>();
  for (size_t i = 0; i < count; i++) {
    if (!ReadColumn(plan, kProgramWords + i * kColumnPlan, list[i], heaps)) return Misused(env);
  }
  // Set last: `heaps` may move its memory while it grows.
  size_t heap = 0;
  for (size_t i = 0; i < count; i++) {
    list[i].heaps = heaps.As<Span>() + heap;
    heap += list[i].heap_count;
  }
  Bytes out;
  for (size_t i = 0; i < steps; i++) {
    if (!RunStep(plan, kProgramWords + count * kColumnPlan + i * kStepPlan, list, count, out)) return nullptr;
  }
  const size_t size = out.size();
  words[0] = 1;
  words[1] = static_cast<double>(size);
  return HandOver(env, out.Release(), size);
}

}  // namespace serving
