package offline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
)

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// serve starts a fake over the documents and returns it with a real client of it.
func serve(t *testing.T, documents ...[]byte) (*offline.EC2, *ec2.Client, string) {
	t.Helper()
	fake, err := offline.NewEC2(documents...)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	return fake, ec2Client(server.URL), server.URL
}

// ec2Client is a real client of the fake that tries once.
func ec2Client(endpoint string) *ec2.Client {
	return ec2.New(ec2.Options{
		Region:       "eu-west-1",
		BaseEndpoint: aws.String(endpoint),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDOFFLINE", SecretAccessKey: "secret"}, nil
		}),
		RetryMaxAttempts: 1,
	})
}

// catalogue makes n types, t001.large …, every second one arm64.
func catalogue(t *testing.T, n int) []byte {
	t.Helper()
	var output struct{ InstanceTypes []types.InstanceTypeInfo }
	for i := range n {
		architecture := []types.ArchitectureType{types.ArchitectureTypeX8664, types.ArchitectureTypeArm64}[i%2]
		output.InstanceTypes = append(output.InstanceTypes, types.InstanceTypeInfo{
			InstanceType:  types.InstanceType(fmt.Sprintf("t%03d.large", i+1)),
			ProcessorInfo: &types.ProcessorInfo{SupportedArchitectures: []types.ArchitectureType{architecture}},
		})
	}
	data, err := json.Marshal(output)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func names(infos []types.InstanceTypeInfo) []string {
	all := []string{}
	for _, info := range infos {
		all = append(all, string(info.InstanceType))
	}
	slices.Sort(all)
	return all
}

// code is the EC2 error code and message of an error, or "" for none.
func code(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		t.Fatalf("not an error of the API: %v", err)
	}
	return api.ErrorCode() + ": " + api.ErrorMessage()
}

func TestNewEC2RefusesWhatItCannotServe(t *testing.T) {
	for name, test := range map[string]struct {
		documents []string
		want      string
	}{
		"a kubectl dump is not an EC2 answer":    {[]string{`{"kind":"List","items":[]}`}, "document 1: no InstanceTypes"},
		"a file cut off while copying":           {[]string{`{"InstanceTypes":[`}, "document 1: unexpected EOF"},
		"a gzip file cut off":                    {[]string{"\x1f\x8b\x08"}, "document 1: gunzipping"},
		"a type without a name":                  {[]string{`{"InstanceTypes":[{"BareMetal":true}]}`}, "element 1 of InstanceTypes has no InstanceType"},
		"a member that no element can be called": {[]string{`{"InstanceTypes":[{"InstanceType":"a.b","GpuInfo":{"a b":1}}]}`}, `instance type "a.b": "GpuInfo.a b" is not a member`},
		"a member without a name":                {[]string{`{"InstanceTypes":[{"InstanceType":"a.b","":1}]}`}, `instance type "a.b": "" is not a member`},
		"two regions that disagree on a type": {[]string{`{"InstanceTypes":[{"InstanceType":"a.b","BareMetal":true}]}`,
			`{"InstanceTypes":[{"InstanceType":"a.b","BareMetal":false}]}`}, `instance type "a.b" is described twice and differently`},
	} {
		t.Run(name, func(t *testing.T) {
			var documents [][]byte
			for _, d := range test.documents {
				documents = append(documents, []byte(d))
			}
			_, err := offline.NewEC2(documents...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestNewEC2MergesDocuments(t *testing.T) {
	document := readFile(t, "testdata/instance-types.json")
	fake, err := offline.NewEC2(document, document, catalogue(t, 1)) // the same description twice is no conflict
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"i3.metal", "inf1.6xlarge", "m5.large", "m6g.large", "p4d.24xlarge", "t001.large", "t2.nano"}
	if diff := cmp.Diff(want, fake.InstanceTypes()); diff != "" {
		t.Error(diff)
	}
}

func TestPaging(t *testing.T) {
	for name, test := range map[string]struct {
		input ec2.DescribeInstanceTypesInput
		pages []int // types per page
	}{
		// 230 types: 100 + 100 + 30
		"100 a page when the caller does not say": {pages: []int{100, 100, 30}},
		"as many as the caller says":              {ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(90)}, []int{90, 90, 50}},
		"named types are one page":                {ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{"t001.large", "t230.large", "t001.large"}}, []int{2}},
	} {
		t.Run(name, func(t *testing.T) {
			fake, client, _ := serve(t, catalogue(t, 230))
			var pages []int
			seen := map[types.InstanceType]bool{}
			paginator := ec2.NewDescribeInstanceTypesPaginator(client, &test.input)
			for paginator.HasMorePages() {
				page, err := paginator.NextPage(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				pages = append(pages, len(page.InstanceTypes))
				for _, info := range page.InstanceTypes {
					if seen[info.InstanceType] {
						t.Errorf("%s is on two pages", info.InstanceType)
					}
					seen[info.InstanceType] = true
				}
			}
			if diff := cmp.Diff(test.pages, pages); diff != "" {
				t.Error(diff)
			}
			if got := fake.Calls("DescribeInstanceTypes"); got != len(test.pages) {
				t.Errorf("counted %d calls, want %d", got, len(test.pages))
			}
		})
	}
}

func TestFilteredPagesAreCutBeforeTheFilter(t *testing.T) {
	_, client, _ := serve(t, catalogue(t, 230))
	input := &ec2.DescribeInstanceTypesInput{
		MaxResults: aws.Int32(5),
		Filters:    []types.Filter{{Name: aws.String("instance-type"), Values: []string{"t001.large", "t23?.large"}}},
	}
	paginator := ec2.NewDescribeInstanceTypesPaginator(client, input)
	var found []types.InstanceTypeInfo
	pages, empty := 0, 0
	for paginator.HasMorePages() {
		page, err := paginator.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pages++
		if len(page.InstanceTypes) == 0 {
			empty++
		}
		found = append(found, page.InstanceTypes...)
	}
	if diff := cmp.Diff([]string{"t001.large", "t230.large"}, names(found)); diff != "" {
		t.Error(diff)
	}
	if pages != 46 || empty < 44 { // 230 / 5 pages; two types are on two at most
		t.Errorf("%d pages, %d of them empty", pages, empty)
	}
}

func TestPageOrderIsNotNameOrder(t *testing.T) {
	_, client, _ := serve(t, catalogue(t, 100))
	output, err := client.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{})
	if err != nil {
		t.Fatal(err)
	}
	if slices.IsSortedFunc(output.InstanceTypes, func(a, b types.InstanceTypeInfo) int {
		return strings.Compare(string(a.InstanceType), string(b.InstanceType))
	}) {
		t.Error("a client could rely on sorted answers, which EC2 does not give")
	}
}

func TestFilters(t *testing.T) {
	_, client, _ := serve(t, readFile(t, "testdata/instance-types.json"))
	filter := func(name string, values ...string) types.Filter { return types.Filter{Name: &name, Values: values} }
	for name, test := range map[string]struct {
		filters []types.Filter
		want    []string
	}{
		"Karpenter's own listing": {[]types.Filter{filter("supported-virtualization-type", "hvm"), filter("processor-info.supported-architecture", "x86_64", "arm64")},
			[]string{"i3.metal", "inf1.6xlarge", "m5.large", "m6g.large", "p4d.24xlarge", "t2.nano"}},
		"values are alternatives":           {[]types.Filter{filter("instance-type", "m5.large", "t2.nano")}, []string{"m5.large", "t2.nano"}},
		"filters are conditions":            {[]types.Filter{filter("hypervisor", "nitro"), filter("processor-info.supported-architecture", "arm64")}, []string{"m6g.large"}},
		"any element of a list":             {[]types.Filter{filter("processor-info.supported-architecture", "i386")}, []string{"t2.nano"}},
		"wildcards":                         {[]types.Filter{filter("instance-type", "m?.*")}, []string{"m5.large"}},
		"a literal star":                    {[]types.Filter{filter("instance-type", `m\*`)}, []string{}},
		"values are case-sensitive":         {[]types.Filter{filter("hypervisor", "Nitro")}, []string{}},
		"booleans":                          {[]types.Filter{filter("bare-metal", "true")}, []string{"i3.metal"}},
		"a member that only some have":      {[]types.Filter{filter("free-tier-eligible", "false")}, []string{"m5.large", "t2.nano"}},
		"numbers":                           {[]types.Filter{filter("memory-info.size-in-mib", "8192", "512")}, []string{"m5.large", "m6g.large", "t2.nano"}},
		"fractions":                         {[]types.Filter{filter("processor-info.sustained-clock-speed-in-ghz", "2.5")}, []string{"m6g.large"}},
		"inside a list of structures":       {[]types.Filter{filter("instance-storage-info.disk.count", "8")}, []string{"i3.metal"}},
		"current generation, usage, no hit": {[]types.Filter{filter("current-generation", "true"), filter("supported-usage-class", "capacity-block")}, []string{"p4d.24xlarge"}},
	} {
		t.Run(name, func(t *testing.T) {
			output, err := client.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{Filters: test.filters})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, names(output.InstanceTypes)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	_, client, _ := serve(t, catalogue(t, 120))
	firstPage, err := client.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(5)})
	if err != nil {
		t.Fatal(err)
	}
	many := func(n int) (all []types.InstanceType) {
		for i := range n {
			all = append(all, types.InstanceType(fmt.Sprintf("t%03d.large", i+1)))
		}
		return all
	}
	filter := func(name string, values ...string) []types.Filter {
		return []types.Filter{{Name: &name, Values: values}}
	}
	for name, test := range map[string]struct {
		input ec2.DescribeInstanceTypesInput
		want  string
	}{
		"retired types are named in the order asked": {ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{"z9.large", "t001.large", "a9.large"}},
			"InvalidInstanceType: The following supplied instance types do not exist: [z9.large, a9.large]"},
		"a hundred types at most":         {ec2.DescribeInstanceTypesInput{InstanceTypes: many(101)}, "InvalidParameterValue: The number of instance types (101) exceeds the maximum of 100"},
		"a page of four":                  {ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(4)}, "InvalidParameterValue: Value ( 4 ) for parameter maxResults is invalid. Expecting a value greater than 5."},
		"a page of 101":                   {ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(101)}, "InvalidParameterValue: Value ( 101 ) for parameter maxResults is invalid. Expecting a value less than 100."},
		"a page size beside names":        {ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(5), InstanceTypes: many(1)}, "InvalidParameterCombination: The parameter instanceTypes cannot be used with the parameter maxResults"},
		"a filter EC2 does not have":      {ec2.DescribeInstanceTypesInput{Filters: filter("gpu-info.gpus.count", "1")}, "InvalidParameterValue: The filter 'gpu-info.gpus.count' is invalid"},
		"filter names are case-sensitive": {ec2.DescribeInstanceTypesInput{Filters: filter("Hypervisor", "nitro")}, "InvalidParameterValue: The filter 'Hypervisor' is invalid"},
		"a filter without a name":         {ec2.DescribeInstanceTypesInput{Filters: []types.Filter{{Values: []string{"x"}}}}, "InvalidParameterValue: The filter 'null' is invalid"},
		"a filter without values":         {ec2.DescribeInstanceTypesInput{Filters: filter("hypervisor")}, "MissingParameter: The request must contain the parameter Filter.1.Value"},
		"two hundred filter values":       {ec2.DescribeInstanceTypesInput{Filters: filter("instance-type", slices.Repeat([]string{"x"}, 201)...)}, "FilterLimitExceeded: The maximum number of filter values specified on a single call is 200"},
		"a token of its own making":       {ec2.DescribeInstanceTypesInput{NextToken: aws.String("page2")}, "InvalidParameterValue: Unable to parse pagination token"},
		"a token of another query":        {ec2.DescribeInstanceTypesInput{NextToken: firstPage.NextToken, Filters: filter("hypervisor", "nitro")}, "InvalidParameterValue: Unable to parse pagination token"},
		"a dry run":                       {ec2.DescribeInstanceTypesInput{DryRun: aws.Bool(true)}, "DryRunOperation: Request would have succeeded, but DryRun flag is set."},
		"a dry run of a wrong call":       {ec2.DescribeInstanceTypesInput{DryRun: aws.Bool(true), MaxResults: aws.Int32(4)}, "InvalidParameterValue: Value ( 4 ) for parameter maxResults is invalid. Expecting a value greater than 5."},
		"no dry run":                      {ec2.DescribeInstanceTypesInput{DryRun: aws.Bool(false), IncludeUnsupportedInRegion: aws.Bool(false)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.DescribeInstanceTypes(t.Context(), &test.input)
			if got := code(t, err); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestAnotherActionIsAnErrorThatNamesIt(t *testing.T) {
	fake, client, _ := serve(t, catalogue(t, 1))
	_, err := client.DescribeImages(t.Context(), &ec2.DescribeImagesInput{})
	if got, want := code(t, err), "InvalidAction: The action DescribeImages is not valid for this web service."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if fake.Calls("DescribeImages") != 1 || fake.Calls("DescribeInstanceTypes") != 0 {
		t.Errorf("the call is not counted under its action: %v", fake.Requests())
	}
}

func TestProtocol(t *testing.T) {
	_, _, endpoint := serve(t, catalogue(t, 1))
	const signature = "AWS4-HMAC-SHA256 Credential=AKIDOFFLINE/20260131/eu-west-1/ec2/aws4_request, SignedHeaders=host, Signature=0"
	const call = "Action=DescribeInstanceTypes&Version=2016-11-15"
	for name, test := range map[string]struct {
		method, path, query, form, authorization string
		status                                   int
		want                                     string
	}{
		"a POSTed form":             {"POST", "/", "", call, signature, 200, "<instanceType>t001.large</instanceType>"},
		"a GET with a query":        {"GET", "/", call, "", signature, 200, "<instanceType>t001.large</instanceType>"},
		"a presigned GET":           {"GET", "/", call + "&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKID%2F20260131%2Feu-west-1%2Fec2%2Faws4_request", "", "", 200, "<instanceType>t001.large</instanceType>"},
		"not signed":                {"POST", "/", "", call, "", 400, "<Code>MissingParameter</Code><Message>The request must contain the parameter AWSAccessKeyId</Message>"},
		"signed for S3":             {"POST", "/", "", call, strings.ReplaceAll(signature, "/ec2/", "/s3/"), 400, "<Code>MissingParameter</Code>"},
		"no action":                 {"POST", "/", "", "Version=2016-11-15", signature, 400, "<Code>MissingAction</Code>"},
		"another API version":       {"POST", "/", "", "Action=DescribeInstanceTypes&Version=2014-10-01", signature, 400, "<Code>NoSuchVersion</Code>"},
		"a parameter it lacks":      {"POST", "/", "", call + "&Owner.1=self", signature, 400, "The parameter Owner.1 is not recognized"},
		"a type that is no name":    {"POST", "/", "", call + "&InstanceType.1.Name=x", signature, 400, "The parameter InstanceType.1.Name is not recognized"},
		"a list that is no list":    {"POST", "/", "", call + "&InstanceType=x", signature, 400, "The parameter InstanceType is not recognized"},
		"a filter's third member":   {"POST", "/", "", call + "&Filter.1.Operator=eq", signature, 400, "The parameter Filter.1.Operator is not recognized"},
		"a flag that is no boolean": {"POST", "/", "", call + "&DryRun=maybe", signature, 400, "Value (maybe) for parameter DryRun is invalid"},
		"markup in a parameter":     {"POST", "/", "", call + "&InstanceType.1=" + url.QueryEscape("<a&b>"), signature, 400, "[&lt;a&amp;b&gt;]"},
		"an undecodable form":       {"POST", "/", "", call + "&InstanceType.1=%zz", signature, 400, "<Code>MalformedQueryString</Code>"},
		"another path":              {"GET", "/latest/meta-data", call, "", signature, 404, "not found"},
		"another method":            {"PUT", "/", call, "", signature, 405, "GET and POST"},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), test.method, endpoint+test.path+"?"+test.query, strings.NewReader(test.form))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			if test.authorization != "" {
				request.Header.Set("Authorization", test.authorization)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != test.status || !strings.Contains(string(body), test.want) {
				t.Errorf("got %d %s\nwant %d with %s", response.StatusCode, body, test.status, test.want)
			}
		})
	}
}

func TestRequestsAreRecorded(t *testing.T) {
	fake, client, _ := serve(t, catalogue(t, 2))
	for _, input := range []*ec2.DescribeInstanceTypesInput{
		{InstanceTypes: []types.InstanceType{"t002.large"}},
		{MaxResults: aws.Int32(7)},
	} {
		if _, err := client.DescribeInstanceTypes(t.Context(), input); err != nil {
			t.Fatal(err)
		}
	}
	want := []offline.Request{
		{Action: "DescribeInstanceTypes", Number: 1, Region: "eu-west-1", Parameters: url.Values{"InstanceType.1": {"t002.large"}}},
		{Action: "DescribeInstanceTypes", Number: 2, Region: "eu-west-1", Parameters: url.Values{"MaxResults": {"7"}}},
	}
	if diff := cmp.Diff(want, fake.Requests()); diff != "" {
		t.Error(diff)
	}
}
