package collect

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// answers is an API server that knows the answers to some paths. What it is asked is recorded.
type answers struct {
	bodies map[string]string
	codes  map[string]int // of those that are no 200
	asked  []string
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.asked = append(a.asked, r.Method+" "+r.URL.String())
	body, known := a.bodies[r.URL.Path]
	code := a.codes[r.URL.Path]
	switch {
	case code == 0 && known:
		code = http.StatusOK
	case code == 0:
		code = http.StatusNotFound
	}
	if code != http.StatusOK && body == "" {
		body = fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":"the server says no"}`,
			code, map[int]string{403: "Forbidden", 404: "NotFound", 500: "InternalError"}[code])
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(body))
}

func connected(t *testing.T, a *answers) *apiServer {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	s, err := connect(&rest.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func groupOf(preferred string, versions ...string) string {
	var list []string
	for _, v := range versions {
		list = append(list, fmt.Sprintf(`{"groupVersion":"karpenter.sh/%s","version":%q}`, v, v))
	}
	return fmt.Sprintf(`{"kind":"APIGroup","apiVersion":"v1","name":"karpenter.sh","versions":[%s],"preferredVersion":{"version":%q}}`, strings.Join(list, ","), preferred)
}

// servingKinds is the answer for a version: names and kinds in turn.
func servingKinds(pairs ...string) string {
	var list []string
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, fmt.Sprintf(`{"name":%q,"kind":%q}`, pair[0], pair[1]))
	}
	return `{"kind":"APIResourceList","apiVersion":"v1","resources":[` + strings.Join(list, ",") + `]}`
}

func TestResources(t *testing.T) {
	const group, v1, v1beta1, v1alpha5 = "/apis/karpenter.sh", "/apis/karpenter.sh/v1", "/apis/karpenter.sh/v1beta1", "/apis/karpenter.sh/v1alpha5"
	claims := servingKinds("nodeclaims", "NodeClaim")
	for _, row := range []struct {
		name   string // and why
		bodies map[string]string
		codes  map[string]int
		kind   string
		want   []string
		fails  string
	}{
		{name: "a group that is not served has none", kind: "NodeClaim"},
		{
			name:   "the preferred version comes first, wherever the server lists it",
			bodies: map[string]string{group: groupOf("v1", "v1beta1", "v1"), v1: claims, v1beta1: claims},
			kind:   "NodeClaim", want: []string{"v1 nodeclaims", "v1beta1 nodeclaims"},
		},
		{
			name:   "a preferred version that is not listed is not asked for",
			bodies: map[string]string{group: groupOf("v2", "v1", "v1beta1"), v1: claims, v1beta1: claims},
			kind:   "NodeClaim", want: []string{"v1 nodeclaims", "v1beta1 nodeclaims"},
		},
		{
			name:   "a kind that only an old version has is read in that one: v0.32 serves Machine beside NodeClaim",
			bodies: map[string]string{group: groupOf("v1beta1", "v1beta1", "v1alpha5"), v1beta1: claims, v1alpha5: servingKinds("machines", "Machine")},
			kind:   "Machine", want: []string{"v1alpha5 machines"},
		},
		{
			name:   "a version that went since is as one that never was",
			bodies: map[string]string{group: groupOf("v1", "v1", "v1beta1"), v1: claims},
			kind:   "NodeClaim", want: []string{"v1 nodeclaims"},
		},
		{
			name:   "a part of an object has its kind, and is no list of them",
			bodies: map[string]string{group: groupOf("v1", "v1"), v1: servingKinds("nodeclaims/status", "NodeClaim", "nodeclaims", "NodeClaim")},
			kind:   "NodeClaim", want: []string{"v1 nodeclaims"},
		},
		{name: "a sign-in page is not an empty group", bodies: map[string]string{group: "<html>"}, kind: "NodeClaim", fails: "apis/karpenter.sh: invalid character"},
		{name: "null is not an empty group", bodies: map[string]string{group: "null"}, kind: "NodeClaim", fails: "apis/karpenter.sh is no APIGroup"},
		{name: "nothing is not an empty group", bodies: map[string]string{group: ""}, kind: "NodeClaim", fails: "the answer is empty"},
		{
			name:   "another document is not an empty version",
			bodies: map[string]string{group: groupOf("v1", "v1"), v1: groupOf("v1", "v1")},
			kind:   "NodeClaim", fails: "apis/karpenter.sh/v1 is no APIResourceList",
		},
		{name: "what may not be asked is an error", codes: map[string]int{group: 403}, kind: "NodeClaim", fails: "the server says no"},
		{
			name:   "so is a version that fails, or its objects would be missing",
			bodies: map[string]string{group: groupOf("v1", "v1", "v1beta1"), v1: claims},
			codes:  map[string]int{v1beta1: 500}, kind: "NodeClaim", fails: "the server says no",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			found, err := connected(t, &answers{bodies: row.bodies, codes: row.codes}).resources(t.Context(), schema.GroupKind{Group: groupKarpenter, Kind: row.kind})
			if row.fails != "" {
				if err == nil || !strings.Contains(err.Error(), row.fails) {
					t.Fatalf("the error is %v, not one that says %q", err, row.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range found {
				got = append(got, r.Version+" "+r.Resource)
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("found %v, want %v", got, row.want)
			}
		})
	}
}

// TestRequests: a group is asked for once, and everything that is sent is the path that kubectl would send.
func TestRequests(t *testing.T) {
	a := &answers{bodies: map[string]string{
		"/apis/karpenter.sh":                             groupOf("v1", "v1"),
		"/apis/karpenter.sh/v1":                          servingKinds("nodeclaims", "NodeClaim", "nodepools", "NodePool"),
		"/api/v1/nodes":                                  `{"kind":"NodeList"}`,
		"/apis/karpenter.sh/v1/nodeclaims":               `{"kind":"NodeClaimList"}`,
		"/apis/apps/v1/namespaces/karpenter/deployments": `{"kind":"DeploymentList"}`,
		"/api/v1/namespaces/karpenter/configmaps/karpenter-global-settings": `{"kind":"ConfigMap"}`,
	}}
	s := connected(t, a)
	one := func(group, kind string) resource {
		t.Helper()
		r, err := s.resources(t.Context(), schema.GroupKind{Group: group, Kind: kind})
		if err != nil || len(r) == 0 {
			t.Fatalf("%s of %q: %v, %v", kind, group, r, err)
		}
		return r[0]
	}
	one(groupKarpenter, "NodePool")
	for _, ask := range []func() ([]byte, error){
		func() ([]byte, error) { return s.list(t.Context(), one("", "Node"), "", 500, "") },
		func() ([]byte, error) { return s.list(t.Context(), one("", "Node"), "", 500, "a/b+c=") },
		func() ([]byte, error) { return s.list(t.Context(), one(groupKarpenter, "NodeClaim"), "", 0, "") },
		func() ([]byte, error) { return s.list(t.Context(), one("apps", "Deployment"), "karpenter", 500, "") },
		func() ([]byte, error) {
			return s.object(t.Context(), one("", "ConfigMap"), "karpenter", "karpenter-global-settings")
		},
	} {
		if data, err := ask(); err != nil || len(data) == 0 {
			t.Errorf("%q, %v", data, err)
		}
	}
	want := []string{
		"GET /apis/karpenter.sh",
		"GET /apis/karpenter.sh/v1",
		"GET /api/v1/nodes?limit=500",
		"GET /api/v1/nodes?continue=a%2Fb%2Bc%3D&limit=500",
		"GET /apis/karpenter.sh/v1/nodeclaims",
		"GET /apis/apps/v1/namespaces/karpenter/deployments?limit=500",
		"GET /api/v1/namespaces/karpenter/configmaps/karpenter-global-settings",
	}
	if !slices.Equal(a.asked, want) {
		t.Errorf("asked\n%s\nwant\n%s", strings.Join(a.asked, "\n"), strings.Join(want, "\n"))
	}

	if _, err := s.object(t.Context(), one("", "ConfigMap"), "karpenter", "none"); !apierrors.IsNotFound(err) {
		t.Errorf("what is not there is %v, not a NotFound", err)
	}
}
