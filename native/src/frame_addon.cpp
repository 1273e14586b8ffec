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
  plan.Next(LimitWord::kWords);
  to.limits.max_columns = plan.Number(LimitWord::kColumns, kMaxNumber);
  to.limits.max_cells = plan.Number(LimitWord::kCells, kMaxNumber);
  size_t word = LimitWord::kSecret0;
  for (uint64_t& seed : to.seeds) {
    const uint64_t high = plan.Number(word++, UINT32_MAX);
    seed = high << 32 | plan.Number(word++, UINT32_MAX);
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

// Reads column `at` of a list of `count`; those in it come behind it.
bool ReadColumn(Plan& plan, EncodeColumn* list, size_t at, size_t count, Bytes& heaps) {
  EncodeColumn& column = list[at];
  using Word = EncodeColumnWord;
  plan.Next(Word::kWords);
  column.dtype = plan.CodeUpTo(Word::kKind, Dtype::kStruct);
  column.data = plan.RangeOrNone(Word::kData);
  column.validity = plan.RangeOrNone(Word::kValidity);
  column.offsets = plan.RangeOrNone(Word::kOffsets);
  const size_t first = plan.Number(Word::kFirstHeap, UINT32_MAX);
  column.heap_count = plan.Number(Word::kHeaps, UINT32_MAX - first);
  column.key = plan.Text(Word::kKeyAt);
  for (size_t i = 0; i < column.heap_count && plan.ok(); i++) {
    if (!heaps.Push(plan.PartAt(first + i))) return false;
  }
  const size_t child = plan.Number(Word::kFirstChild, count);
  column.child_count = plan.Number(Word::kChildren, count - child);
  column.children = list + child;
  const bool is_nested = column.dtype > Dtype::kJson;
  if (is_nested ? child <= at : column.data.data == nullptr) return false;
  return plan.ok();
}

bool RunStep(Plan& plan, EncodeColumn* columns, size_t count, size_t rows, Bytes& out) {
  using Word = StepWord;
  plan.Next(Word::kWords);
  const StepKind kind = plan.CodeUpTo(Word::kKind, StepKind::kCsv);
  const Span text = plan.Text(Word::kTextAt);
  if (kind == StepKind::kText) return plan.ok() && out.Append(text.data, text.size);
  EncodeRows step{rows, plan.CodeUpTo(Word::kLabelMode, LabelMode::kText), nullptr, text, {}, {}, nullptr, 0, false};
  const size_t labels = plan.Number(Word::kLabels, count);
  if (labels > 0) step.labels = columns + labels - 1;
  step.after = plan.Text(Word::kAfterAt);
  step.close = plan.Text(Word::kCloseAt);
  const size_t first = plan.Number(Word::kFirstColumn, count);
  step.columns = columns + first;
  step.count = plan.Number(Word::kColumns, count - first);
  step.keys = plan.Flag(Word::kHasKeys);
  if (!plan.ok() || (labels > 0 && !HoldsRows(columns[labels - 1], rows))) return false;
  for (size_t i = 0; i < step.count; i++) {
    if (!HoldsRows(columns[first + i], rows)) return false;
  }
  return kind == StepKind::kRows ? EncodeRowsTo(out, step) : EncodeCsvTo(out, step.columns, step.count, rows);
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
  plan.Next(EncodeWord::kWords);
  const size_t count = plan.Number(EncodeWord::kColumns, words.length);
  const size_t steps = plan.Number(EncodeWord::kSteps, words.length);
  const size_t rows = plan.Number(EncodeWord::kRows, SIZE_MAX / 128);
  Bytes columns;
  Bytes heaps;
  if (!columns.Reserve((count + 1) * sizeof(EncodeColumn))) return nullptr;
  EncodeColumn* const list = columns.As<EncodeColumn>();
  for (size_t i = 0; i < count; i++) {
    if (!ReadColumn(plan, list, i, count, heaps)) return Misused(env);
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
