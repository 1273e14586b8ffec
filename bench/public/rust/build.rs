//! Compiles the messages of grpc_bench, whose folder GREETER names; needs protoc.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::var("GREETER")?;
    let file = format!("{folder}/helloworld.proto");
    tonic_prost_build::configure().compile_protos(&[file], &[folder])?;
    Ok(())
}
