// Made by test/native/shared-numbers.ts of src/core/native/shared-numbers.ts and the lists that it names.
#pragma once

#include <cstddef>
#include <cstdint>

namespace serving {

constexpr uint32_t kNumbersContract = 19;
constexpr uint32_t kPicturesContract = 6;
constexpr int kEnforcedCast = 16;
constexpr int kFrameLayouts = 6;

enum class Dtype : int {
  kInferred = -1,
  kBool = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kUint8 = 5,
  kUint16 = 6,
  kUint32 = 7,
  kUint64 = 8,
  kFloat16 = 9,
  kFloat32 = 10,
  kFloat64 = 11,
  kStr = 12,
  kJson = 13,
  kList = 14,
  kStruct = 15,
};

enum class Status : int {
  kOk = 0,
  kSyntax = 1,
  kRagged = 2,
  kDtype = 3,
  kRange = 4,
  kPrecision = 5,
  kDepth = 6,
  kNotMine = 7,
  kGaveUp = 8,
  kNonFinite = 9,
};

enum class NonFinite : int {
  kNull = 0,
  kLiteral = 1,
  kError = 2,
};

enum class FrameLayout : int {
  kFrame = 0,
  kIndex = 1,
  kSplit = 2,
  kTable = 3,
  kSeries = 4,
  kSeriesSplit = 5,
};

enum class FrameError : int {
  kNone = 0,
  kSyntax = 1,
  kEncoding = 2,
  kRagged = 3,
  kKind = 4,
  kRange = 5,
  kNested = 6,
  kLayout = 7,
  kDuplicate = 8,
  kKeys = 9,
  kLabels = 10,
  kColumns = 11,
  kCells = 12,
  kMemory = 13,
};

enum class CsvError : int {
  kNone = 0,
  kRagged = 1,
  kQuote = 2,
  kCells = 3,
  kMemory = 4,
};

enum class StepKind : int {
  kText = 0,
  kRows = 1,
  kCsv = 2,
};

enum class LabelMode : int {
  kNone = 0,
  kValue = 1,
  kText = 2,
};

enum class Filter : int {
  kBilinear = 0,
  kBicubic = 1,
  kLanczos = 2,
};

struct ColumnWord {
  enum : size_t {
    kKind = 0,
    kNameAt = 1,
    kNameLength = 2,
    kDataAt = 3,
    kDataLength = 4,
    kValidityAt = 5,
    kOffsetsAt = 6,
    kWords = 7,
  };
};

struct EncodeColumnWord {
  enum : size_t {
    kKind = 0,
    kData = 1,
    kDataAt = 2,
    kDataBytes = 3,
    kValidity = 4,
    kValidityAt = 5,
    kValidityBytes = 6,
    kOffsets = 7,
    kOffsetsAt = 8,
    kOffsetsBytes = 9,
    kFirstHeap = 10,
    kHeaps = 11,
    kKeyAt = 12,
    kKeyEnd = 13,
    kFirstChild = 14,
    kChildren = 15,
    kWords = 16,
  };
};

struct EncodeWord {
  enum : size_t {
    kColumns = 0,
    kSteps = 1,
    kRows = 2,
    kWords = 3,
  };
};

struct FailureWord {
  enum : size_t {
    kFailure = 0,
    kOffset = 1,
    kRow = 2,
    kColumnAt = 3,
    kColumnLength = 4,
    kWords = 5,
  };
};

struct FileColumnWord {
  enum : size_t {
    kKind = 0,
    kData = 1,
    kValidity = 2,
    kOffsets = 3,
    kNameAt = 4,
    kNameEnd = 5,
    kLogical = 6,
    kUnit = 7,
    kIsUtc = 8,
    kWords = 9,
  };
};

struct FileWord {
  enum : size_t {
    kRows = 0,
    kColumns = 1,
    kIsSnappy = 2,
    kSchemaAt = 3,
    kSchemaEnd = 4,
    kWords = 5,
  };
};

struct LimitWord {
  enum : size_t {
    kColumns = 0,
    kCells = 1,
    kSecret0 = 2,
    kSecret1 = 3,
    kSecret2 = 4,
    kSecret3 = 5,
    kWords = 6,
  };
};

struct MeasureWord {
  enum : size_t {
    kDeepAt = 0,
    kValues = 1,
    kWidest = 2,
    kMayHoldBigNumbers = 3,
    kWords = 4,
  };
};

struct ParquetChunkWord {
  enum : size_t {
    kCodec = 0,
    kValues = 1,
    kStart = 2,
    kEnd = 3,
    kWords = 4,
  };
};

struct ParquetLeafWord {
  enum : size_t {
    kType = 0,
    kIsOptional = 1,
    kConverted = 2,
    kLogical = 3,
    kNameAt = 4,
    kNameEnd = 5,
    kWords = 6,
  };
};

struct ParquetWord {
  enum : size_t {
    kRows = 0,
    kColumns = 1,
    kGroups = 2,
    kUnpackedBytes = 3,
    kSchemaAt = 4,
    kSchemaEnd = 5,
    kArrowAt = 6,
    kArrowEnd = 7,
    kMaxBytes = 8,
    kWords = 9,
  };
};

struct PictureWord {
  enum : size_t {
    kWidth = 0,
    kHeight = 1,
    kChannels = 2,
    kDenominator = 3,
    kQuality = 3,
    kWords = 4,
  };
};

struct ReadColumnWord {
  enum : size_t {
    kDataAt = 0,
    kDataLength = 1,
    kValidityAt = 2,
    kOffsetsAt = 3,
    kWords = 4,
  };
};

struct ResizeWord {
  enum : size_t {
    kFilter = 0,
    kXExtent = 1,
    kYExtent = 2,
    kXFull = 3,
    kYFull = 4,
    kXFirst = 5,
    kYFirst = 6,
    kXCount = 7,
    kYCount = 8,
    kChannels = 9,
    kWidth = 10,
    kHeight = 11,
    kLeft = 12,
    kTop = 13,
    kIsPlanar = 14,
    kHasAlpha = 15,
    kWords = 16,
  };
};

struct ResultWord {
  enum : size_t {
    kStatus = 0,
    kOffset = 1,
    kLength = 1,
    kDtype = 2,
    kRank = 3,
    kDims = 4,
    kWords = 5,
  };
};

struct StepWord {
  enum : size_t {
    kKind = 0,
    kTextAt = 1,
    kTextEnd = 2,
    kLabelMode = 3,
    kLabels = 4,
    kAfterAt = 5,
    kAfterEnd = 6,
    kCloseAt = 7,
    kCloseEnd = 8,
    kFirstColumn = 9,
    kColumns = 10,
    kHasKeys = 11,
    kWords = 12,
  };
};

struct TableWord {
  enum : size_t {
    kFailure = 0,
    kRows = 1,
    kColumns = 2,
    kHasLabels = 3,
    kNameAt = 4,
    kNameLength = 5,
    kSchemaAt = 6,
    kSchemaEnd = 7,
    kWords = 8,
  };
};

}  // namespace serving
