//! tonic on one thread, with the greeting of grpc_bench. Arguments: the port.
use greeting::greeter_server::{Greeter, GreeterServer};
use greeting::{HelloReply, HelloRequest};
use tonic::{transport::Server, Request, Response, Status};

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod greeting {
    tonic::include_proto!("helloworld");
}

struct Echo;

#[tonic::async_trait]
impl Greeter for Echo {
    async fn say_hello(&self, request: Request<HelloRequest>) -> Result<Response<HelloReply>, Status> {
        let response = request.into_inner().request;
        Ok(Response::new(HelloReply { response }))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).expect("expected a port");
    let server = Server::builder().tcp_nodelay(true).add_service(GreeterServer::new(Echo));
    Ok(server.serve(format!("127.0.0.1:{port}").parse()?).await?)
}
