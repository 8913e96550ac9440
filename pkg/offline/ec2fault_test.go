package offline_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
)

// Each fault as the real client sees it, and that the next call is answered well.
func TestFaults(t *testing.T) {
	for name, test := range map[string]struct {
		fault offline.Fault
		want  string // in the client's error
	}{
		"throttled":            {offline.RequestLimitExceeded(), "StatusCode: 503, RequestID: 0ff11e00-ec20-4000-8000-000000000000, api error RequestLimitExceeded: Request limit exceeded."},
		"not allowed: who":     {offline.UnauthorizedOperation("111122223333", "ci"), "api error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/ci/"},
		"not allowed: what":    {offline.UnauthorizedOperation("111122223333", "ci"), "not authorized to perform: ec2:DescribeInstanceTypes"},
		"not allowed: blob":    {offline.UnauthorizedOperation("111122223333", "ci"), "Encoded authorization failure message: Zk3vQx-"},
		"session ran out":      {offline.ExpiredToken(), "api error ExpiredToken"},
		"session ran out, EC2": {offline.RequestExpired(), "api error RequestExpired"},
		"unknown credentials":  {offline.AuthFailure(), "StatusCode: 401"},
		"retired type":         {offline.InvalidInstanceType("a1.medium"), "api error InvalidInstanceType: The following supplied instance types do not exist: [a1.medium]"},
		"EC2 broken":           {offline.InternalError(), "StatusCode: 500"},
		"any other error":      {offline.Error(http.StatusBadGateway, "Unavailable", "try later"), "api error Unavailable: try later"},
		"answer cut off":       {offline.CutOff(), "unexpected EOF"},
		"answer not XML":       {offline.MalformedXML(), "XML syntax error"},
		"connection reset":     {offline.ConnectionReset(), "connection reset by peer"},
	} {
		t.Run(name, func(t *testing.T) {
			fake, client, _ := serve(t, catalogue(t, 3))
			fake.Inject(test.fault)
			_, err := client.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			output, err := client.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{})
			if err != nil || len(output.InstanceTypes) != 3 {
				t.Errorf("the fault outlived its request: %v", err)
			}
			if got := fake.Calls("DescribeInstanceTypes"); got != 2 {
				t.Errorf("counted %d calls, want 2: a failed call is a call", got)
			}
		})
	}
}

func TestThrottledThreeTimesThenGood(t *testing.T) {
	fake, client, _ := serve(t, catalogue(t, 3))
	fake.Inject(slices.Repeat([]offline.Fault{offline.RequestLimitExceeded()}, 3)...)
	output, err := client.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{}, impatient(4))
	if err != nil || len(output.InstanceTypes) != 3 {
		t.Errorf("got %v", err)
	}
	if got := fake.Calls("DescribeInstanceTypes"); got != 4 {
		t.Errorf("%d calls, want 3 throttled and 1 good", got)
	}
}

func TestThrottledForEver(t *testing.T) {
	fake, client, _ := serve(t, catalogue(t, 3))
	fake.InjectWhen(func(offline.Request) offline.Fault { return offline.RequestLimitExceeded() })
	_, err := client.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{}, impatient(4))
	if err == nil || !strings.Contains(err.Error(), "exceeded maximum number of attempts, 4") {
		t.Errorf("got %v", err)
	}
	fake.InjectWhen(nil)
	if _, err := client.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{}); err != nil {
		t.Errorf("not healed: %v", err)
	}
}

// impatient retries without waiting.
func impatient(attempts int) func(*ec2.Options) {
	return func(o *ec2.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = attempts
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}
}

func TestInjectedFaultsComeBeforeChosenOnes(t *testing.T) {
	fake, client, _ := serve(t, catalogue(t, 3))
	fake.InjectWhen(func(r offline.Request) offline.Fault {
		if r.Parameters.Get("InstanceType.1") == "t002.large" || r.Number == 4 {
			return offline.InternalError()
		}
		return nil
	})
	fake.Inject(nil, offline.AuthFailure()) // lets the first through, fails the second
	var got []string
	for _, name := range []types.InstanceType{"t002.large", "t001.large", "t002.large", "t001.large", "t001.large"} {
		_, err := client.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{name}})
		failure, _, _ := strings.Cut(code(t, err), ":")
		got = append(got, failure)
	}
	if diff := cmp.Diff([]string{"", "AuthFailure", "InternalError", "InternalError", ""}, got); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyFirstPageHasANextOne(t *testing.T) {
	for name, input := range map[string]ec2.DescribeInstanceTypesInput{
		"the whole catalogue": {},
		"pages of five":       {MaxResults: aws.Int32(5)},
		"named types":         {InstanceTypes: []types.InstanceType{"t001.large", "t002.large", "t003.large"}},
	} {
		t.Run(name, func(t *testing.T) {
			fake, client, _ := serve(t, catalogue(t, 3))
			fake.InjectWhen(func(offline.Request) offline.Fault { return offline.EmptyFirstPage() })
			paginator := ec2.NewDescribeInstanceTypesPaginator(client, &input)
			var pages []int
			for paginator.HasMorePages() {
				page, err := paginator.NextPage(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				pages = append(pages, len(page.InstanceTypes))
			}
			if diff := cmp.Diff([]int{0, 3}, pages); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEmptyFirstPageDoesNotHideAWrongCall(t *testing.T) {
	fake, client, _ := serve(t, catalogue(t, 3))
	fake.Inject(offline.EmptyFirstPage())
	_, err := client.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(1)})
	if !strings.HasPrefix(code(t, err), "InvalidParameterValue") {
		t.Errorf("got %v", err)
	}
}

func TestSlow(t *testing.T) {
	fake, client, _ := serve(t, catalogue(t, 3))
	fake.Inject(offline.Slow(time.Hour), offline.Slow(time.Millisecond))

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := client.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the caller's deadline", err)
	}
	output, err := client.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{})
	if err != nil || len(output.InstanceTypes) != 3 {
		t.Errorf("slow is not an answer lost: %v", err)
	}
}
