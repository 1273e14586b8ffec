#include "parquet_addon.h"

#include <memory>
#include <new>
#include <utility>

#include "async_job.h"
#include "parquet_footer.h"
#include "parquet_read.h"
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

// Reads a file's columns.
class ReadJob final : public Job {
 public:
  ~ReadJob() override { std::free(memory_); }

  // Reads and copies the plan. False: it contradicts itself.
  bool Read(Plan plan) {
    plan.Next(ParquetWord::kWords);
    rows_ = plan.Number(ParquetWord::kRows, kMaxRows);
    work_ = plan.Number(ParquetWord::kTextBytes, kMaxBytes);
    count_ = plan.Number(ParquetWord::kColumns, UINT16_MAX);
    size_t left = plan.Number(ParquetWord::kPages, UINT32_MAX);
    columns_.reset(new (std::nothrow) ColumnPages[count_ + 1]);
    pages_.reset(new (std::nothrow) ParquetPage[left + 1]);
    if (columns_ == nullptr || pages_ == nullptr) return false;
    size_t total = 0;
    for (size_t i = 0; i < count_; i++) {
      ParquetColumn& column = columns_[i].column;
      plan.Next(ParquetColumnWord::kWords);
      column.dtype = plan.CodeUpTo(ParquetColumnWord::kKind, Dtype::kStr);
      column.is_optional = plan.Flag(ParquetColumnWord::kIsOptional);
      columns_[i].pages = plan.Number(ParquetColumnWord::kPages, left);
      if (column.dtype == Dtype::kFloat16) return false;
      left -= columns_[i].pages;
      total += columns_[i].pages;
    }
    for (size_t i = 0; i < total && plan.ok(); i++) pages_[i] = ReadPage(plan);
    return plan.ok();
  }

  void Run() override {
    if (!Place()) return;
    ParquetDecoder decoder(rows_, work_);
    const ParquetPage* page = pages_.get();
    for (size_t i = 0; i < count_; i++) {
      if (!decoder.Read(columns_[i].column, page, columns_[i].pages)) return;
      page += columns_[i].pages;
    }
    done_ = true;
  }

  napi_value Result(napi_env env) override {
    if (!done_) return nullptr;
    double* const words = reinterpret_cast<double*>(memory_);
    for (size_t i = 0; i < count_; i++) {
      double* const own = words + i * ReadColumnWord::kWords;
      if (columns_[i].column.nulls == 0) own[ReadColumnWord::kValidityAt] = -1;
      own[ReadColumnWord::kDataLength] = static_cast<double>(BytesOf(columns_[i].column));
    }
    napi_value list;
    const napi_value whole = HandOver(env, std::exchange(memory_, nullptr), size_);
    if (whole == nullptr || napi_create_array(env, &list) != napi_ok ||
        napi_set_element(env, list, 0, whole) != napi_ok) {
      return nullptr;
    }
    uint32_t place = 1;
    for (size_t i = 0; i < count_; i++) {
      Bytes& text = columns_[i].column.text;
      if (columns_[i].column.dtype != Dtype::kStr) continue;
      const size_t size = text.size();
      const napi_value bytes = text.Reserve(1) ? HandOver(env, text.Release(), size) : nullptr;
      if (bytes == nullptr || napi_set_element(env, list, place++, bytes) != napi_ok) return nullptr;
    }
    return list;
  }

 private:
  struct ColumnPages {
    ParquetColumn column;
    size_t pages;
  };

  static ParquetPage ReadPage(Plan& plan) {
    plan.Next(PageWord::kWords);
    ParquetPage page;
    page.is_dictionary = plan.Flag(PageWord::kIsDictionary);
    page.encoding = static_cast<int>(plan.Number(PageWord::kEncoding, 255));
    page.values = plan.Number(PageWord::kValues, kMaxRows);
    page.is_snappy = plan.Flag(PageWord::kIsSnappy);
    const Span part = plan.Part(PageWord::kPart);
    const size_t start = plan.Number(PageWord::kAt, part.size);
    page.bytes = {part.data + start, plan.Number(PageWord::kBytes, part.size - start)};
    page.unpacked = plan.Number(PageWord::kUnpackedBytes, kMaxBytes);
    page.levels = plan.NumberOrNone(PageWord::kLevelBytes, kMaxBytes);
    page.starts_chunk = plan.Flag(PageWord::kStartsChunk);
    return page;
  }

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
        ParquetColumn& column = columns_[i].column;
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

  size_t rows_ = 0;
  size_t work_ = 0;
  size_t count_ = 0;
  std::unique_ptr<ColumnPages[]> columns_;
  std::unique_ptr<ParquetPage[]> pages_;
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

bool ReadPlan(napi_env env, const napi_value* args, ReadJob& job) {
  View words;
  return GetView(env, args[0], napi_float64_array, words) && job.Read(Plan(env, words, args[1], {nullptr, 0}));
}

}  // namespace

napi_value ReadParquet(napi_env env, napi_callback_info info) {
  napi_value args[2];
  ReadJob job;
  if (!GetArguments(env, info, args) || !ReadPlan(env, args, job)) return Misused(env);
  job.Run();
  return job.Result(env);
}

napi_value ReadParquetAsync(napi_env env, napi_callback_info info) {
  return StartJob<ReadJob, 2>(env, info,
                              [env](const napi_value* args, ReadJob& to) { return ReadPlan(env, args, to); });
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
