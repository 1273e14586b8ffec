package main

import (
	"caller/every"
	"context"
	"errors"
	"fmt"
	"os"
)

func main() {
	configuration := every.NewConfiguration()
	configuration.Servers = every.ServerConfigurations{{URL: os.Args[1]}}
	client := every.NewAPIClient(configuration)
	for _, amount := range []int64{2, 0} {
		tea, cup := every.NewItem("tea"), every.NewItem("cup")
		tea.SetAmount(amount)
		order := every.NewTotalRequest([]every.Item{*tea, *cup})
		answer, response, err := client.EveryDescriptorAPI.Total(context.Background()).TotalRequest(*order).Execute()
		var refused *every.GenericOpenAPIError
		if errors.As(err, &refused) {
			problem := refused.Model().(every.Total400Response)
			fmt.Println(response.StatusCode, problem.Code, *problem.Reason)
		} else if err != nil {
			panic(err)
		} else {
			fmt.Println(response.StatusCode, answer.Total)
		}
	}
}
