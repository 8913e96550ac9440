package offline_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
)

func ExampleNewEC2() {
	fake, err := offline.NewEC2([]byte(`{"InstanceTypes": [{"InstanceType": "m5.large", "MemoryInfo": {"SizeInMiB": 8192}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(fake)
	defer server.Close()
	fake.Inject(offline.RequestLimitExceeded()) // the first call only

	client := ec2Client(server.URL) // a plain client of aws-sdk-go-v2 with BaseEndpoint
	for range 2 {
		output, err := client.DescribeInstanceTypes(context.Background(), &ec2.DescribeInstanceTypesInput{})
		if err != nil {
			fmt.Println("failed")
			continue
		}
		fmt.Println(output.InstanceTypes[0].InstanceType, *output.InstanceTypes[0].MemoryInfo.SizeInMiB)
	}
	fmt.Println(fake.Calls("DescribeInstanceTypes"), "calls")
	// Output:
	// failed
	// m5.large 8192
	// 2 calls
}
