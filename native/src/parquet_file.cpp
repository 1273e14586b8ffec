#include "parquet_file.h"

#include <algorithm>

#include "shared_numbers.h"
#include "thrift_read.h"

namespace serving {
namespace {

constexpr char kMagic[] = {'P', 'A', 'R', '1'};
constexpr size_t kTailBytes = 4 + sizeof kMagic;

// Numbers of the enums FieldRepetitionType, CompressionCodec and PageType.
constexpr int64_t kOptional = 1;
constexpr int64_t kRepeated = 2;
constexpr size_t kNoCodec = 0;
constexpr size_t kSnappyCodec = 1;
constexpr int64_t kDataPage = 0;
constexpr int64_t kDictionaryPage = 2;
constexpr int64_t kDataPageV2 = 3;

// Work of reading a page, whatever it holds, of each byte of its header, and of starting another decompressor.
constexpr size_t kPageWork = 1 << 10;
constexpr size_t kHeaderWork = 8;
constexpr size_t kUnpackWork = 1 << 14;

bool IsMagic(const uint8_t* bytes) { return std::memcmp(bytes, kMagic, sizeof kMagic) == 0; }

bool Take(size_t& left, size_t work) {
  const bool is_enough = work <= left;
  left -= is_enough ? work : left;
  return is_enough;
}

// Reads a footer into words.
class FooterReader {
 public:
  FooterReader(Span file, Span footer, Bytes& words) : file_(file), thrift_(footer), words_(words) {}

  bool Read() {
    if (!Append(ParquetWord::kWords)) return false;
    std::memset(words_.data(), 0, words_.size());
    int64_t rows = -1;
    thrift_.Struct([&](int id, int type) {
      if (id == 2) return ReadSchema(type);
      if (id == 3) return thrift_.Integer(type, rows);
      if (id == 4) return thrift_.Structs(type, [&] { ReadGroup(); });
      if (id == 5) return thrift_.Structs(type, [&] { ReadKeyValue(); });
      // Encrypted.
      if (id == 8) thrift_.Fail();
      return false;
    });
    record_ = 0;
    Set(ParquetWord::kRows, rows_);
    Set(ParquetWord::kColumns, columns_);
    Set(ParquetWord::kGroups, groups_);
    Set(ParquetWord::kUnpackedBytes, unpacked_);
    return thrift_.ok() && columns_ > 0 && rows == static_cast<int64_t>(rows_);
  }

 private:
  // Schema elements: the root, then the columns.
  bool ReadSchema(int type) {
    if (columns_ > 0) thrift_.Fail();
    const uint8_t* const start = thrift_.at();
    int64_t children = 0;
    bool is_root = true;
    const bool is_list = thrift_.Structs(type, [&] {
      if (is_root) {
        thrift_.Struct([&](int id, int own) { return id == 5 && thrift_.Integer(own, children); });
      } else {
        ReadLeaf();
      }
      is_root = false;
    });
    record_ = 0;
    SetRange(ParquetWord::kSchemaAt, {start, static_cast<size_t>(thrift_.at() - start)});
    if (children != static_cast<int64_t>(columns_)) thrift_.Fail();
    return is_list;
  }

  void ReadLeaf() {
    int64_t physical = -1;
    int64_t repetition = -1;
    int64_t children = 0;
    int64_t converted = -1;
    int logical = -1;
    Span name{file_.data, 0};
    thrift_.Struct([&](int id, int type) {
      if (id == 1) return thrift_.Integer(type, physical);
      if (id == 3) return thrift_.Integer(type, repetition);
      if (id == 4) return thrift_.Text(type, name);
      if (id == 5) return thrift_.Integer(type, children);
      if (id == 6) return thrift_.Integer(type, converted);
      return id == 10 && thrift_.Union(type, logical);
    });
    if (children > 0 || repetition == kRepeated || !Append(ParquetLeafWord::kWords)) return thrift_.Fail();
    Set(ParquetLeafWord::kType, static_cast<double>(physical));
    Set(ParquetLeafWord::kIsOptional, repetition == kOptional);
    Set(ParquetLeafWord::kConverted, static_cast<double>(converted));
    Set(ParquetLeafWord::kLogical, logical);
    SetRange(ParquetLeafWord::kNameAt, name);
    columns_++;
  }

  void ReadGroup() {
    int64_t rows = -1;
    int64_t unpacked = 0;
    size_t chunks = 0;
    bool is_even = true;
    int64_t values = -1;
    thrift_.Struct([&](int id, int type) {
      if (id == 2) return thrift_.Integer(type, unpacked);
      if (id == 3) return thrift_.Integer(type, rows);
      return id == 1 && thrift_.Structs(type, [&] {
        const int64_t own = ReadMeta();
        is_even = is_even && (chunks == 0 || own == values);
        values = own;
        chunks++;
      });
    });
    const bool is_whole = chunks == columns_ && is_even && values == rows;
    if (!is_whole || rows < 0 || rows > INT32_MAX - static_cast<int64_t>(rows_)) return thrift_.Fail();
    rows_ += static_cast<size_t>(rows);
    if (unpacked > 0) unpacked_ += static_cast<double>(unpacked);
    groups_++;
  }

  // Returns how many values the chunk has.
  int64_t ReadMeta() {
    int64_t codec = -1;
    int64_t values = -1;
    int64_t packed = -1;
    int64_t data = -1;
    int64_t dictionary = -1;
    thrift_.Struct([&](int id, int type) {
      // In another file, or encrypted.
      if (id == 1 || id == 8) thrift_.Fail();
      return id == 3 && thrift_.StructAt(type, [&](int own, int kind) {
        if (own == 4) return thrift_.Integer(kind, codec);
        if (own == 5) return thrift_.Integer(kind, values);
        if (own == 7) return thrift_.Integer(kind, packed);
        if (own == 9) return thrift_.Integer(kind, data);
        return own == 11 && thrift_.Integer(kind, dictionary);
      });
    });
    // Some writers state 0 for no dictionary.
    const int64_t start = dictionary > 0 ? std::min(data, dictionary) : data;
    const int64_t size = static_cast<int64_t>(file_.size);
    const bool lies_within = start >= 4 && start <= size && packed >= 0 && packed <= size - start;
    if (codec < 0 || values < 0 || (values > 0 && !lies_within) || !Append(ParquetChunkWord::kWords)) thrift_.Fail();
    if (!thrift_.ok()) return -1;
    Set(ParquetChunkWord::kCodec, static_cast<double>(codec));
    Set(ParquetChunkWord::kValues, static_cast<double>(values));
    Set(ParquetChunkWord::kStart, values > 0 ? static_cast<double>(start) : 0);
    Set(ParquetChunkWord::kEnd, values > 0 ? static_cast<double>(start + packed) : 0);
    return values;
  }

  // The last Arrow schema counts.
  void ReadKeyValue() {
    constexpr char kArrow[] = "ARROW:schema";
    Span key{nullptr, 0};
    Span value{nullptr, 0};
    thrift_.Struct([&](int id, int type) {
      if (id == 1) return thrift_.Text(type, key);
      return id == 2 && thrift_.Text(type, value);
    });
    if (!thrift_.ok() || value.data == nullptr || key.size != sizeof kArrow - 1) return;
    if (std::memcmp(key.data, kArrow, key.size) != 0) return;
    record_ = 0;
    SetRange(ParquetWord::kArrowAt, value);
  }

  // Adds a record, whose words are set next.
  bool Append(size_t count) {
    record_ = words_.size() / sizeof(double);
    if (!words_.Reserve(count * sizeof(double))) return false;
    words_.Advance(count * sizeof(double));
    return true;
  }
  template <class Number>
  void Set(size_t word, Number number) {
    words_.As<double>()[record_ + word] = static_cast<double>(number);
  }
  // Sets where bytes of the file start and end.
  void SetRange(size_t word, Span bytes) {
    const size_t start = static_cast<size_t>(bytes.data - file_.data);
    Set(word, start);
    Set(word + 1, start + bytes.size);
  }

  const Span file_;
  ThriftReader thrift_;
  Bytes& words_;
  size_t record_ = 0;
  size_t rows_ = 0;
  size_t columns_ = 0;
  size_t groups_ = 0;
  double unpacked_ = 0;
};

// The header of a page: numbers that it does not state are -1. `levels`: of version 2, which does not compress them.
struct PageHeader {
  int64_t type = -1;
  int64_t unpacked = -1;
  int64_t packed = -1;
  int64_t values = -1;
  int64_t encoding = -1;
  int64_t levels = 0;
  int64_t repetition = 0;
  bool is_packed = true;

  // Reads the field of the header that describes a page of this type.
  bool Describe(ThriftReader& thrift, int field, int kind) {
    if (field == 8) levels = repetition = -1;
    return thrift.StructAt(kind, [&](int id, int type) {
      if (id == 1) return thrift.Integer(type, values);
      if (id == (field == 8 ? 4 : 2)) return thrift.Integer(type, encoding);
      if (field != 8) return false;
      if (id == 5) return thrift.Integer(type, levels);
      if (id == 6) return thrift.Integer(type, repetition);
      return id == 7 && thrift.Flag(type, is_packed);
    });
  }
};

// Reads the header at the start of `bytes`. Returns its size; 0 for one that is wrong, and for other types of pages.
size_t ReadHeader(Span bytes, PageHeader& to) {
  ThriftReader thrift(bytes);
  int described = 0;
  thrift.Struct([&](int id, int type) {
    if (id == 1) return thrift.Integer(type, to.type);
    if (id == 2) return thrift.Integer(type, to.unpacked);
    if (id == 3) return thrift.Integer(type, to.packed);
    if (id != 5 && id != 7 && id != 8) return false;
    described = id;
    return to.Describe(thrift, id, type);
  });
  const int field = to.type == kDataPage ? 5 : to.type == kDictionaryPage ? 7 : to.type == kDataPageV2 ? 8 : -1;
  const size_t size = static_cast<size_t>(thrift.at() - bytes.data);
  const bool fits = described == field && to.packed >= 0 && static_cast<uint64_t>(to.packed) <= bytes.size - size &&
                    to.levels >= 0 && to.levels <= std::min(to.packed, to.unpacked) && to.repetition == 0;
  return thrift.ok() && fits && to.values >= 0 && to.encoding >= 0 && to.encoding <= UINT8_MAX ? size : 0;
}

}  // namespace

bool ReadFooter(Span file, Bytes& words) {
  if (file.size < sizeof kMagic + kTailBytes || !IsMagic(file.data) ||
      !IsMagic(file.data + file.size - sizeof kMagic)) {
    return false;
  }
  const uint8_t* const end = file.data + file.size - kTailBytes;
  size_t length = 0;
  for (size_t i = 0; i < 4; i++) length |= static_cast<size_t>(end[i]) << (8 * i);
  if (length > file.size - sizeof kMagic - kTailBytes) return false;
  return FooterReader(file, {end - length, length}, words).Read();
}

bool ReadChunk(Span file, const ParquetChunk& chunk, ParquetWork& work, ParquetUnpacker* unpacker,
               ParquetDecoder& decoder) {
  size_t at = chunk.start;
  for (size_t rows = 0; rows < chunk.rows;) {
    PageHeader header;
    const size_t size = ReadHeader({file.data + at, chunk.end - at}, header);
    if (size == 0 || !Take(work.loop, kPageWork + size * kHeaderWork)) return false;
    const size_t packed = static_cast<size_t>(header.packed);
    const size_t levels = static_cast<size_t>(header.levels);
    const size_t values = static_cast<size_t>(header.values);
    const size_t unpacked = static_cast<size_t>(header.unpacked) - levels;
    if (!Take(work.bytes, packed + levels + unpacked)) return false;
    ParquetPage page;
    page.is_dictionary = header.type == kDictionaryPage;
    if (!page.is_dictionary && (values == 0 || values > chunk.rows - rows)) return false;
    page.starts_chunk = at == chunk.start;
    at += size;
    page.encoding = static_cast<int>(header.encoding);
    page.values = values;
    page.has_levels = header.type == kDataPageV2;
    page.levels = {file.data + at, levels};
    page.bytes = {file.data + at + levels, packed - levels};
    page.unpacked = unpacked;
    const size_t codec = header.is_packed ? chunk.codec : kNoCodec;
    page.is_snappy = codec == kSnappyCodec;
    if (codec > kSnappyCodec && unpacked > 0) {
      const size_t start = at + levels;
      if (unpacker == nullptr || !Take(work.loop, kUnpackWork + page.bytes.size + unpacked) ||
          !unpacker->Unpack(codec, start, start + page.bytes.size, unpacked, page.bytes)) {
        return false;
      }
    }
    if (!decoder.Add(page)) return false;
    at += packed;
    if (!page.is_dictionary) rows += values;
  }
  return true;
}

}  // namespace serving
