// grpc-go with the greeting of grpc_bench. Arguments: the port.
package main

import (
	"context"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"

	"publicbench/proto/helloworld"
)

type greeter struct {
	helloworld.UnimplementedGreeterServer
}

func (greeter) SayHello(_ context.Context, in *helloworld.HelloRequest) (*helloworld.HelloReply, error) {
	return &helloworld.HelloReply{Response: in.Request}, nil
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	helloworld.RegisterGreeterServer(server, greeter{})
	log.Fatal(server.Serve(listener))
}
