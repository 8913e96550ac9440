package offline_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sameInfo ignores only the marker that every type of the SDK embeds.
var sameInfo = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".noSmithyDocumentSerde" }, cmp.Ignore()),
	cmpopts.EquateEmpty(), // an empty list is an empty element, which the SDK reads as an empty or as no list
}

// decode reads a document as the SDK's own type; a member that the SDK does not know is an error.
func decode(t *testing.T, document []byte) []types.InstanceTypeInfo {
	t.Helper()
	if bytes.HasPrefix(document, []byte{0x1f, 0x8b}) {
		reader, err := gzip.NewReader(bytes.NewReader(document))
		if err != nil {
			t.Fatal(err)
		}
		if document, err = io.ReadAll(reader); err != nil {
			t.Fatal(err)
		}
	}
	var output struct{ InstanceTypes []types.InstanceTypeInfo }
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&output); err != nil {
		t.Fatal(err)
	}
	return output.InstanceTypes
}

// assertRoundTrip serves the document and compares every field that the real SDK client reads with the document.
func assertRoundTrip(t *testing.T, document []byte) {
	t.Helper()
	_, client, _ := serve(t, document)
	got := map[types.InstanceType]types.InstanceTypeInfo{}
	paginator := ec2.NewDescribeInstanceTypesPaginator(client, &ec2.DescribeInstanceTypesInput{})
	for paginator.HasMorePages() {
		page, err := paginator.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range page.InstanceTypes {
			got[info.InstanceType] = info
		}
	}
	want := decode(t, document)
	if len(want) == 0 || len(got) != len(want) {
		t.Errorf("got %d types, want %d", len(got), len(want))
	}
	for _, info := range want {
		if diff := cmp.Diff(info, got[info.InstanceType], sameInfo); diff != "" {
			t.Errorf("%s (-document +client):\n%s", info.InstanceType, diff)
		}
	}
}

func TestInstanceTypesSurviveTheWire(t *testing.T) {
	assertRoundTrip(t, readFile(t, "testdata/instance-types.json"))
}

// Every member that the SDK knows, with a value that no other member has: a wrong element name loses one.
func TestEveryMemberSurvivesTheWire(t *testing.T) {
	var info types.InstanceTypeInfo
	members := fill(reflect.ValueOf(&info).Elem(), new(int))
	if members < 80 {
		t.Fatalf("filled %d members only", members)
	}
	document, err := json.Marshal(struct{ InstanceTypes []types.InstanceTypeInfo }{[]types.InstanceTypeInfo{info}})
	if err != nil {
		t.Fatal(err)
	}
	assertRoundTrip(t, document)
}

// fill sets every exported field below v to a value of its own, lists to two elements, and counts them.
func fill(v reflect.Value, next *int) (filled int) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fill(v.Elem(), next)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		return fill(v.Index(0), next) + fill(v.Index(1), next)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				filled += fill(v.Field(i), next)
			}
		}
		return filled
	}
	*next++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d <&>", *next))
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(*next))
	case reflect.Float64:
		v.SetFloat(float64(*next) + 0.125)
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("a kind that EC2 has not used before: " + v.Kind().String())
	}
	return 1
}

func TestWholeCatalogueSurvivesTheWire(t *testing.T) {
	folder := os.Getenv("INSTANCE_TYPE_DATA")
	if folder == "" {
		t.Skip("INSTANCE_TYPE_DATA is unset: fill a folder with the output of aws ec2 describe-instance-types")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json*"))
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, file := range files {
		if !strings.Contains(filepath.Base(file), "instance-types") {
			continue
		}
		read++
		t.Run(filepath.Base(file), func(t *testing.T) { assertRoundTrip(t, readFile(t, file)) })
	}
	if read == 0 {
		t.Errorf("no *instance-types*.json in INSTANCE_TYPE_DATA")
	}
}

// The SDK matches element names whatever their case, the AWS CLI does not.
func TestTheAWSCLIReadsWhatItPrinted(t *testing.T) {
	aws, err := exec.LookPath("aws")
	if err != nil {
		t.Skip("the AWS CLI is not installed")
	}
	document := readFile(t, "testdata/instance-types.json")
	_, _, endpoint := serve(t, document)
	run := func(arguments ...string) []byte {
		t.Helper()
		command := exec.CommandContext(t.Context(), aws, append([]string{"ec2", "describe-instance-types", "--endpoint-url", endpoint, "--region", "eu-west-1", "--output", "json"}, arguments...)...)
		command.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=AKIDOFFLINE", "AWS_SECRET_ACCESS_KEY=secret", "AWS_PAGER=", "AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null")
		command.Stderr = t.Output()
		output, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		return output
	}
	byName := func(document []byte) map[string]any {
		t.Helper()
		var output struct{ InstanceTypes []map[string]any }
		if err := json.Unmarshal(document, &output); err != nil {
			t.Fatal(err)
		}
		all := map[string]any{}
		for _, facts := range output.InstanceTypes {
			all[fmt.Sprint(facts["InstanceType"])] = facts
		}
		return all
	}
	if diff := cmp.Diff(byName(document), byName(run("--page-size", "5"))); diff != "" {
		t.Errorf("paged (-document +aws):\n%s", diff)
	}
	got := byName(run("--filters", "Name=hypervisor,Values=nitro", "Name=bare-metal,Values=false", "--instance-types", "t2.nano", "m6g.large"))
	if !slices.Equal([]string{"m6g.large"}, keys(got)) {
		t.Errorf("filtered: %v", keys(got))
	}
}

func keys(m map[string]any) (all []string) {
	for name := range m {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
