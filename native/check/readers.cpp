// Fuzzes all readers of bytes that clients send: JSON of arrays and frames, its measure, CSV, Snappy and the pages of
// Parquet. Built with sanitizers, which end the program at the first read or write outside of a buffer; results are
// checked for consistency (counts, shapes, limits, offsets). Run by native/check.mjs: `readers ROUNDS SEED FILE...`;
// each round gives each reader one damaged text or page; FILE are Parquet files.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "../src/csv_parse.h"
#include "../src/frame_pack.h"
#include "../src/frame_parse.h"
#include "../src/json_scan.h"
#include "../src/ndarray_parse.h"
#include "../src/parquet_file.h"
#include "../src/snappy.h"
#include "mutate.h"
#include "parquet_file.h"

namespace {

using serving::Dtype;
using serving::Expect;
using serving::failures;
using serving::Mutator;
using serving::Octets;
using serving::ParquetPage;
using serving::SeedColumn;
using serving::SeedPage;
using serving::Span;

// Counts the inputs of a reader, and those that it accepted.
struct Tally {
  const char* name;
  uint64_t taken = 0;
  uint64_t all = 0;

  void Add(bool is_taken) {
    taken += is_taken ? 1 : 0;
    all++;
  }
};

// Memory of exactly so many bytes, so that a sanitizer sees the first one beyond it.
class Exact {
 public:
  explicit Exact(size_t size) : bytes_(new uint8_t[size]()) {}
  explicit Exact(const Octets& bytes) : Exact(bytes.size()) {
    if (!bytes.empty()) std::memcpy(bytes_.get(), bytes.data(), bytes.size());
  }
  uint8_t* get() const { return bytes_.get(); }

 private:
  std::unique_ptr<uint8_t[]> bytes_;
};

const char* const kArrays[] = {"[[1,2.5,-3e10],[4,5,6]]",
                               "[0.1,123456789012345678901234,1e-320]",
                               "[true,false,null]",
                               "[[[1],[2]],[[3],[4]]]",
                               "-17",
                               "[ 1 , 22 ,\n333,4444,55555,666666,7777777,88888888,999999999]",
                               "[[],[]]",
                               "[NaN,Infinity,-Infinity]"};

const char* const kFrames[] = {
    R"([{"a":1,"b":"x"},{"a":2.5,"b":null},{"b":"\u00e9\ud83d\ude00\n","c":[1,{"d":2}]}])",
    R"({"a":{"0":1,"1":true},"b":{"1":"y","0":"x"}})",
    R"({"row 1":{"a":1,"b":2},"row 2":{"b":18446744073709551615,"a":-9223372036854775808}})",
    R"({"columns":["a","b"],"index":[10,20],"data":[[1,"x"],[2,null]]})",
    R"({"schema":{"fields":[{"name":"index","type":"integer"},{"name":"a","type":"number"}],"primaryKey":["index"]},)"
    R"("data":[{"index":0,"a":1.5},{"index":1,"a":1e300}]})",
    R"({"name":"s","index":["x","y"],"data":[1,2]})",
    R"({"a":[1,2,3],"b":["x","y","z"]})",
    R"([[1,2],[3,4]])",
    R"([1,2,null,"word"])"};

const char* const kTables[] = {"1,x,true\n2,\"y \"\"q\"\"\",false\n,,\n",
                               "-9223372036854775808,1e5,NaN\r\n18446744073709551615,-0,null\r\n",
                               "\"many\nlines\",\"a,b\",x\n\n\n0.5,abcdefghijklmnop,1.#IND", "1,2\n3,4\n5,6\n"};

// Returns one of the seeds, damaged.
template <size_t kCount>
Octets Text(Mutator& mutate, const char* const (&seeds)[kCount]) {
  const auto any = [&] {
    const char* const seed = seeds[mutate.Below(kCount)];
    return Octets(seed, seed + std::strlen(seed));
  };
  Octets text = any();
  mutate.Damage(text, any());
  return text;
}

// Parses a damaged array with a random type; checks its shape, or the offset of its error.
void ReadArray(Mutator& mutate, Tally& tally) {
  const Octets text = Text(mutate, kArrays);
  const Exact json(text);
  const serving::Cast cast{static_cast<Dtype>(static_cast<int>(mutate.Below(serving::kNumericTypes + 1)) - 1),
                           mutate.OneIn(2)};
  const size_t capacity = serving::CountElements(json.get(), text.size());
  Expect(capacity <= text.size() + 1, "more elements than bytes");
  const Exact out(capacity * serving::ItemSize(cast.dtype));
  serving::ParseResult result{};
  const serving::Piece piece{mutate.OneIn(4), mutate.OneIn(4)};
  serving::ParseNdarray(json.get(), text.size(), cast, out.get(), capacity, result, piece);
  const bool is_taken = result.status == serving::Status::kOk;
  tally.Add(is_taken);
  if (!is_taken) return Expect(result.offset <= text.size(), "an error behind the text");
  size_t count = 1;
  for (int i = 0; i < result.rank; i++) count *= result.dims[i];
  Expect(result.count <= capacity && count == result.count, "an array whose shape does not fit");
}

// Parses a damaged frame in a random layout; checks its limits, or the offset of its error.
void ReadFrame(Mutator& mutate, Tally& tally) {
  const Octets text = Text(mutate, kFrames);
  const Exact json(text);
  const serving::FrameLimits limits{mutate.OneIn(8) ? 2u : 100u, mutate.OneIn(8) ? 3u : 10000u};
  serving::FrameParser parser(json.get(), text.size(), limits, 1, 2, mutate.OneIn(4));
  const bool is_taken = parser.Parse(static_cast<serving::FrameLayout>(mutate.Below(serving::kFrameLayouts)));
  tally.Add(is_taken);
  // Lists of elements are as long as their text; what is missing in sparse rows counts.
  const size_t cells = std::max(limits.max_cells, text.size());
  Expect(is_taken ? parser.rows() * parser.columns() <= cells && parser.columns() <= limits.max_columns
                  : parser.error_offset() <= text.size(),
         "a frame beyond its limits");
  std::free(serving::PackFrame(parser).data);
}

// Measures a damaged text, often longer than a block; checks its counts, or the offset of the bracket that is too deep.
void MeasureText(Mutator& mutate, Tally& tally) {
  Octets text;
  for (size_t left = 1 + mutate.Below(8); left > 0; left--) {
    const Octets more = mutate.OneIn(16) ? Octets(100, '[') : Text(mutate, kFrames);
    text.insert(text.end(), more.begin(), more.end());
  }
  const Exact json(text);
  const serving::JsonMeasure found = serving::MeasureJson(json.get(), text.size());
  const bool is_taken = found.deep_at == SIZE_MAX;
  tally.Add(is_taken);
  Expect(found.values <= text.size() && found.widest <= text.size(), "more values than bytes");
  const bool is_bracket = !is_taken && found.deep_at < text.size() && (text[found.deep_at] | 0x20) == '{';
  Expect(is_taken || is_bracket, "no bracket that is too deep");
}

// Parses damaged CSV; checks its limit, or the offset of its error.
void ReadCsv(Mutator& mutate, Tally& tally) {
  const Octets text = Text(mutate, kTables);
  const Exact csv(text);
  const size_t columns = mutate.OneIn(4) ? 2 : 3;
  const Exact is_text(columns);
  for (size_t i = 0; i < columns; i++) is_text.get()[i] = mutate.OneIn(8) ? 1 : 0;
  const size_t limit = mutate.OneIn(8) ? 4 : 10000;
  serving::CsvParser parser(csv.get(), text.size(), columns, is_text.get(), limit);
  const bool is_taken = parser.Parse();
  tally.Add(is_taken);
  Expect(is_taken ? parser.rows() * columns <= limit : parser.error_offset() <= text.size(),
         "a table beyond its limits");
  std::free(serving::PackCsv(parser).data);
}

// Returns a page of any column.
const SeedPage& AnyPage(Mutator& mutate, const std::vector<SeedColumn>& seeds) {
  const std::vector<SeedPage>& pages = seeds[mutate.Below(seeds.size())].pages;
  return pages[mutate.Below(pages.size())];
}

// Unpacks the damaged values of a page, into as many bytes as its header or the damaged bytes announce.
void ReadSnappy(Mutator& mutate, const std::vector<SeedColumn>& seeds, Tally& tally) {
  const SeedPage* page = &AnyPage(mutate, seeds);
  while (!page->head.is_snappy) page = &AnyPage(mutate, seeds);
  Octets packed = page->bytes;
  mutate.Damage(packed, AnyPage(mutate, seeds).bytes);
  size_t size = page->head.unpacked;
  if (mutate.OneIn(4)) {
    // The size that the damaged bytes announce: with another one the decoder stops at once.
    size = packed.empty() ? 0 : packed[0] & 0x7f;
    if (packed.size() > 1 && packed[0] > 0x7f) size |= (packed[1] & 0x7fu) << 7;
  }
  const Exact from(packed);
  const Exact out(size + serving::kSnappyRoom);
  tally.Add(serving::UnpackSnappy(from.get(), packed.size(), out.get(), size));
}

// Returns another number of 16 bits: a neighbour, the edge of a range, or a random one.
size_t Other(Mutator& mutate, size_t number) {
  const size_t numbers[] = {0, 1, number + 1, number - 1, number * 2, number + 8, 0x7fff, mutate.Below(4096)};
  return numbers[mutate.Below(sizeof numbers / sizeof *numbers)] & 0xffff;
}

// Changes a field of a page's header to any value that the add-on passes on to the decoder.
void DamageHead(Mutator& mutate, ParquetPage& head) {
  const size_t field = mutate.Below(7);
  if (field == 0) head.is_dictionary = !head.is_dictionary;
  if (field == 1) head.encoding = static_cast<int>(mutate.Below(10));
  if (field == 2) head.values = Other(mutate, head.values);
  if (field == 3) head.is_snappy = !head.is_snappy;
  if (field == 4) head.unpacked = Other(mutate, head.unpacked);
  if (field == 5) head.has_levels = !head.has_levels;
  if (field == 6) head.starts_chunk = !head.starts_chunk;
}

// Returns a type for a column: for int32 one of those that are narrowed, or itself.
Dtype DtypeOf(Mutator& mutate, Dtype dtype) {
  constexpr Dtype kNarrow[] = {Dtype::kInt8, Dtype::kInt16, Dtype::kUint8, Dtype::kUint16, Dtype::kInt32};
  return dtype == Dtype::kInt32 ? kNarrow[mutate.Below(5)] : dtype;
}

// The buffers of parquet_addon.cpp for a column, each exactly as long as it must be.
class ColumnRoom {
 public:
  ColumnRoom(Dtype dtype, size_t rows)
      : dtype_(dtype),
        validity_((rows + 7) / 8),
        data_(dtype == Dtype::kBool ? (rows + 7) / 8 : rows * serving::PhysicalSize(dtype)),
        offsets_(dtype == Dtype::kStr ? (rows + 1) * 4 : 0) {}

  serving::ParquetColumn Column(bool is_optional) const {
    const bool is_text = dtype_ == Dtype::kStr;
    int32_t* const offsets = is_text ? reinterpret_cast<int32_t*>(offsets_.get()) : nullptr;
    return {dtype_, is_optional, data_.get(), validity_.get(), offsets};
  }

 private:
  const Dtype dtype_;
  const Exact validity_;
  const Exact data_;
  const Exact offsets_;
};

// Checks the nulls and offsets of a column.
void ExpectWhole(const serving::ParquetColumn& column, size_t rows) {
  size_t present = 0;
  for (size_t row = 0; row < rows; row++) present += column.validity[row / 8] >> (row % 8) & 1;
  Expect(present + column.nulls == rows, "another number of nulls than the flags say");
  if (column.dtype != Dtype::kStr) return;
  bool is_ascending = column.offsets[0] == 0;
  for (size_t row = 0; row < rows; row++) is_ascending &= column.offsets[row] <= column.offsets[row + 1];
  Expect(is_ascending && static_cast<size_t>(column.offsets[rows]) == column.text.size(), "texts out of order");
}

// Decodes a column and checks its nulls and offsets. Returns whether the decoder accepted it.
bool Decode(const SeedColumn& seed, Dtype dtype) {
  std::vector<Exact> bytes;
  std::vector<ParquetPage> pages;
  const auto place = [&](const Octets& octets) {
    bytes.emplace_back(octets);
    return Span{bytes.back().get(), octets.size()};
  };
  for (const SeedPage& page : seed.pages) {
    pages.push_back(page.head);
    pages.back().levels = place(page.levels);
    pages.back().bytes = place(page.bytes);
  }
  const size_t rows = seed.rows;
  const ColumnRoom room(dtype, rows);
  serving::ParquetColumn column = room.Column(seed.is_optional);
  size_t work = 1 << 16;
  serving::ParquetDecoder decoder(rows, work);
  decoder.Begin(column);
  for (const ParquetPage& page : pages) {
    if (!decoder.Add(page)) return false;
  }
  if (!decoder.Finish()) return false;
  ExpectWhole(column, rows);
  return true;
}

// Decodes a column with a damaged page and sometimes other rows, pages or types.
void ReadColumn(Mutator& mutate, const std::vector<SeedColumn>& seeds, Tally& tally) {
  SeedColumn column = seeds[mutate.Below(seeds.size())];
  SeedPage& page = column.pages[mutate.Below(column.pages.size())];
  mutate.Damage(page.levels.empty() || mutate.OneIn(2) ? page.bytes : page.levels, AnyPage(mutate, seeds).bytes);
  if (mutate.OneIn(3)) DamageHead(mutate, page.head);
  if (mutate.OneIn(8)) column.pages.push_back(AnyPage(mutate, seeds));
  if (mutate.OneIn(16)) column.rows = Other(mutate, column.rows);
  if (mutate.OneIn(16)) column.is_optional = !column.is_optional;
  if (mutate.OneIn(16)) column.dtype = seeds[mutate.Below(seeds.size())].dtype;
  tally.Add(Decode(column, DtypeOf(mutate, column.dtype)));
}

// Returns a file whose footer is damaged, or what lies before it.
Octets DamagedFile(Mutator& mutate, const std::vector<Octets>& files) {
  const Octets& file = files[mutate.Below(files.size())];
  const auto tail = file.end() - 8;
  const std::ptrdiff_t stated = tail[0] | tail[1] << 8 | tail[2] << 16;
  const auto start = tail - std::min(stated, tail - file.begin());
  Octets body(file.begin(), start);
  Octets footer(start, tail);
  mutate.Damage(mutate.OneIn(3) ? body : footer, files[mutate.Below(files.size())]);
  const size_t length = footer.size();
  body.insert(body.end(), footer.begin(), footer.end());
  for (unsigned i = 0; i < 4; i++) body.push_back(static_cast<uint8_t>(length >> (8 * i)));
  body.insert(body.end(), {'P', 'A', 'R', '1'});
  return body;
}

// Reads a damaged file by its footer: checks that all that is stated lies within the file, and reads the chunks of the
// first column. Counts files whose footers are accepted.
void ReadFile(Mutator& mutate, const std::vector<Octets>& files, Tally& tally) {
  const Octets octets = DamagedFile(mutate, files);
  const Exact bytes(octets);
  const Span file{bytes.get(), octets.size()};
  serving::Bytes words;
  const bool is_taken = serving::ReadFooter(file, words);
  tally.Add(is_taken);
  if (!is_taken) return;
  using serving::ParquetChunkWord;
  using serving::ParquetLeafWord;
  using serving::ParquetWord;
  const double* const head = words.As<double>();
  const size_t rows = static_cast<size_t>(head[ParquetWord::kRows]);
  const size_t columns = static_cast<size_t>(head[ParquetWord::kColumns]);
  const size_t groups = static_cast<size_t>(head[ParquetWord::kGroups]);
  const double* const leaf = head + ParquetWord::kWords;
  const double* const chunks = leaf + columns * ParquetLeafWord::kWords;
  Expect(words.size() / sizeof(double) ==
             ParquetWord::kWords + columns * (ParquetLeafWord::kWords + groups * ParquetChunkWord::kWords),
         "another number of words than columns and chunks have");
  const auto expect_range = [&](const double* at) {
    Expect(at[0] >= 0 && at[0] <= at[1] && at[1] <= static_cast<double>(file.size), "a range beyond the file");
  };
  expect_range(head + ParquetWord::kSchemaAt);
  expect_range(head + ParquetWord::kArrowAt);
  for (size_t i = 0; i < columns; i++) expect_range(leaf + i * ParquetLeafWord::kWords + ParquetLeafWord::kNameAt);
  for (size_t i = 0; i < groups * columns; i++) {
    expect_range(chunks + i * ParquetChunkWord::kWords + ParquetChunkWord::kStart);
  }
  // Of bytes and times of 96 bits nothing is read.
  const double type = leaf[ParquetLeafWord::kType];
  const Dtype dtype = type >= 0 && type < 8 ? serving::DtypeOfPhysical(static_cast<size_t>(type)) : Dtype::kFloat16;
  if (rows > 1 << 16 || dtype == Dtype::kFloat16) return;
  const ColumnRoom room(dtype, rows);
  serving::ParquetColumn column = room.Column(leaf[ParquetLeafWord::kIsOptional] != 0);
  serving::ParquetWork work{1 << 20, 1 << 20};
  serving::ParquetDecoder decoder(rows, work.bytes);
  decoder.Begin(column);
  for (size_t i = 0; i < groups; i++) {
    const double* const own = chunks + i * columns * ParquetChunkWord::kWords;
    const auto word = [&](size_t at) { return static_cast<size_t>(own[at]); };
    const serving::ParquetChunk chunk{word(ParquetChunkWord::kCodec), word(ParquetChunkWord::kValues),
                                      word(ParquetChunkWord::kStart), word(ParquetChunkWord::kEnd)};
    if (!serving::ReadChunk(file, chunk, work, nullptr, decoder)) return;
  }
  if (decoder.Finish()) ExpectWhole(column, rows);
}

// Returns the columns of the files that the decoder accepts undamaged.
std::vector<SeedColumn> Seeds(const std::vector<Octets>& files) {
  std::vector<SeedColumn> found;
  for (const Octets& file : files) serving::AddColumns(file, found);
  std::vector<SeedColumn> seeds;
  Mutator mutate(0);
  for (const SeedColumn& column : found) {
    if (column.dtype != Dtype::kFloat16 && Decode(column, column.dtype)) seeds.push_back(column);
  }
  return seeds;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  std::vector<Octets> files;
  for (int i = 3; i < argc; i++) files.push_back(serving::FileBytes(argv[i]));
  const std::vector<SeedColumn> seeds = Seeds(files);
  bool has_snappy = false;
  for (const SeedColumn& column : seeds) {
    for (const SeedPage& page : column.pages) has_snappy |= page.head.is_snappy;
  }
  Expect(has_snappy, "no Parquet file with columns that can be read, one of them by Snappy");
  Mutator mutate(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  Tally tallies[] = {{"arrays"}, {"frames"}, {"csv"}, {"measures"}, {"snappy"}, {"parquet"}, {"files"}};
  for (uint64_t i = 0; i < rounds && failures == 0; i++) {
    ReadArray(mutate, tallies[0]);
    ReadFrame(mutate, tallies[1]);
    ReadCsv(mutate, tallies[2]);
    MeasureText(mutate, tallies[3]);
    ReadSnappy(mutate, seeds, tallies[4]);
    ReadColumn(mutate, seeds, tallies[5]);
    ReadFile(mutate, files, tallies[6]);
  }
  std::printf("%zu columns as seeds; read of damaged:", seeds.size());
  for (const Tally& tally : tallies) {
    std::printf(" %s %llu of %llu,", tally.name, static_cast<unsigned long long>(tally.taken),
                static_cast<unsigned long long>(tally.all));
    // Where all inputs are refused only the first check is tested; where all are accepted nothing was damaged.
    Expect(rounds < 1000 || (tally.taken > 0 && tally.taken < tally.all), "a reader took all or nothing");
  }
  std::printf(" %llu failures\n", static_cast<unsigned long long>(failures));
  return failures == 0 ? 0 : 1;
}
