package main

import (
	"caller/every"
	"context"
	"fmt"
	"os"
)

func main() {
	client, err := every.NewClientWithResponses(os.Args[1])
	if err != nil {
		panic(err)
	}
	for _, amount := range []int64{2, 0} {
		items := []every.Item{{Name: "tea", Amount: &amount}, {Name: "cup"}}
		answer, err := client.TotalWithResponse(context.Background(), every.TotalJSONRequestBody{Items: items})
		if err != nil {
			panic(err)
		}
		if answer.JSON200 != nil {
			fmt.Println(answer.StatusCode(), answer.JSON200.Total)
		} else {
			problem := answer.ApplicationproblemJSON400
			fmt.Println(answer.StatusCode(), problem.Code, *problem.Reason)
		}
	}
}
