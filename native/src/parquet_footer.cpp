#include "parquet_footer.h"

#include <cstring>
#include <initializer_list>

namespace serving {
namespace {

// Fields of LogicalType, and the numbers of ConvertedType that say the same.
constexpr int kLogicalText = 1;
constexpr int kLogicalDate = 6;
constexpr int kLogicalInteger = 10;
constexpr int kConvertedText = 0;
constexpr int kConvertedDate = 6;
constexpr int kConvertedUint8 = 11;
constexpr int kConvertedInt8 = 15;

constexpr uint64_t kOptional = 1;
constexpr size_t kColumnBytes = 192;
constexpr size_t kFileBytes = 256;

Span Text(const char* text) { return {reinterpret_cast<const uint8_t*>(text), std::strlen(text)}; }

// Writes the fields of one struct in the order of their ids, into memory that has room for them.
class ThriftStruct {
 public:
  explicit ThriftStruct(Bytes& out) : out_(out) {}
  ~ThriftStruct() { out_.Push(uint8_t{0}); }
  ThriftStruct(const ThriftStruct&) = delete;
  ThriftStruct& operator=(const ThriftStruct&) = delete;

  void Flag(int id, bool value) { Start(id, value ? 1 : 2); }
  void Byte(int id, size_t value) {
    Start(id, 3);
    out_.Push(static_cast<uint8_t>(value));
  }
  void Int32(int id, uint64_t value) {
    Start(id, 5);
    PushVarint(out_, value * 2);
  }
  void Int64(int id, uint64_t value) {
    Start(id, 6);
    PushVarint(out_, value * 2);
  }
  void Text(int id, Span text) {
    Start(id, kText);
    PushText(text);
  }
  // A list of one text.
  void Texts(int id, Span text) {
    StartList(id, kText, 1);
    PushText(text);
  }
  // A list of the first `count` numbers.
  void Int32s(int id, std::initializer_list<uint64_t> values, size_t count) {
    StartList(id, 5, count);
    for (size_t i = 0; i < count; i++) PushVarint(out_, values.begin()[i] * 2);
  }
  // The struct is written next.
  Bytes& Struct(int id) {
    Start(id, kStruct);
    return out_;
  }
  // The structs are written next.
  Bytes& Structs(int id, size_t count) {
    StartList(id, kStruct, count);
    return out_;
  }

 private:
  static constexpr int kText = 8;
  static constexpr int kStruct = 12;

  void Start(int id, int type) {
    out_.Push(static_cast<uint8_t>((id - last_) << 4 | type));
    last_ = id;
  }
  void StartList(int id, int type, size_t count) {
    Start(id, 9);
    out_.Push(static_cast<uint8_t>((count < 15 ? count : 15) << 4 | static_cast<size_t>(type)));
    if (count >= 15) PushVarint(out_, count);
  }
  void PushText(Span text) {
    PushVarint(out_, text.size);
    out_.Append(text.data, text.size);
  }

  Bytes& out_;
  int last_ = 0;
};

// Returns the number in the enum Type.
uint64_t PhysicalOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBool:
      return 0;
    case Dtype::kFloat32:
      return 4;
    case Dtype::kFloat64:
      return 5;
    case Dtype::kStr:
      return 6;
    default:
      return ItemSize(dtype) == 8 ? 2 : 1;
  }
}

bool IsSigned(Dtype dtype) { return dtype < Dtype::kUint8; }

// Returns the number in the enum ConvertedType; -1 for none.
int ConvertedOf(const FooterColumn& column) {
  if (column.logical == kLogicalText) return kConvertedText;
  if (column.logical == kLogicalDate) return kConvertedDate;
  if (column.logical != kLogicalInteger) return -1;
  const int code = static_cast<int>(column.dtype);
  return IsSigned(column.dtype) ? kConvertedInt8 + code - static_cast<int>(Dtype::kInt8)
                                : kConvertedUint8 + code - static_cast<int>(Dtype::kUint8);
}

void WriteLogical(Bytes& out, const FooterColumn& column) {
  ThriftStruct logical(out);
  ThriftStruct type(logical.Struct(column.logical));
  if (column.logical == kLogicalInteger) {
    type.Byte(1, ItemSize(column.dtype) * 8);
    type.Flag(2, IsSigned(column.dtype));
  } else if (column.unit != 0) {
    type.Flag(1, column.is_utc);
    ThriftStruct unit(type.Struct(2));
    ThriftStruct empty(unit.Struct(column.unit));
  }
}

// SchemaElement.
void WriteElement(Bytes& out, const FooterColumn& column) {
  ThriftStruct element(out);
  element.Int32(1, PhysicalOf(column.dtype));
  element.Int32(3, kOptional);
  element.Text(4, column.name);
  const int converted = ConvertedOf(column);
  if (converted != -1) element.Int32(6, static_cast<uint64_t>(converted));
  if (column.logical != 0) WriteLogical(element.Struct(10), column);
}

// ColumnChunk, whose pages start at `start`.
void WriteChunk(Bytes& out, const Footer& footer, const FooterColumn& column, size_t start) {
  const WrittenPages& pages = column.pages;
  const bool has_dictionary = pages.dictionary != SIZE_MAX;
  ThriftStruct chunk(out);
  chunk.Int64(2, start);
  ThriftStruct meta(chunk.Struct(3));
  meta.Int32(1, PhysicalOf(column.dtype));
  meta.Int32s(2, {kPlain, kRle, kRleDictionary}, has_dictionary ? 3 : 2);
  meta.Texts(3, column.name);
  meta.Int32(4, footer.is_snappy ? 1 : 0);
  meta.Int64(5, footer.rows);
  meta.Int64(6, pages.unpacked);
  meta.Int64(7, footer.start + pages.end - start);
  meta.Int64(9, footer.start + pages.data);
  if (has_dictionary) meta.Int64(11, footer.start + pages.dictionary);
}

void WriteGroup(Bytes& out, const Footer& footer) {
  ThriftStruct group(out);
  group.Structs(1, footer.count);
  size_t unpacked = 0;
  size_t start = footer.start;
  for (size_t i = 0; i < footer.count; i++) {
    const FooterColumn& column = footer.columns[i];
    WriteChunk(out, footer, column, start);
    unpacked += column.pages.unpacked;
    start = footer.start + column.pages.end;
  }
  group.Int64(2, unpacked);
  group.Int64(3, footer.rows);
}

}  // namespace

size_t FooterBound(const Footer& footer) {
  size_t bound = kFileBytes + footer.arrow_schema.size;
  for (size_t i = 0; i < footer.count; i++) bound += kColumnBytes + 2 * footer.columns[i].name.size;
  return bound;
}

bool WriteFooter(const Footer& footer, Bytes& out) {
  if (!out.Reserve(FooterBound(footer))) return false;
  ThriftStruct file(out);
  file.Int32(1, 1);
  file.Structs(2, footer.count + 1);
  {
    ThriftStruct root(out);
    root.Text(4, Text("root"));
    root.Int32(5, footer.count);
  }
  for (size_t i = 0; i < footer.count; i++) WriteElement(out, footer.columns[i]);
  file.Int64(3, footer.rows);
  file.Structs(4, footer.rows == 0 ? 0 : 1);
  if (footer.rows != 0) WriteGroup(out, footer);
  if (footer.arrow_schema.size != 0) {
    ThriftStruct pair(file.Structs(5, 1));
    pair.Text(1, Text("ARROW:schema"));
    pair.Text(2, footer.arrow_schema);
  }
  file.Text(6, Text("serving"));
  return true;
}

}  // namespace serving
