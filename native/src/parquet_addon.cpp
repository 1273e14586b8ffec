#include "parquet_addon.h"

#include <memory>
#include <new>
#include <utility>

#include "async_job.h"
#include "parquet_file.h"
#include "parquet_footer.h"
#include "parquet_write.h"
#include "plan.h"

namespace serving {
namespace {

constexpr size_t kMaxRows = INT32_MAX;
constexpr size_t kMaxBytes = INT32_MAX;
constexpr size_t kMaxLogical = 10;
constexpr size_t kMaxUnit = 3;

constexpr char kMagic[] = {'P', 'A', 'R', '1'};

size_t Aligned(size_t size) { return (size + 63) & ~size_t{63}; }

// What reading headers, and unpacking by JavaScript, may cost the event loop, whatever a footer says.
constexpr size_t kMaxLoopWork = 1 << 22;

// Calls a function of JavaScript. It gets numbers, and returns the unpacked bytes or undefined.
class ScriptUnpacker final : public ParquetUnpacker {
 public:
  ScriptUnpacker(napi_env env, napi_value unpack) : env_(env), unpack_(unpack) {}

  bool Unpack(size_t codec, size_t start, size_t end, size_t size, Span& out) override {
    napi_value receiver, bytes;
    napi_value args[4];
    napi_value* next = args;
    for (const size_t number : {codec, start, end, size}) {
      if (napi_create_double(env_, static_cast<double>(number), next++) != napi_ok) return false;
    }
    if (napi_get_undefined(env_, &receiver) != napi_ok) return false;
    if (napi_call_function(env_, receiver, unpack_, 4, args, &bytes) == napi_ok) {
      return GetSpan(env_, bytes, napi_uint8_array, out);
    }
    ClearException(env_);
    return false;
  }

 private:
  const napi_env env_;
  const napi_value unpack_;
};

// Reads a file's columns.
class ReadJob final : public Job {
 public:
  ~ReadJob() override { std::free(memory_); }

  // (file: Uint8Array, words: Float64Array of ReadFooter, kinds: Uint8Array). Copies the numbers. Returns false when
  // they contradict each other.
  bool Read(napi_env env, const napi_value* args) {
    View words;
    Span kinds;
    if (!GetSpan(env, args[0], napi_uint8_array, file_) || !GetView(env, args[1], napi_float64_array, words) ||
        !GetSpan(env, args[2], napi_uint8_array, kinds)) {
      return false;
    }
    Plan plan(env, words, nullptr, {nullptr, 0});
    plan.Next(ParquetWord::kWords);
    rows_ = plan.Number(ParquetWord::kRows, kMaxRows);
    count_ = plan.Number(ParquetWord::kColumns, UINT16_MAX);
    groups_ = plan.Number(ParquetWord::kGroups, words.length);
    work_.bytes = plan.Number(ParquetWord::kMaxBytes, kMaxBytes);
    columns_.reset(new (std::nothrow) ParquetColumn[count_ + 1]);
    // Each takes words of the plan.
    if (kinds.size != count_ || groups_ > words.length / (count_ + 1)) return false;
    chunks_.reset(new (std::nothrow) ParquetChunk[groups_ * count_ + 1]);
    if (columns_ == nullptr || chunks_ == nullptr) return false;
    for (size_t i = 0; i < count_; i++) {
      plan.Next(ParquetLeafWord::kWords);
      if (kinds.data[i] > static_cast<uint8_t>(Dtype::kStr)) return false;
      columns_[i].dtype = static_cast<Dtype>(kinds.data[i]);
      columns_[i].is_optional = plan.Flag(ParquetLeafWord::kIsOptional);
      if (columns_[i].dtype == Dtype::kFloat16) return false;
    }
    for (size_t i = 0; i < groups_ * count_; i++) {
      plan.Next(ParquetChunkWord::kWords);
      const size_t end = plan.Number(ParquetChunkWord::kEnd, file_.size);
      chunks_[i] = {plan.Number(ParquetChunkWord::kCodec, INT32_MAX), plan.Number(ParquetChunkWord::kValues, rows_),
                    plan.Number(ParquetChunkWord::kStart, end), end};
    }
    return plan.ok();
  }

  // Where what the add-on cannot unpack is unpacked; not on other threads.
  void set_unpacker(ParquetUnpacker* unpacker) { unpacker_ = unpacker; }

  void Run() override {
    if (!Place()) return;
    ParquetDecoder decoder(rows_, work_.bytes);
    for (size_t i = 0; i < count_; i++) {
      decoder.Begin(columns_[i]);
      for (size_t group = 0; group < groups_; group++) {
        if (!ReadChunk(file_, chunks_[group * count_ + i], work_, unpacker_, decoder)) return;
      }
      if (!decoder.Finish()) return;
    }
    done_ = true;
  }

  napi_value Result(napi_env env) override {
    if (!done_) return nullptr;
    double* const words = reinterpret_cast<double*>(memory_);
    for (size_t i = 0; i < count_; i++) {
      double* const own = words + i * ReadColumnWord::kWords;
      if (columns_[i].nulls == 0) own[ReadColumnWord::kValidityAt] = -1;
      own[ReadColumnWord::kDataLength] = static_cast<double>(BytesOf(columns_[i]));
    }
    napi_value list;
    const napi_value whole = HandOver(env, std::exchange(memory_, nullptr), size_);
    if (whole == nullptr || napi_create_array(env, &list) != napi_ok ||
        napi_set_element(env, list, 0, whole) != napi_ok) {
      return nullptr;
    }
    uint32_t place = 1;
    for (size_t i = 0; i < count_; i++) {
      Bytes& text = columns_[i].text;
      if (columns_[i].dtype != Dtype::kStr) continue;
      const size_t size = text.size();
      const napi_value bytes = text.Reserve(1) ? HandOver(env, text.Release(), size) : nullptr;
      if (bytes == nullptr || napi_set_element(env, list, place++, bytes) != napi_ok) return nullptr;
    }
    return list;
  }

 private:
  // Returns the bytes of a column's elements in their own width; in memory, narrow integers are 32 bits wide at first.
  size_t BytesOf(const ParquetColumn& column) const {
    if (column.dtype == Dtype::kStr) return column.text.size();
    return column.dtype == Dtype::kBool ? (rows_ + 7) / 8 : rows_ * ItemSize(column.dtype);
  }

  // Allocates the memory of all columns, and divides it among them.
  bool Place() {
    const size_t bits = Aligned((rows_ + 7) / 8);
    for (int pass = 0; pass < 2; pass++) {
      size_t at = Aligned(count_ * ReadColumnWord::kWords * sizeof(double));
      for (size_t i = 0; i < count_; i++) {
        ParquetColumn& column = columns_[i];
        const bool is_text = column.dtype == Dtype::kStr;
        const size_t size = PhysicalSize(column.dtype);
        const size_t values = column.dtype == Dtype::kBool ? bits : Aligned(rows_ * size);
        const size_t offsets = is_text ? Aligned((rows_ + 1) * 4) : 0;
        if (pass == 1) {
          double* const words = reinterpret_cast<double*>(memory_) + i * ReadColumnWord::kWords;
          column.validity = memory_ + at;
          column.data = memory_ + at + bits;
          column.offsets = is_text ? reinterpret_cast<int32_t*>(memory_ + at + bits) : nullptr;
          std::memset(column.validity, 0, bits);
          if (column.dtype == Dtype::kBool) std::memset(column.data, 0, bits);
          if (is_text) column.offsets[0] = 0;
          words[ReadColumnWord::kDataAt] = is_text ? 0 : static_cast<double>(at + bits);
          words[ReadColumnWord::kValidityAt] = static_cast<double>(at);
          words[ReadColumnWord::kOffsetsAt] = is_text ? static_cast<double>(at + bits) : -1;
        }
        at += bits + values + offsets;
      }
      if (pass == 1) continue;
      size_ = at;
      memory_ = static_cast<uint8_t*>(std::malloc(at + 1));
      if (memory_ == nullptr) return false;
    }
    return true;
  }

  Span file_{nullptr, 0};
  size_t rows_ = 0;
  size_t count_ = 0;
  size_t groups_ = 0;
  ParquetWork work_{kMaxLoopWork, 0};
  std::unique_ptr<ParquetColumn[]> columns_;
  std::unique_ptr<ParquetChunk[]> chunks_;
  ParquetUnpacker* unpacker_ = nullptr;
  uint8_t* memory_ = nullptr;
  size_t size_ = 0;
  bool done_ = false;
};

// Writes a file, for whose bound there is room. Returns its bytes; -1 for contradicting offsets, and without memory.
double WriteFile(const Footer& footer, const EncodeColumn* columns, FooterColumn* described, uint8_t* out) {
  std::memcpy(out, kMagic, sizeof kMagic);
  uint8_t* end = out + sizeof kMagic;
  ParquetWriter writer(end, footer.is_snappy);
  for (size_t i = 0; i < footer.count && footer.rows != 0; i++) {
    if (!writer.Add(columns[i], footer.rows, described[i].pages)) return -1;
  }
  if (footer.rows != 0) end += described[footer.count - 1].pages.end;
  Bytes bytes;
  if (!WriteFooter(footer, bytes)) return -1;
  std::memcpy(end, bytes.data(), bytes.size());
  end += bytes.size();
  const uint32_t length = static_cast<uint32_t>(bytes.size());
  for (unsigned i = 0; i < 4; i++) *end++ = static_cast<uint8_t>(length >> (8 * i));
  std::memcpy(end, kMagic, sizeof kMagic);
  return static_cast<double>(end + sizeof kMagic - out);
}

}  // namespace

napi_value ReadParquetFooter(napi_env env, napi_callback_info info) {
  napi_value args[1];
  Span file;
  if (!GetArguments(env, info, args) || !GetSpan(env, args[0], napi_uint8_array, file)) return Misused(env);
  Bytes words;
  if (!ReadFooter(file, words)) return nullptr;
  napi_value array;
  const size_t size = words.size();
  const napi_value buffer = HandOver(env, words.Release(), size);
  const bool done = buffer != nullptr && napi_create_typedarray(env, napi_float64_array, size / sizeof(double), buffer,
                                                                0, &array) == napi_ok;
  return done ? array : nullptr;
}

napi_value ReadParquet(napi_env env, napi_callback_info info) {
  napi_value args[4];
  ReadJob job;
  if (!GetArguments(env, info, args) || !job.Read(env, args)) return Misused(env);
  ScriptUnpacker unpacker(env, args[3]);
  job.set_unpacker(&unpacker);
  job.Run();
  return job.Result(env);
}

napi_value ReadParquetAsync(napi_env env, napi_callback_info info) {
  return StartJob<ReadJob, 3>(env, info, [env](const napi_value* args, ReadJob& to) { return to.Read(env, args); });
}

napi_value WriteParquet(napi_env env, napi_callback_info info) {
  napi_value args[4];
  View program;
  View texts;
  View out;
  if (!GetArguments(env, info, args) || !GetView(env, args[0], napi_float64_array, program) ||
      !GetView(env, args[2], napi_uint8_array, texts) || !GetView(env, args[3], napi_uint8_array, out)) {
    return Misused(env);
  }
  Plan plan(env, program, args[1], {texts.data, texts.length});
  Footer footer{};
  footer.start = sizeof kMagic;
  plan.Next(FileWord::kWords);
  footer.rows = plan.Number(FileWord::kRows, kMaxRows);
  footer.count = plan.Number(FileWord::kColumns, UINT16_MAX);
  footer.is_snappy = plan.Flag(FileWord::kIsSnappy);
  footer.arrow_schema = plan.Text(FileWord::kSchemaAt);
  const std::unique_ptr<EncodeColumn[]> columns(new (std::nothrow) EncodeColumn[footer.count + 1]);
  const std::unique_ptr<FooterColumn[]> described(new (std::nothrow) FooterColumn[footer.count + 1]);
  if (columns == nullptr || described == nullptr) return Misused(env);
  footer.columns = described.get();
  size_t bound = 2 * sizeof kMagic + sizeof(uint32_t);
  for (size_t i = 0; i < footer.count; i++) {
    EncodeColumn& column = columns[i];
    plan.Next(FileColumnWord::kWords);
    column.dtype = plan.CodeUpTo(FileColumnWord::kKind, Dtype::kStr);
    column.data = plan.Part(FileColumnWord::kData);
    column.validity = plan.PartOrNone(FileColumnWord::kValidity);
    column.offsets = plan.PartOrNone(FileColumnWord::kOffsets);
    const Span name = plan.Text(FileColumnWord::kNameAt);
    const int logical = static_cast<int>(plan.Number(FileColumnWord::kLogical, kMaxLogical));
    const int unit = static_cast<int>(plan.Number(FileColumnWord::kUnit, kMaxUnit));
    described[i] = {column.dtype, name, logical, unit, plan.Flag(FileColumnWord::kIsUtc), {}};
    const bool lacks_offsets = column.dtype == Dtype::kStr && column.offsets.data == nullptr;
    if (!plan.ok() || column.dtype == Dtype::kFloat16 || lacks_offsets || !HoldsRows(column, footer.rows)) {
      return Misused(env);
    }
    bound += ParquetWriter::Bound(column, footer.rows);
  }
  if (!plan.ok()) return Misused(env);
  bound += FooterBound(footer);
  double answer = static_cast<double>(bound);
  if (bound <= out.length) answer = WriteFile(footer, columns.get(), described.get(), out.data);
  napi_value result;
  return napi_create_double(env, answer, &result) == napi_ok ? result : nullptr;
}

}  // namespace serving
