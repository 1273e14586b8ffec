#include "jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

// These need FILE and size_t declared before them.
#include <jerror.h>
#include <jpeglib.h>

#ifndef LIBJPEG_TURBO_VERSION
#error "other libraries of this interface round differently"
#endif

namespace serving {
namespace {

// More scans than any encoder writes. A file of a few kilobytes can hold thousands, each of which walks the whole
// picture.
constexpr int kMaxScans = 100;

// State of a call, which the library's callbacks find through client_data. A function that may longjmp must not have
// objects with destructors.
struct Session {
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  std::jmp_buf failed;
  char* failure;
  const StopFlag* stop;
};

[[noreturn]] void Fail(Session* session, const char* reason) {
  std::snprintf(session->failure, kFailureLength, "%s", reason);
  std::longjmp(session->failed, 1);
}

Session* SessionOf(j_common_ptr codec) { return static_cast<Session*>(codec->client_data); }

[[noreturn]] void OnError(j_common_ptr codec) {
  char text[JMSG_LENGTH_MAX];
  codec->err->format_message(codec, text);
  Fail(SessionOf(codec), text);
}

// A warning is damage that the library repairs and Pillow accepts. Only data that ends early is refused: the rest of
// the picture would be grey.
void OnMessage(j_common_ptr codec, int level) {
  if (level < 0 && codec->err->msg_code == JWRN_JPEG_EOF) Fail(SessionOf(codec), "the data ends before the picture");
}

void OnText(j_common_ptr) {}

void OnProgress(j_common_ptr codec) {
  Session* const session = SessionOf(codec);
  if (session->stop->load(std::memory_order_relaxed) != 0) Fail(session, "given up");
  if (codec->is_decompressor && reinterpret_cast<j_decompress_ptr>(codec)->input_scan_number > kMaxScans) {
    Fail(session, "the picture has too many scans");
  }
}

jpeg_error_mgr* Prepare(Session& session, const StopFlag& stop, char* failure) {
  session.failure = failure;
  session.stop = &stop;
  session.progress.progress_monitor = OnProgress;
  jpeg_std_error(&session.errors);
  session.errors.error_exit = OnError;
  session.errors.emit_message = OnMessage;
  session.errors.output_message = OnText;
  return &session.errors;
}

// Destination of encoded bytes. The caller owns the memory at all times, even after a failure.
struct Target {
  jpeg_destination_mgr base;
  Output* out;
  size_t room;
};

void Grow(j_compress_ptr codec, size_t room) {
  Target* const target = reinterpret_cast<Target*>(codec->dest);
  const size_t used = target->room;
  void* const larger = std::realloc(target->out->data, room);
  if (larger == nullptr) Fail(SessionOf(reinterpret_cast<j_common_ptr>(codec)), "no memory");
  target->out->data = static_cast<uint8_t*>(larger);
  target->room = room;
  target->base.next_output_byte = target->out->data + used;
  target->base.free_in_buffer = room - used;
}

void OnStart(j_compress_ptr codec) { Grow(codec, 65536); }

boolean OnFull(j_compress_ptr codec) {
  Grow(codec, 2 * reinterpret_cast<Target*>(codec->dest)->room);
  return TRUE;
}

void OnEnd(j_compress_ptr codec) {
  Target* const target = reinterpret_cast<Target*>(codec->dest);
  target->out->length = target->room - target->base.free_in_buffer;
}

J_COLOR_SPACE OutputOf(uint32_t channels) {
  if (channels == 4) return JCS_CMYK;
  return channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
}

}  // namespace

void DecodeJpeg(const uint8_t* bytes, size_t length, const Picture& picture, uint32_t denominator,
                const RowTarget& target, const StopFlag& stop, char* failure) {
  Session session{};
  jpeg_decompress_struct codec{};
  codec.err = Prepare(session, stop, failure);
  codec.client_data = &session;
  if (setjmp(session.failed) != 0) {
    jpeg_destroy_decompress(&codec);
    return;
  }
  jpeg_create_decompress(&codec);
  codec.progress = &session.progress;
  jpeg_mem_src(&codec, const_cast<uint8_t*>(bytes), static_cast<unsigned long>(length));
  jpeg_read_header(&codec, TRUE);
  // The size was checked against the limit, and memory was allocated, from what another parser of the header found.
  if (codec.image_width != picture.width || codec.image_height != picture.height ||
      static_cast<uint32_t>(codec.num_components) != picture.channels) {
    Fail(&session, "the frame header contradicts itself");
  }
  codec.out_color_space = OutputOf(picture.channels);
  codec.scale_num = 1;
  codec.scale_denom = denominator;
  jpeg_start_decompress(&codec);
  if (codec.output_width != ScaledSide(picture.width, denominator) ||
      codec.output_height != ScaledSide(picture.height, denominator)) {
    Fail(&session, "the library scales to another size");
  }
  const size_t row = size_t{codec.output_width} * picture.channels;
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW to = target.pixels == nullptr ? target.row : target.pixels + row * codec.output_scanline;
    jpeg_read_scanlines(&codec, &to, 1);
    // Inks are stored inverted, as Adobe does it; Pillow assumes so, too.
    if (picture.channels == 4) std::transform(to, to + row, to, [](JSAMPLE ink) { return 255 - ink; });
    if (target.pixels == nullptr) target.resampler->Push(to);
  }
  jpeg_finish_decompress(&codec);
  jpeg_destroy_decompress(&codec);
}

void EncodeJpeg(const uint8_t* pixels, const Picture& picture, int quality, Output& out, const StopFlag& stop,
                char* failure) {
  Session session{};
  Target target{};
  jpeg_compress_struct codec{};
  codec.err = Prepare(session, stop, failure);
  codec.client_data = &session;
  if (setjmp(session.failed) != 0) {
    jpeg_destroy_compress(&codec);
    return;
  }
  jpeg_create_compress(&codec);
  codec.progress = &session.progress;
  target.base.init_destination = OnStart;
  target.base.empty_output_buffer = OnFull;
  target.base.term_destination = OnEnd;
  target.out = &out;
  codec.dest = &target.base;
  codec.image_width = picture.width;
  codec.image_height = picture.height;
  codec.input_components = static_cast<int>(picture.channels);
  codec.in_color_space = picture.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, quality, TRUE);
  jpeg_start_compress(&codec, TRUE);
  const size_t row = size_t{picture.width} * picture.channels;
  while (codec.next_scanline < codec.image_height) {
    JSAMPROW source = const_cast<uint8_t*>(pixels) + row * codec.next_scanline;
    jpeg_write_scanlines(&codec, &source, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
}

#define SERVING_TEXT(value) #value
#define SERVING_TEXT_OF(value) SERVING_TEXT(value)

const char* JpegLibrary() { return "libjpeg-turbo " SERVING_TEXT_OF(LIBJPEG_TURBO_VERSION); }

}  // namespace serving
