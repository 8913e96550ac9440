package offline

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ec2Version is the only version of the EC2 API that current SDKs speak.
const ec2Version = "2016-11-15"

// Limits of DescribeInstanceTypes, from its reference page: MaxResults is 5 to 100 and 100 when absent, at most
// 100 InstanceType.N; and of every EC2 call: at most 200 filter values.
const (
	minResults      = 5
	maxResults      = 100
	maxTypes        = 100
	maxFilterValues = 200
)

// settleTime is how long the fake holds an answer back; EC2 takes longer. aws-sdk-go-v2 closes the body of its request
// as soon as the head of the answer arrives, and then takes the end of a write still under way for a failure and
// drops the connection in the middle of the answer (smithy-go v1.28.9, safeWriteToReadCloser.WriteTo). A server
// in the same process that answers at once met that in a third of all calls on two busy cores.
const settleTime = 10 * time.Millisecond

// EC2 is a fake of the EC2 API that serves one action, DescribeInstanceTypes, over a fixed catalogue. It is an
// [http.Handler] for the path "/" and safe for concurrent use.
//
// Where EC2 refuses, it refuses with EC2's code, status and wording: an unknown action, parameter, filter,
// instance type or page token, a page size outside 5 to 100, MaxResults beside InstanceType.N, a dry run, an
// unsigned request. It checks that a request is signed for EC2, not the signature: it knows no secret.
//
// As in EC2, a page is a slice of the whole catalogue and filters apply after it is cut, so a filtered page may
// be short or empty and still have a next one (boto/boto3#2888), and the order of types means nothing.
type EC2 struct {
	types  []instanceType // in catalogue order
	byName map[string]instanceType

	mu       sync.Mutex
	requests []Request
	script   []Fault
	when     func(Request) Fault
}

// Request is a call that the fake received, answered well or not.
type Request struct {
	// Action is the EC2 action, e.g. DescribeInstanceTypes; empty when the caller named none.
	Action string
	// Number counts the calls of this Action, from 1.
	Number int
	// Region is the AWS region that the caller signed for; empty when the request was not signed.
	Region string
	// Parameters are the action's parameters as EC2 names them: InstanceType.1, Filter.1.Name, MaxResults …
	Parameters url.Values
}

// NewEC2 returns a fake that serves the instance types of the documents: outputs of
// `aws ec2 describe-instance-types --output json`, gzipped or not, in any number.
//
// A document without InstanceTypes, a type without a name and two different descriptions of one type are
// errors. No document at all gives an EC2 that knows no type, which is not an error.
func NewEC2(documents ...[]byte) (*EC2, error) {
	var all []instanceType
	for i, document := range documents {
		types, err := readInstanceTypes(document)
		if err != nil {
			return nil, fmt.Errorf("reading instance types, document %d: %w", i+1, err)
		}
		all = append(all, types...)
	}
	return newEC2(all)
}

func newEC2(types []instanceType) (*EC2, error) {
	e := &EC2{byName: map[string]instanceType{}}
	for _, t := range types {
		if known, ok := e.byName[t.name]; ok && known.xml != t.xml {
			return nil, fmt.Errorf("instance type %q is described twice and differently: keep one of the two files", t.name)
		}
		e.byName[t.name] = t
	}
	e.order()
	return e, nil
}

// order lays the catalogue out in a fixed order that is no order a client could come to rely on.
func (e *EC2) order() {
	e.types = e.types[:0]
	for _, t := range e.byName {
		e.types = append(e.types, t)
	}
	slices.SortFunc(e.types, func(a, b instanceType) int {
		return cmp.Or(cmp.Compare(hash(a.name), hash(b.name)), cmp.Compare(a.name, b.name))
	})
}

// InstanceTypes returns the names of the types served, sorted.
func (e *EC2) InstanceTypes() []string {
	names := make([]string, 0, len(e.types))
	for _, t := range e.types {
		names = append(names, t.name)
	}
	slices.Sort(names)
	return names
}

// Requests returns every call so far, in the order in which they arrived.
func (e *EC2) Requests() []Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.requests)
}

// Calls returns how often an action was called so far, faults included.
func (e *EC2) Calls(action string) int {
	calls := 0
	for _, r := range e.Requests() {
		if r.Action == action {
			calls++
		}
	}
	return calls
}

// ServeHTTP answers one EC2 query request: a POSTed form, or a GET with the same parameters in the query.
func (e *EC2) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodPost && r.Method != http.MethodGet {
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "the EC2 query protocol uses GET and POST", http.StatusMethodNotAllowed)
		return
	}
	// The whole body is read before a fault may wait: only then does the server notice a caller that hangs up.
	if err := r.ParseForm(); err != nil {
		refuse(http.StatusBadRequest, "MalformedQueryString", "The query string contains a syntax error.").write(w)
		return
	}
	request, fault := e.record(r)
	time.Sleep(settleTime)
	answer := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		e.answer(w, r, request)
	}))
	if fault != nil {
		answer = fault(answer)
	}
	answer.ServeHTTP(w, r)
}

// record keeps the request and returns the fault that is due for it, nil for a healthy answer.
func (e *EC2) record(r *http.Request) (Request, Fault) {
	e.mu.Lock()
	defer e.mu.Unlock()

	request := Request{Action: r.Form.Get("Action"), Number: 1, Region: signedRegion(r), Parameters: actionParameters(r)}
	for _, earlier := range e.requests {
		if earlier.Action == request.Action {
			request.Number++
		}
	}
	e.requests = append(e.requests, request)

	switch {
	case len(e.script) > 0:
		fault := e.script[0]
		e.script = e.script[1:]
		return request, fault
	case e.when != nil:
		return request, e.when(request)
	default:
		return request, nil
	}
}

func (e *EC2) answer(w http.ResponseWriter, r *http.Request, request Request) {
	id := requestID(len(e.Requests()))
	if failure := validateProtocol(r, request); failure != nil {
		failure.requestID = id
		failure.write(w)
		return
	}
	page, next, failure := e.describeInstanceTypes(request.Parameters)
	if failure != nil {
		failure.requestID = id
		failure.write(w)
		return
	}
	writeInstanceTypes(w, id, page, next)
}

// validateProtocol checks what EC2 checks before it looks at an action's parameters.
func validateProtocol(r *http.Request, request Request) *apiError {
	if request.Region == "" {
		return refuse(http.StatusBadRequest, "MissingParameter", "The request must contain the parameter AWSAccessKeyId")
	}
	if request.Action == "" {
		return refuse(http.StatusBadRequest, "MissingAction", "The request must contain the parameter Action")
	}
	if request.Action != "DescribeInstanceTypes" {
		return refuse(http.StatusBadRequest, "InvalidAction", fmt.Sprintf("The action %s is not valid for this web service.", request.Action))
	}
	if version := r.Form.Get("Version"); version != ec2Version {
		return refuse(http.StatusBadRequest, "NoSuchVersion", fmt.Sprintf("The requested version (%s) of service AmazonEC2 does not exist", version))
	}
	return nil
}

// describeInstanceTypes returns one page of types and the token of the next one, empty on the last.
func (e *EC2) describeInstanceTypes(parameters url.Values) (page []instanceType, next string, failure *apiError) {
	call, failure := parseDescribe(parameters)
	if failure != nil {
		return nil, "", failure
	}

	candidates := e.types
	if len(call.names) > 0 {
		candidates, failure = e.named(call.names)
		if failure != nil {
			return nil, "", failure
		}
	}
	end := min(call.start+call.pageSize, len(candidates))
	if call.start > len(candidates) {
		return nil, "", errBadToken()
	}
	for _, t := range candidates[call.start:end] {
		if call.filters.match(t.facts) {
			page = append(page, t)
		}
	}
	if end < len(candidates) {
		next = pageToken(end, call.query)
	}
	return page, next, nil
}

func (e *EC2) named(names []string) ([]instanceType, *apiError) {
	found := make([]instanceType, 0, len(names))
	var missing []string
	for _, name := range names {
		t, ok := e.byName[name]
		if !ok {
			missing = append(missing, name)
		} else if !slices.ContainsFunc(found, func(f instanceType) bool { return f.name == name }) {
			found = append(found, t)
		}
	}
	if len(missing) > 0 {
		return nil, errUnknownTypes(missing)
	}
	return found, nil
}

// describeCall is DescribeInstanceTypes' request, validated.
type describeCall struct {
	names    []string
	filters  filters
	pageSize int
	start    int
	query    string // identifies the parameters that a page token belongs to
}

func parseDescribe(parameters url.Values) (describeCall, *apiError) {
	call := describeCall{pageSize: maxResults}
	names, rest := indexed(parameters, "InstanceType")
	filterParameters, rest := indexed(rest, "Filter")
	for _, name := range sortedKeys(rest) {
		switch name {
		case "MaxResults", "NextToken", "DryRun", "IncludeUnsupportedInRegion":
		default:
			return call, refuse(http.StatusBadRequest, "UnknownParameter", fmt.Sprintf("The parameter %s is not recognized", name))
		}
	}
	for _, name := range []string{"DryRun", "IncludeUnsupportedInRegion"} {
		if value := rest.Get(name); value != "" && value != "true" && value != "false" {
			return call, refuse(http.StatusBadRequest, "InvalidParameterValue", fmt.Sprintf("Value (%s) for parameter %s is invalid. Expecting true or false.", value, name))
		}
	}

	for _, p := range names {
		if p.rest != "" {
			return call, refuse(http.StatusBadRequest, "UnknownParameter", fmt.Sprintf("The parameter %s is not recognized", p.name))
		}
		call.names = append(call.names, p.value)
	}
	if len(call.names) > maxTypes {
		return call, refuse(http.StatusBadRequest, "InvalidParameterValue", fmt.Sprintf("The number of instance types (%d) exceeds the maximum of %d", len(call.names), maxTypes))
	}
	var failure *apiError
	if call.filters, failure = parseFilters(filterParameters); failure != nil {
		return call, failure
	}
	if failure := call.parsePaging(rest); failure != nil {
		return call, failure
	}
	if rest.Get("DryRun") == "true" {
		return call, refuse(http.StatusPreconditionFailed, "DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
	}
	return call, nil
}

func (c *describeCall) parsePaging(parameters url.Values) *apiError {
	if value := parameters.Get("MaxResults"); value != "" {
		// The wording for the parameter that DescribeInstances calls instancesSet, with this action's name.
		if len(c.names) > 0 {
			return refuse(http.StatusBadRequest, "InvalidParameterCombination", "The parameter instanceTypes cannot be used with the parameter maxResults")
		}
		size, err := strconv.Atoi(value)
		switch {
		case err != nil || size < minResults:
			return refuse(http.StatusBadRequest, "InvalidParameterValue", fmt.Sprintf("Value ( %s ) for parameter maxResults is invalid. Expecting a value greater than %d.", value, minResults))
		case size > maxResults:
			return refuse(http.StatusBadRequest, "InvalidParameterValue", fmt.Sprintf("Value ( %s ) for parameter maxResults is invalid. Expecting a value less than %d.", value, maxResults))
		}
		c.pageSize = size
	}
	c.query = strings.Join(c.names, ",") + "|" + c.filters.String()
	if token := parameters.Get("NextToken"); token != "" {
		start, ok := parsePageToken(token, c.query)
		if !ok {
			return errBadToken()
		}
		c.start = start
	}
	return nil
}

func errBadToken() *apiError {
	return refuse(http.StatusBadRequest, "InvalidParameterValue", "Unable to parse pagination token")
}

func errUnknownTypes(names []string) *apiError {
	return refuse(http.StatusBadRequest, "InvalidInstanceType", fmt.Sprintf("The following supplied instance types do not exist: [%s]", strings.Join(names, ", ")))
}

// pageToken names the first type of the next page. It is bound to the query, as EC2's is.
func pageToken(start int, query string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d/%08x", start, hash(query)))
}

func parsePageToken(token, query string) (start int, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return 0, false
	}
	number, digest, found := strings.Cut(string(raw), "/")
	start, err = strconv.Atoi(number)
	return start, found && err == nil && start >= 0 && digest == fmt.Sprintf("%08x", hash(query))
}

func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // fnv never fails
	return h.Sum32()
}

// requestID gives the n-th answer an id in the form of EC2's, the same in every run.
func requestID(n int) string {
	return fmt.Sprintf("0ff11e00-ec20-4000-8000-%012d", n)
}
