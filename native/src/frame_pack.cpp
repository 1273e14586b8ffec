#include "frame_pack.h"

namespace serving {
namespace {

// The result starts with these words:
//   a table:   0, rows, columns, labels?, start of the name or -1, its length, start and end of the schema
//   a failure: FrameError, offset, row or -1, start of the column's name or -1, its length; of CSV: CsvError, offset,
//   row
constexpr size_t kFrameWords = 8;
// These words follow for each column and for the labels, and then the buffers that they point to:
//   kind, name's start, its length, data's start, its length, validity's start or -1, offsets' start or -1
constexpr size_t kColumnWords = 7;

size_t Aligned(size_t size) { return (size + 63) & ~size_t{63}; }

// Lays buffers out one after the other; copies them, too, once `To` was called.
class Packer {
 public:
  explicit Packer(size_t start) : at_(start) {}
  size_t at() const { return at_; }
  void To(uint8_t* out) { out_ = out; }

  size_t Raw(const uint8_t* bytes, size_t size) {
    const size_t start = at_;
    if (out_ != nullptr && size != 0) std::memcpy(out_ + start, bytes, size);
    at_ += Aligned(size);
    return start;
  }

  // Packs flags of one byte each into bits.
  size_t Bits(const uint8_t* flags, size_t count) {
    const size_t start = at_;
    const size_t size = (count + 7) / 8;
    if (out_ != nullptr) {
      std::memset(out_ + start, 0, size);
      for (size_t i = 0; i < count; i++) out_[start + i / 8] |= static_cast<uint8_t>(flags[i] << (i % 8));
    }
    at_ += Aligned(size);
    return start;
  }

  size_t Zeros(size_t size) {
    const size_t start = at_;
    if (out_ != nullptr) std::memset(out_ + start, 0, size);
    at_ += Aligned(size);
    return start;
  }

 private:
  uint8_t* out_ = nullptr;
  size_t at_;
};

void Pack(Packer& packer, const ColumnBuilder& builder, const Bytes* name, double* words) {
  const size_t rows = builder.length();
  // A column without any value is float64, the type of numpy's missing value.
  const ColumnKind kind = builder.kind() == ColumnKind::kNull ? ColumnKind::kFloat64 : builder.kind();
  words[0] = static_cast<double>(kind);
  words[2] = name == nullptr ? 0 : static_cast<double>(name->size());
  words[1] = name == nullptr ? 0 : static_cast<double>(packer.Raw(name->data(), name->size()));
  words[5] = builder.has_null() ? static_cast<double>(packer.Bits(builder.valid().data(), rows)) : -1;
  words[6] = -1;
  switch (builder.kind()) {
    case ColumnKind::kBool:
      words[4] = static_cast<double>((rows + 7) / 8);
      words[3] = static_cast<double>(packer.Bits(builder.cells().data(), rows));
      break;
    case ColumnKind::kText:
    case ColumnKind::kJson:
      words[6] = static_cast<double>(packer.Raw(builder.offsets().data(), builder.offsets().size()));
      words[4] = static_cast<double>(builder.text().size());
      words[3] = static_cast<double>(packer.Raw(builder.text().data(), builder.text().size()));
      break;
    case ColumnKind::kNull:
      words[4] = static_cast<double>(rows * 8);
      words[3] = static_cast<double>(packer.Zeros(rows * 8));
      break;
    default:
      words[4] = static_cast<double>(builder.cells().size());
      words[3] = static_cast<double>(packer.Raw(builder.cells().data(), builder.cells().size()));
  }
}

size_t PackFailure(Packer packer, const FrameParser& parser, double* words) {
  words[0] = static_cast<double>(parser.error());
  words[1] = static_cast<double>(parser.error_offset());
  words[2] = static_cast<double>(parser.error_row());
  words[3] = -1;
  if (parser.error_column() >= 0) {
    const Bytes& name = parser.column(static_cast<size_t>(parser.error_column())).name;
    words[3] = static_cast<double>(packer.Raw(name.data(), name.size()));
    words[4] = static_cast<double>(name.size());
  }
  return packer.at();
}

size_t PackTable(Packer packer, const FrameParser& parser, double* words) {
  if (parser.error() != FrameError::kNone) return PackFailure(packer, parser, words);
  const ColumnBuilder* const labels = parser.labels();
  words[0] = 0;
  words[1] = static_cast<double>(parser.rows());
  words[2] = static_cast<double>(parser.columns());
  words[3] = labels != nullptr && parser.rows() > 0;
  words[4] = parser.has_name() ? static_cast<double>(packer.Raw(parser.name().data(), parser.name().size())) : -1;
  words[5] = static_cast<double>(parser.name().size());
  words[6] = static_cast<double>(parser.schema_start());
  words[7] = static_cast<double>(parser.schema_end());
  double* column = words + kFrameWords;
  for (size_t i = 0; i < parser.columns(); i++, column += kColumnWords) {
    Pack(packer, parser.column(i).builder, &parser.column(i).name, column);
  }
  if (words[3] != 0) Pack(packer, *labels, nullptr, column);
  return packer.at();
}

// The names are not packed: they are in the header of the CSV text, which the caller has parsed.
size_t PackTable(Packer packer, const CsvParser& parser, double* words) {
  if (parser.error() != CsvError::kNone) {
    words[0] = static_cast<double>(parser.error());
    words[1] = static_cast<double>(parser.error_offset());
    words[2] = static_cast<double>(parser.rows());
    return packer.at();
  }
  for (size_t i = 0; i < kFrameWords; i++) words[i] = i < 4 ? 0 : -1;
  words[1] = static_cast<double>(parser.rows());
  words[2] = static_cast<double>(parser.columns());
  double* column = words + kFrameWords;
  for (size_t i = 0; i < parser.columns(); i++, column += kColumnWords) {
    Pack(packer, parser.column(i), nullptr, column);
    if (parser.is_unsigned(i)) column[0] = static_cast<double>(Dtype::kUint64);
  }
  return packer.at();
}

template <class Parser>
Packed PackParsed(const Parser& parser) {
  const size_t count = kFrameWords + kColumnWords * (parser.columns() + 1);
  Bytes words;
  if (!words.Reserve(count * 8)) return {};
  std::memset(words.data(), 0, count * 8);
  Packer packer(Aligned(count * 8));
  // The first call computes the size, the second one copies.
  const size_t size = PackTable(packer, parser, words.As<double>());
  uint8_t* const out = static_cast<uint8_t*>(std::malloc(size));
  if (out == nullptr) return {};
  packer.To(out);
  PackTable(packer, parser, words.As<double>());
  std::memcpy(out, words.data(), count * 8);
  return {out, size};
}

}  // namespace

Packed PackFrame(const FrameParser& parser) { return PackParsed(parser); }

Packed PackCsv(const CsvParser& parser) { return PackParsed(parser); }

}  // namespace serving
