package main

import (
	"caller/every"
	"context"
	"fmt"
	"os"
)

func main() {
	client, err := every.NewClient(os.Args[1])
	if err != nil {
		panic(err)
	}
	for _, amount := range []int64{2, 0} {
		items := []every.Item{{Name: "tea", Amount: every.NewOptInt64(amount)}, {Name: "cup"}}
		answer, err := client.Total(context.Background(), &every.TotalReq{Items: items})
		if err != nil {
			panic(err)
		}
		switch result := answer.(type) {
		case *every.TotalOK:
			fmt.Println(200, result.Total)
		case *every.TotalBadRequest:
			fmt.Println(result.Status, result.Code, result.Reason.Value)
		}
	}
}
