#include "ndarray_parse.h"

#include <cstring>
// native/check.mjs disables SSE2 to test the plain code.
#if defined(__SSE2__) && !defined(SERVING_WITHOUT_SSE2)
#define SERVING_SSE2
#include <emmintrin.h>
#endif

#include "ndarray_stores.h"
#include "number_parse.h"

namespace serving {
namespace {

inline bool IsSpace(uint8_t byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

inline const uint8_t* SkipSpace(const uint8_t* p, const uint8_t* end) {
  while (p < end && IsSpace(*p)) p++;
  return p;
}

inline bool StartsWith(const uint8_t* p, const uint8_t* end, const char* word, size_t length) {
  return static_cast<size_t>(end - p) >= length && std::memcmp(p, word, length) == 0;
}

// Returns the next comma if it is within kPlainReach, else the end of that range. The search does not depend on the
// number before the comma, so that the processor starts on the next number while it still converts this one: 25 % of
// the time of a long list.
inline const uint8_t* FindComma(const uint8_t* p) {
#if defined(SERVING_SSE2)
  const __m128i commas = _mm_set1_epi8(',');
  const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16));
  const unsigned low = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(first, commas)));
  const unsigned high = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(second, commas)));
  return p + TrailingZeros(low | uint64_t{high} << 16 | uint64_t{1} << 32);
#else
  // As if there were none within reach: the caller then goes on at the token's own end.
  return p + kPlainReach;
#endif
}

// Given a byte that starts a value: whether it starts a word such as null or true, or a string or an object.
inline bool IsWord(uint8_t byte) { return byte > '9'; }

enum Kind { kNumber, kWord, kNull, kBool };

struct Word {
  const char* text;
  Kind kind;
  double value;
};

constexpr Word kWords[] = {{"null", kNull, 0},
                           {"true", kBool, 1},
                           {"false", kBool, 0},
                           {"NaN", kWord, kNaN},
                           {"Infinity", kWord, kInfinity},
                           {"-Infinity", kWord, -kInfinity}};

const Word* WordAt(const uint8_t* p, const uint8_t* end) {
  for (const Word& word : kWords) {
    if (*p == word.text[0] && StartsWith(p, end, word.text, std::strlen(word.text))) return &word;
  }
  return nullptr;
}

// Reads at most `max` plain numbers that follow a comma in a list, and no other value. Returns the position after the
// last one: behind a comma if another value must follow. Anything else, errors included, is left to the caller.
// Not inlined, so that the few variables of this loop stay in registers.
template <class Store>
SERVING_APART const uint8_t* ReadPlain(const uint8_t* p, const uint8_t* const end, Store& store,
                                       typename Store::Value*& out, int64_t max) {
  NumberToken token;
  typename Store::Value* element = out;
  for (; max > 0; max--) {
    if (end - p <= kPlainReach) break;
    const uint8_t* const comma = FindComma(p);
    const uint8_t* next = comma + 1;
#if defined(__GNUC__)
    // Hides from the compiler that `next` also follows the token's end: it would wait for that instead.
    __asm__("" : "+r"(next));
#endif
    // Python's json.dumps writes ", ".
    const uint8_t* const start = p + (*p == ' ');
    if (!ScanPlain(start, end, token) || store.Number(token, element) != Status::kOk) break;
    element++;
    if (token.end != comma) {
      p = token.end;
      if (*p != ',') break;
      p++;
    } else {
      p = next;
    }
  }
  out = element;
  return p;
}

// Same rules as src/values/array/json.ts, which reads what this gives up on.
template <class Store>
void Parse(const uint8_t* const json, size_t length, Store store, typename Store::Value* const begin, size_t capacity,
           ParseResult& result, Piece piece) {
  constexpr int64_t kUnknown = -1;
  const uint8_t* const end = json + length;
  const uint8_t* p = json;
  if (!piece.begins_before && length >= 3 && p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF) p += 3;
  typename Store::Value* out = begin;
  typename Store::Value* const out_end = begin + capacity;
  // Elements so far in each open list but the innermost; the length of the lists at each depth once one has closed.
  int64_t counts[kMaxDimensions + 1];
  int64_t dims[kMaxDimensions + 1];
  int depth = 0;
  int deepest = 0;
  int rank = -1;
  int64_t count = 0;
  int64_t limit = kUnknown;
  const auto fail = [&](Status status, const uint8_t* at) {
    result.status = status;
    result.offset = static_cast<size_t>(at - json);
  };

  const auto open = [&] {
    counts[depth++] = count + 1;
    if (depth > deepest) {
      deepest = depth;
      dims[depth] = kUnknown;
    }
    count = 0;
    limit = dims[depth];
  };
  if (piece.begins_before) open();

  for (;;) {
    // Expects a value.
    p = SkipSpace(p, end);
    if (p >= end) return fail(Status::kSyntax, p);
    const uint8_t* const start = p;
    if (*p == '[') {
      if (depth == kMaxDimensions) return fail(Status::kDepth, start);
      if (depth == rank || count == limit) return fail(Status::kRagged, start);
      open();
      p = SkipSpace(p + 1, end);
      if (p >= end || *p != ']') continue;
    } else {
      NumberToken token;
      Kind kind = kNumber;
      double word = 0;
      if (*p == '"' || *p == '{') return fail(Status::kNotMine, start);
      if (IsWord(*p) || StartsWith(p, end, "-I", 2)) {
        const Word* const found = WordAt(p, end);
        if (found == nullptr) return fail(Status::kSyntax, start);
        kind = found->kind;
        word = found->value;
        p += std::strlen(found->text);
      } else {
        if (!ScanPlain(p, end, token) && !ScanNumber(p, end, token)) return fail(Status::kSyntax, start);
        p = token.end;
      }
      if (depth != rank) {
        if (rank != -1) return fail(Status::kRagged, start);
        rank = depth;
      }
      if (count == limit) return fail(Status::kRagged, start);
      count++;
      // Only when the bytes change meanwhile (shared memory): otherwise each element but the first has a comma before
      // it.
      if (out == out_end) return fail(Status::kGaveUp, start);
      Status status;
      switch (kind) {
        case kNumber:
          status = store.Number(token, out);
          break;
        case kWord:
          status = store.Word(word, out);
          break;
        case kNull:
          status = store.Null(out);
          break;
        default:
          status = store.Bool(word != 0, out);
      }
      if (status != Status::kOk) return fail(status, start);
      out++;
    }

    // After a value: reads closing brackets, and a comma or the end of the text.
    for (;;) {
      p = SkipSpace(p, end);
      if (depth == 0) {
        if (p < end) return fail(Status::kSyntax, p);
        result.status = Status::kOk;
        result.offset = 0;
        result.dtype = store.Found();
        result.count = static_cast<size_t>(out - begin);
        result.rank = rank;
        for (int i = 0; i < rank; i++) result.dims[i] = static_cast<size_t>(dims[i + 1]);
        return;
      }
      // The end of a piece stands for the bracket behind it.
      const bool ends_behind = depth == 1 && piece.ends_behind;
      if (p >= end && !ends_behind) return fail(Status::kSyntax, p);
      if (p < end && *p == ',') {
        p++;
        if (depth != rank || end - p < 2 || IsWord(p[*p == ' '])) break;
        const int64_t room = out_end - out;
        const auto* const first = out;
        p = ReadPlain(p, end, store, out, limit == kUnknown || limit - count > room ? room : limit - count);
        count += out - first;
        if (p[-1] == ',') break;
        continue;
      }
      if (p < end && (*p != ']' || ends_behind)) return fail(Status::kSyntax, p);
      if (limit == kUnknown) {
        dims[depth] = count;
        if (rank == -1) rank = depth;
      } else if (count != limit) {
        return fail(Status::kRagged, p);
      }
      if (p < end) p++;
      depth--;
      count = counts[depth];
      limit = depth == 0 ? kUnknown : dims[depth];
    }
  }
}

}  // namespace

size_t CountElements(const uint8_t* json, size_t length) {
  // Plain code on purpose: compilers vectorize it.
  size_t commas = 0;
  size_t i = 0;
  while (i < length) {
    // Byte-wide partial sums of at most 255 keep the vectors full.
    const size_t block = length - i < 255 * 16 ? length - i : 255 * 16;
    size_t sum = 0;
    for (size_t k = 0; k < block; k++) sum += json[i + k] == ',';
    commas += sum;
    i += block;
  }
  // An element takes a byte and all but the last a comma: a text of commas alone gets no more memory than an array.
  const size_t max = length / 2 + 1;
  return commas + 1 < max ? commas + 1 : max;
}

void ParseNdarray(const uint8_t* json, size_t length, Cast cast, void* out, size_t capacity, ParseResult& result,
                  Piece piece) {
  const auto read = [&](auto zero) {
    using T = decltype(zero);
    Parse(json, length, IntegerStore<T>{cast}, static_cast<T*>(out), capacity, result, piece);
  };
  if (WithInteger(cast.dtype, read)) return;
  switch (cast.dtype) {
    case Dtype::kBool:
      return Parse(json, length, BoolStore{cast.enforced}, static_cast<uint8_t*>(out), capacity, result, piece);
    case Dtype::kFloat16:
      return Parse(json, length, HalfStore{}, static_cast<uint16_t*>(out), capacity, result, piece);
    case Dtype::kFloat32:
      return Parse(json, length, SingleStore{}, static_cast<float*>(out), capacity, result, piece);
    case Dtype::kFloat64:
      return Parse(json, length, FloatStore{}, static_cast<double*>(out), capacity, result, piece);
    default:
      return Parse(json, length, InferringStore{}, static_cast<double*>(out), capacity, result, piece);
  }
}

}  // namespace serving
