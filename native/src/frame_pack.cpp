#include "frame_pack.h"

namespace serving {
namespace {

// The result starts with a TableWord or a FailureWord. A ColumnWord follows for each column and for the labels, and
// then the buffers that they point to.
constexpr size_t kHead = TableWord::kWords;
static_assert(FailureWord::kWords <= kHead, "a failure fits where a table would");

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
  words[ColumnWord::kKind] = static_cast<double>(kind);
  words[ColumnWord::kNameLength] = name == nullptr ? 0 : static_cast<double>(name->size());
  words[ColumnWord::kNameAt] = name == nullptr ? 0 : static_cast<double>(packer.Raw(name->data(), name->size()));
  words[ColumnWord::kValidityAt] =
      builder.has_null() ? static_cast<double>(packer.Bits(builder.valid().data(), rows)) : -1;
  words[ColumnWord::kOffsetsAt] = -1;
  switch (builder.kind()) {
    case ColumnKind::kBool:
      words[ColumnWord::kDataLength] = static_cast<double>((rows + 7) / 8);
      words[ColumnWord::kDataAt] = static_cast<double>(packer.Bits(builder.cells().data(), rows));
      break;
    case ColumnKind::kText:
    case ColumnKind::kJson:
      words[ColumnWord::kOffsetsAt] =
          static_cast<double>(packer.Raw(builder.offsets().data(), builder.offsets().size()));
      words[ColumnWord::kDataLength] = static_cast<double>(builder.text().size());
      words[ColumnWord::kDataAt] = static_cast<double>(packer.Raw(builder.text().data(), builder.text().size()));
      break;
    case ColumnKind::kNull:
      words[ColumnWord::kDataLength] = static_cast<double>(rows * 8);
      words[ColumnWord::kDataAt] = static_cast<double>(packer.Zeros(rows * 8));
      break;
    default:
      words[ColumnWord::kDataLength] = static_cast<double>(builder.cells().size());
      words[ColumnWord::kDataAt] = static_cast<double>(packer.Raw(builder.cells().data(), builder.cells().size()));
  }
}

size_t PackFailure(Packer packer, const FrameParser& parser, double* words) {
  words[FailureWord::kFailure] = static_cast<double>(parser.error());
  words[FailureWord::kOffset] = static_cast<double>(parser.error_offset());
  words[FailureWord::kRow] = static_cast<double>(parser.error_row());
  words[FailureWord::kColumnAt] = -1;
  if (parser.error_column() >= 0) {
    const Bytes& name = parser.column(static_cast<size_t>(parser.error_column())).name;
    words[FailureWord::kColumnAt] = static_cast<double>(packer.Raw(name.data(), name.size()));
    words[FailureWord::kColumnLength] = static_cast<double>(name.size());
  }
  return packer.at();
}

size_t PackTable(Packer packer, const FrameParser& parser, double* words) {
  if (parser.error() != FrameError::kNone) return PackFailure(packer, parser, words);
  const ColumnBuilder* const labels = parser.labels();
  words[TableWord::kFailure] = 0;
  words[TableWord::kRows] = static_cast<double>(parser.rows());
  words[TableWord::kColumns] = static_cast<double>(parser.columns());
  words[TableWord::kHasLabels] = labels != nullptr && parser.rows() > 0;
  words[TableWord::kNameAt] =
      parser.has_name() ? static_cast<double>(packer.Raw(parser.name().data(), parser.name().size())) : -1;
  words[TableWord::kNameLength] = static_cast<double>(parser.name().size());
  words[TableWord::kSchemaAt] = static_cast<double>(parser.schema_start());
  words[TableWord::kSchemaEnd] = static_cast<double>(parser.schema_end());
  double* column = words + kHead;
  for (size_t i = 0; i < parser.columns(); i++, column += ColumnWord::kWords) {
    Pack(packer, parser.column(i).builder, &parser.column(i).name, column);
  }
  if (words[TableWord::kHasLabels] != 0) Pack(packer, *labels, nullptr, column);
  return packer.at();
}

// The names are not packed: they are in the header of the CSV text, which the caller has parsed.
size_t PackTable(Packer packer, const CsvParser& parser, double* words) {
  if (parser.error() != CsvError::kNone) {
    words[FailureWord::kFailure] = static_cast<double>(parser.error());
    words[FailureWord::kOffset] = static_cast<double>(parser.error_offset());
    words[FailureWord::kRow] = static_cast<double>(parser.rows());
    return packer.at();
  }
  words[TableWord::kRows] = static_cast<double>(parser.rows());
  words[TableWord::kColumns] = static_cast<double>(parser.columns());
  words[TableWord::kNameAt] = -1;
  double* column = words + kHead;
  for (size_t i = 0; i < parser.columns(); i++, column += ColumnWord::kWords) {
    Pack(packer, parser.column(i), nullptr, column);
    if (parser.is_unsigned(i)) column[ColumnWord::kKind] = static_cast<double>(Dtype::kUint64);
  }
  return packer.at();
}

template <class Parser>
Packed PackParsed(const Parser& parser) {
  const size_t count = kHead + ColumnWord::kWords * (parser.columns() + 1);
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
