// JSON text of a frame becomes typed columns.
#pragma once

#include "frame_labels.h"
#include "frame_scan.h"

namespace serving {

// The order of FrameLayout's codes in src/frame/native-codec.ts.
enum class FrameLayout : int { kFrame = 0, kIndex, kSplit, kTable, kSeries, kSeriesSplit };

constexpr int kFrameLayouts = 6;

struct FrameLimits {
  size_t max_columns;
  size_t max_cells;
};

// A column with the place of its elements.
struct FrameSlot {
  Bytes name;
  // Whether the name is written without escapes, so that its bytes can be looked for in the text.
  bool plain = false;
  ColumnBuilder builder;
  // Row → element, where the elements did not come in the rows' order; else empty.
  Bytes places;
  // Whether `places` counts.
  bool scattered = false;
};

// Reads one text. Any false answer means only that the text is none, or that memory ran out: the TypeScript parser then
// says what is wrong with it.
class FrameParser {
 public:
  FrameParser(const uint8_t* json, size_t length, FrameLimits limits, uint64_t seed0, uint64_t seed1);
  FrameParser(const FrameParser&) = delete;
  FrameParser& operator=(const FrameParser&) = delete;
  ~FrameParser();

  bool Parse(FrameLayout layout);

  size_t rows() const { return rows_; }
  size_t columns() const { return count_; }
  FrameSlot& column(size_t at) const { return *slots_.As<FrameSlot*>()[at]; }
  // Labels, or nullptr; `keyed` when they were keys.
  const ColumnBuilder* labels() const { return has_index_ ? &index_ : keyed_ ? &labels_.builder() : nullptr; }
  bool keyed() const { return keyed_; }
  bool has_name() const { return has_name_; }
  const Bytes& name() const { return name_; }
  size_t schema_start() const { return schema_start_; }
  size_t schema_end() const { return schema_end_; }
  size_t offset() const { return scan_.offset(); }

 private:
  bool List();
  bool Record();
  bool Values();
  bool Index();
  bool ByColumn();
  bool ListInto(size_t column, size_t& rows);
  bool Labelled(size_t column);
  bool Series();
  bool Split(bool is_frame);
  bool Table();
  bool Rows(uint8_t open);
  bool LabelList(ColumnBuilder& into);
  bool Name();
  bool Rename();
  bool Finish();

  bool Add(const uint8_t* name, size_t length, size_t& column);
  bool AddNumbered(size_t number, size_t& column);
  int64_t FindName();
  bool FindColumn(size_t predicted, size_t& column);
  bool Place(FrameSlot& slot, size_t count, size_t row);
  bool NextRow() { return ++rows_ * count_ <= limits_.max_cells; }
  bool WithinCells() const { return rows_ * count_ <= limits_.max_cells; }

  FrameScanner scan_;
  const FrameLimits limits_;
  Bytes slots_;
  size_t count_ = 0;
  HashTable names_;
  size_t rows_ = 0;
  FrameLabels labels_;
  bool keyed_ = false;
  ColumnBuilder index_;
  bool has_index_ = false;
  ColumnBuilder columns_;
  bool has_columns_ = false;
  Bytes name_;
  bool has_name_ = false;
  size_t schema_start_ = 0;
  size_t schema_end_ = 0;
};

}  // namespace serving
