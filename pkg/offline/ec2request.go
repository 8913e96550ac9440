package offline

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// signedRegion returns the region of the credential scope that the request was signed for, or "" when it is not
// signed for EC2. Scope: ACCESSKEY/20260131/eu-west-1/ec2/aws4_request, in the header or, presigned, in the query.
func signedRegion(r *http.Request) string {
	credential := r.Form.Get("X-Amz-Credential")
	if header, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "); ok {
		for part := range strings.SplitSeq(header, ",") {
			if value, ok := strings.CutPrefix(strings.TrimSpace(part), "Credential="); ok {
				credential = value
			}
		}
	}
	scope := strings.Split(credential, "/")
	if len(scope) != 5 || scope[3] != "ec2" || scope[4] != "aws4_request" {
		return ""
	}
	return scope[2]
}

// actionParameters returns the parameters of a parsed request without those of the query protocol and of
// presigning.
func actionParameters(r *http.Request) url.Values {
	parameters := url.Values{}
	for name, values := range r.Form {
		if name != "Action" && name != "Version" && !strings.HasPrefix(name, "X-Amz-") {
			parameters[name] = slices.Clone(values)
		}
	}
	return parameters
}

// indexedParameter is one element of a list in the query protocol: Filter.2.Value.1=nitro is
// {name: "Filter.2.Value.1", index: 2, rest: "Value.1", value: "nitro"}.
type indexedParameter struct {
	name, rest, value string
	index             int
}

// indexed splits parameters into the elements of one list, in the order of their indices, and all others.
func indexed(parameters url.Values, list string) ([]indexedParameter, url.Values) {
	var elements []indexedParameter
	others := url.Values{}
	for _, name := range sortedKeys(parameters) {
		tail, ok := strings.CutPrefix(name, list+".")
		number, rest, _ := strings.Cut(tail, ".")
		index, err := strconv.Atoi(number)
		if !ok || err != nil || index < 1 {
			others[name] = parameters[name]
			continue
		}
		elements = append(elements, indexedParameter{name: name, rest: rest, value: parameters.Get(name), index: index})
	}
	slices.SortStableFunc(elements, func(a, b indexedParameter) int { return cmp.Compare(a.index, b.index) })
	return elements, others
}

func sortedKeys(parameters url.Values) []string {
	return slices.Sorted(maps.Keys(parameters))
}
