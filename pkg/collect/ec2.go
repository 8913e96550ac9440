package collect

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// batch is how many types EC2 takes in one call.
const batch = 100

// credentialsTimeout bounds the search for credentials: outside EC2 the last step of the SDK's chain asks an address
// that does not answer, and in a pod with a hop limit of 1 neither.
const credentialsTimeout = 4 * time.Second

// attempts is how often one call is made before it has failed, where AWS_MAX_ATTEMPTS and the profile do not say: the
// SDK's own three do not outlast EC2's throttling. Its back-off, with jitter, keeps all five within 15 s.
const attempts = 5

// describeAction is the one EC2 permission that is needed.
const describeAction = "ec2:DescribeInstanceTypes"

// completeFromEC2 adds the facts of the nodes' instance types to s: from the cache on disk where they are fresh, else
// from EC2. A type that EC2 does not know stays out; its nodes are unknown.
func completeFromEC2(ctx context.Context, progress io.Writer, o *options.Options, s *snapshot.Snapshot) error {
	s.InstanceTypesFrom = typesEC2
	names := namesOf(s.Nodes)
	if len(names) == 0 {
		return nil
	}
	client, region, err := newEC2(ctx, o)
	if err != nil {
		return err
	}
	cache := openCache(o, region)
	types, missing := cache.lookup(names)
	if len(missing) > 0 {
		say(progress, "asking EC2 in %s for %d instance types", region, len(missing))
		found, err := Describe(ctx, client, missing)
		if err != nil {
			return err
		}
		cache.store(found)
		types = append(types, found...)
	}
	s.InstanceTypes = types
	s.Sort()
	return nil
}

// allFromEC2 returns every type of the region, in name order: EC2 has none.
func allFromEC2(ctx context.Context, progress io.Writer, o *options.Options) ([]snapshot.InstanceType, error) {
	client, region, err := newEC2(ctx, o)
	if err != nil {
		return nil, err
	}
	say(progress, "asking EC2 in %s for all instance types", region)
	types, err := Describe(ctx, client, nil)
	slices.SortFunc(types, func(a, b snapshot.InstanceType) int { return cmp.Compare(a.Name, b.Name) })
	return types, err
}

// say tells a person what is being read.
func say(progress io.Writer, format string, args ...any) {
	if progress != nil {
		fmt.Fprintf(progress, format+"\n", args...)
	}
}

func namesOf(nodes []snapshot.Node) []string {
	var names []string
	for i := range nodes {
		if name := nodes[i].InstanceType(); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// newEC2 finds region and credentials by the SDK's own rules, and fails early and in words where there are none.
func newEC2(ctx context.Context, o *options.Options) (EC2, string, error) {
	var load []func(*config.LoadOptions) error
	if o.Profile != "" {
		load = append(load, config.WithSharedConfigProfile(o.Profile))
	}
	if o.Region != "" {
		load = append(load, config.WithRegion(o.Region))
	}
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, "", fmt.Errorf("reading the AWS configuration: %w", sanitize(err))
	}
	if cfg.Region == "" {
		return nil, "", errors.New("no AWS region: set --region or AWS_REGION, or use --instance-types labels, which needs no AWS at all")
	}
	short, cancel := context.WithTimeout(ctx, credentialsTimeout)
	defer cancel()
	if cfg.Credentials == nil {
		return nil, "", errNoCredentials
	}
	if _, err := cfg.Credentials.Retrieve(short); err != nil {
		if expired := remedyOf(err); expired != "" {
			return nil, "", fmt.Errorf("finding AWS credentials: %s", expired)
		}
		return nil, "", errNoCredentials
	}
	if cfg.RetryMaxAttempts == 0 {
		cfg.RetryMaxAttempts = attempts
	}
	client := ec2.NewFromConfig(cfg, func(e *ec2.Options) {
		if o.EndpointURL != "" {
			e.BaseEndpoint = &o.EndpointURL
		}
	})
	return describe(client.DescribeInstanceTypes), cfg.Region, nil
}

var errNoCredentials = errors.New("no AWS credentials: set --profile or AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; in a pod use IRSA or Pod Identity (with an IMDS hop limit of 1 a pod cannot reach the instance's role); or use --instance-types labels, which needs no AWS at all")

// EC2 is the part of the EC2 API that is used.
type EC2 interface {
	ec2.DescribeInstanceTypesAPIClient
}

// describe is the one method of the SDK's client that is used. The client itself must not become an interface value, nor
// a field of one: the linker would keep its other 750 methods, 30 MB of them.
type describe func(context.Context, *ec2.DescribeInstanceTypesInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error)

// DescribeInstanceTypes calls EC2.
func (d describe) DescribeInstanceTypes(ctx context.Context, in *ec2.DescribeInstanceTypesInput, options ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error) {
	return d(ctx, in, options...)
}

// Describe returns the facts of the named types, 100 a call; of every type without names. A type that EC2 does not know
// is left out.
func Describe(ctx context.Context, api EC2, names []string) ([]snapshot.InstanceType, error) {
	if names == nil {
		return describePages(ctx, api, &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(batch)})
	}
	var out []snapshot.InstanceType
	for chunk := range slices.Chunk(names, batch) {
		found, err := describeKnown(ctx, api, chunk)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// describeKnown asks for types by name; one retired or misspelt name fails the whole call, so those that EC2 names in
// its answer are dropped, and where it names none the batch is halved until the culprit is alone.
func describeKnown(ctx context.Context, api EC2, names []string) ([]snapshot.InstanceType, error) {
	if len(names) == 0 {
		return nil, nil
	}
	found, err := describePages(ctx, api, &ec2.DescribeInstanceTypesInput{InstanceTypes: instanceTypes(names)})
	var refused smithy.APIError
	if !errors.As(err, &refused) || refused.ErrorCode() != "InvalidInstanceType" {
		return found, err
	}
	left := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(named(refused.ErrorMessage()), n) })
	switch {
	case len(left) < len(names):
		return describeKnown(ctx, api, left)
	case len(names) == 1:
		return nil, nil
	}
	first, err := describeKnown(ctx, api, names[:len(names)/2])
	if err != nil {
		return nil, err
	}
	second, err := describeKnown(ctx, api, names[len(names)/2:])
	return append(first, second...), err
}

var typePattern = pattern(`[a-z0-9-]+\.[a-z0-9-]+`)

// named are the instance types in a message such as "The following supplied instance types do not exist: [x9.large]".
func named(message string) []string { return typePattern().FindAllString(message, -1) }

func instanceTypes(names []string) []ec2types.InstanceType {
	out := make([]ec2types.InstanceType, len(names))
	for i, n := range names {
		out[i] = ec2types.InstanceType(n)
	}
	return out
}

// describePages follows NextToken to the end: a first page may be empty and have one.
func describePages(ctx context.Context, api EC2, in *ec2.DescribeInstanceTypesInput) ([]snapshot.InstanceType, error) {
	var all struct{ InstanceTypes []ec2types.InstanceTypeInfo }
	for pages := ec2.NewDescribeInstanceTypesPaginator(api, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, sanitize(err)
		}
		all.InstanceTypes = append(all.InstanceTypes, page.InstanceTypes...)
	}
	// The SDK's structs have the names of the CLI's output, so both go through one decoder.
	data, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("EC2's answer: %w", err)
	}
	r := typeReader{seen: map[string]int{}}
	if err := r.read(&source{name: "EC2's answer", reader: bufio.NewReader(bytes.NewReader(data))}); err != nil {
		return nil, err
	}
	return r.types, nil
}

// remedies say what to do about the error codes that people meet.
var remedies = []struct{ code, remedy string }{
	{"UnauthorizedOperation", "this identity may not call " + describeAction + ": grant it (allocatable-diff manifests prints the policy), or use --instance-types labels"},
	{"AccessDenied", "this identity may not call " + describeAction + ": grant it (allocatable-diff manifests prints the policy), or use --instance-types labels"},
	{"ExpiredToken", "the AWS credentials have expired: log in again"},
	{"ExpiredTokenException", "the AWS credentials have expired: log in again"},
	{"RequestExpired", "the AWS credentials have expired, or this machine's clock is wrong: log in again"},
	{"AuthFailure", "AWS does not accept these credentials: check --profile and --region"},
	{"UnrecognizedClientException", "AWS does not accept these credentials: check --profile and --region"},
	{"InvalidClientTokenId", "AWS does not accept these credentials: check --profile and --region"},
	{"SignatureDoesNotMatch", "AWS does not accept the signature of these credentials: check the secret key"},
	{"OptInRequired", "this account has not opted in to the region: check --region"},
	{"RequestLimitExceeded", "EC2 kept throttling: try again later, or use --instance-types labels"},
}

// apiError is an EC2 error in words, wrapping the SDK's for a caller that branches.
type apiError struct {
	text string
	err  error
}

func (e *apiError) Error() string { return e.text }
func (e *apiError) Unwrap() error { return e.err }

// sanitize says what went wrong without EC2's own message: that one holds account numbers, ARNs and an encoded blob,
// which do not belong into a CI log.
func sanitize(err error) error {
	if remedy := remedyOf(err); remedy != "" {
		return &apiError{"EC2: " + remedy, err}
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		return &apiError{fmt.Sprintf("EC2 answered %s to %s", api.ErrorCode(), describeAction), err}
	}
	return &apiError{"EC2: " + secrets().ReplaceAllString(err.Error(), "…"), err}
}

// secrets are what an error must not carry on: ARNs, account numbers, request ids, encoded messages.
var secrets = pattern(`arn:[a-z-]+:[^\s,]+|\b\d{12}\b|[A-Za-z0-9_-]{60,}`)

func remedyOf(err error) string {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return ""
	}
	for _, r := range remedies {
		if r.code == api.ErrorCode() {
			return r.remedy
		}
	}
	if strings.Contains(api.ErrorCode(), "Throttl") {
		return "EC2 kept throttling: try again later, or use --instance-types labels"
	}
	return ""
}
