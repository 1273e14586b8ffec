// Parses the JSON text of a frame into typed columns.
#pragma once

#include "frame_labels.h"
#include "frame_scan.h"

namespace serving {

struct FrameLimits {
  size_t max_columns;
  size_t max_cells;
};

// A column, and which element belongs to which row.
struct FrameSlot {
  Bytes name;
  // Whether the name is written without escapes, so that its bytes can be compared with the text.
  bool plain = false;
  ColumnBuilder builder;
  // Maps row to element if `scattered`: when the elements did not come in the order of the rows.
  Bytes places;
  bool scattered = false;
};

// Parses one text into columns. When `Parse` returns false, `error()` and the functions below it say why.
class FrameParser {
 public:
  // `as_written`: every element of a column but null stays the text that it is written as.
  FrameParser(const uint8_t* json, size_t length, FrameLimits limits, uint64_t seed0, uint64_t seed1, bool as_written);
  FrameParser(const FrameParser&) = delete;
  FrameParser& operator=(const FrameParser&) = delete;
  ~FrameParser();

  bool Parse(FrameLayout layout);

  size_t rows() const { return rows_; }
  size_t columns() const { return count_; }
  FrameSlot& column(size_t at) const { return *slots_.As<FrameSlot*>()[at]; }
  // The row labels, or nullptr. Labels from object keys are integers if every key is written as an integer is.
  const ColumnBuilder* labels() const { return has_index_ ? &index_ : keyed_ ? &labels_.builder() : nullptr; }
  bool has_name() const { return has_name_; }
  const Bytes& name() const { return name_; }
  size_t schema_start() const { return schema_start_; }
  size_t schema_end() const { return schema_end_; }

  FrameError error() const { return scan_.error(); }
  size_t error_offset() const { return scan_.error_offset(); }
  // Column and row of the offending element; -1 when unknown.
  int64_t error_column() const { return error_column_; }
  int64_t error_row() const { return error_row_; }

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
  bool LabelList(ColumnBuilder& into, bool floats);
  bool Label(ColumnBuilder& into, bool floats);
  bool Name();
  bool Rename(size_t offset);
  bool Finish();
  bool NumberKeys();

  bool Add(const uint8_t* name, size_t length, size_t& column);
  bool AddNumbered(size_t number, size_t& column);
  int64_t FindName();
  bool FindColumn(size_t predicted, size_t& column);
  bool Cell(size_t column, size_t row);
  bool Element(ColumnBuilder& into);
  bool Place(FrameSlot& slot, size_t count, size_t row, size_t offset);
  // Whether `rows` rows stay within the limit of cells. `offset` is where the last one starts.
  bool CheckCells(size_t rows, size_t offset) {
    return rows * count_ <= limits_.max_cells || Fail(FrameError::kCells, offset);
  }
  bool Fail(FrameError error, size_t offset) { return scan_.Fail(error, offset); }
  bool NoMemory() { return Fail(FrameError::kMemory, scan_.offset()); }
  bool Unexpected();

  FrameScanner scan_;
  const FrameLimits limits_;
  const bool as_written_;
  Bytes slots_;
  size_t count_ = 0;
  HashTable names_;
  size_t rows_ = 0;
  FrameLabels labels_;
  bool keyed_ = false;
  ColumnBuilder index_;
  bool has_index_ = false;
  ColumnBuilder columns_;
  Bytes name_;
  bool has_name_ = false;
  size_t schema_start_ = 0;
  size_t schema_end_ = 0;
  int64_t error_column_ = -1;
  int64_t error_row_ = -1;
};

}  // namespace serving
