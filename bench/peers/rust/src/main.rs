//! A server of axum on one tokio thread, with sonic-rs, ndarray, Polars, zune-jpeg, fast_image_resize and mimalloc, as
//! a performance engineer would write it: `cargo build --release --locked && target/release/server PORT`.
use std::io::Cursor;

use axum::{
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, Multipart},
    http::{header::CONTENT_TYPE, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
    Router,
};
use fast_image_resize as fir;
use ndarray::{Array1, Array2};
use polars::prelude::*;
use serde::{Deserialize, Serialize};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const MAX_BODY: usize = 64 << 20;

/// An error, answered as 400 with its text.
struct Refusal(String);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (StatusCode::BAD_REQUEST, self.0).into_response()
    }
}

impl<E: std::fmt::Display> From<E> for Refusal {
    fn from(error: E) -> Self {
        Refusal(error.to_string())
    }
}

type Answer = Result<Response, Refusal>;

fn answer(content_type: &'static str, body: impl Into<Body>) -> Answer {
    Ok(([(CONTENT_TYPE, content_type)], body.into()).into_response())
}

fn json(value: &impl Serialize) -> Answer {
    answer("application/json", sonic_rs::to_vec(value)?)
}

async fn echo_array(body: Bytes) -> Answer {
    let rows: Vec<Vec<f64>> = sonic_rs::from_slice(&body)?;
    let shape = (rows.len(), rows.first().map_or(0, Vec::len));
    if rows.iter().any(|row| row.len() != shape.1) {
        return Err(Refusal("expected rows of one length".into()));
    }
    let array = Array2::from_shape_vec(shape, rows.into_iter().flatten().collect())?;
    let lists: Vec<&[f64]> = array.rows().into_iter().map(|row| row.to_slice().unwrap_or(&[])).collect();
    json(&lists)
}

async fn echo_series(body: Bytes) -> Answer {
    let values: Vec<f64> = sonic_rs::from_slice(&body)?;
    json(&Array1::from_vec(values).as_slice().unwrap_or(&[]))
}

async fn echo_json(body: Bytes) -> Answer {
    let value: sonic_rs::Value = sonic_rs::from_slice(&body)?;
    json(&value)
}

async fn echo_frame(body: Bytes) -> Answer {
    let mut frame = JsonReader::new(Cursor::new(body)).finish()?;
    let mut text = Vec::new();
    JsonWriter::new(&mut text).with_json_format(JsonFormat::Json).finish(&mut frame)?;
    answer("application/json", text)
}

async fn echo_csv(body: Bytes) -> Answer {
    let mut frame = CsvReadOptions::default().into_reader_with_file_handle(Cursor::new(body)).finish()?;
    let mut text = Vec::new();
    CsvWriter::new(&mut text).finish(&mut frame)?;
    answer("text/csv", text)
}

async fn echo_parquet(body: Bytes) -> Answer {
    let mut frame = ParquetReader::new(Cursor::new(body)).finish()?;
    let mut file = Vec::new();
    ParquetWriter::new(&mut file).with_compression(ParquetCompression::Snappy).finish(&mut frame)?;
    answer("application/octet-stream", file)
}

async fn echo_text(body: String) -> Answer {
    answer("text/plain; charset=utf-8", body)
}

async fn stream(body: Bytes) -> Answer {
    let pieces = futures::stream::iter((0..100).map(move |_| Ok::<_, std::convert::Infallible>(body.clone())));
    answer("text/plain; charset=utf-8", Body::from_stream(pieces))
}

async fn echo_file(body: Bytes) -> Answer {
    answer("application/octet-stream", body)
}

async fn mean(body: Bytes) -> Answer {
    let pixels = zune_jpeg::JpegDecoder::new(&body[..]).decode().map_err(|error| Refusal(format!("{error:?}")))?;
    let sum: u64 = pixels.iter().map(|&level| u64::from(level)).sum();
    json(&(sum as f64 / pixels.len() as f64))
}

const SIDE: usize = 224;
const IMAGENET_MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const IMAGENET_STD: [f32; 3] = [0.229, 0.224, 0.225];

/// The input of an image model: the middle square, resized with antialias, normalised, a plane for each channel.
fn to_tensor(jpeg: &[u8]) -> Result<Vec<f32>, Refusal> {
    let mut decoder = zune_jpeg::JpegDecoder::new(jpeg);
    let pixels = decoder.decode().map_err(|error| Refusal(format!("{error:?}")))?;
    let (width, height) = decoder.dimensions().ok_or(Refusal("expected a size".into()))?;
    let picture = fir::images::Image::from_vec_u8(width as u32, height as u32, pixels, fir::PixelType::U8x3)?;
    let mut small = fir::images::Image::new(SIDE as u32, SIDE as u32, fir::PixelType::U8x3);
    let bilinear = fir::ResizeAlg::Convolution(fir::FilterType::Bilinear);
    let options = fir::ResizeOptions::new().resize_alg(bilinear).fit_into_destination(None);
    fir::Resizer::new().resize(&picture, &mut small, &options)?;
    let mut tensor = vec![0f32; 3 * SIDE * SIDE];
    for (channel, plane) in tensor.chunks_exact_mut(SIDE * SIDE).enumerate() {
        let (scale, shift) = (1.0 / (255.0 * IMAGENET_STD[channel]), IMAGENET_MEAN[channel] / IMAGENET_STD[channel]);
        for (value, pixel) in plane.iter_mut().zip(small.buffer().chunks_exact(3)) {
            *value = f32::from(pixel[channel]) * scale - shift;
        }
    }
    Ok(tensor)
}

async fn tensor(body: Bytes) -> Answer {
    let values = to_tensor(&body)?;
    let mean = |plane: &[f32]| plane.iter().map(|&value| f64::from(value)).sum::<f64>() / plane.len() as f64;
    json(&values.chunks_exact(SIDE * SIDE).map(mean).collect::<Vec<_>>())
}

#[derive(Deserialize)]
struct Meta {
    x: i64,
}

#[derive(Serialize)]
struct Form {
    sum: f64,
    x: i64,
    size: usize,
}

async fn form(mut parts: Multipart) -> Answer {
    let mut found = Form { sum: 0.0, x: 0, size: 0 };
    while let Some(part) = parts.next_field().await? {
        let name = part.name().unwrap_or_default().to_owned();
        let content = part.bytes().await?;
        match name.as_str() {
            "arr" => found.sum = sonic_rs::from_slice::<Vec<f64>>(&content)?.iter().sum(),
            "meta" => found.x = sonic_rs::from_slice::<Meta>(&content)?.x,
            "file" => found.size = content.len(),
            _ => {}
        }
    }
    json(&found)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let port = std::env::args().nth(1).expect("a port");
    let app = Router::new()
        .route("/ndarray", post(echo_array))
        .route("/series", post(echo_series))
        .route("/json", post(echo_json))
        .route("/frame", post(echo_frame))
        .route("/csv", post(echo_csv))
        .route("/parquet", post(echo_parquet))
        .route("/text", post(echo_text))
        .route("/stream", post(stream))
        .route("/file", post(echo_file))
        .route("/mean", post(mean))
        .route("/tensor", post(tensor))
        .route("/form", post(form))
        .route("/healthz", get(|| async { "ok" }))
        .layer(DefaultBodyLimit::max(MAX_BODY));
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await.expect("the port");
    axum::serve(listener, app).await.expect("a server");
}
