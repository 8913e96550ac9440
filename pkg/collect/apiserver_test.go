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
func servingKinds(version string, pairs ...string) string {
	var list []string
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, fmt.Sprintf(`{"name":%q,"kind":%q}`, pair[0], pair[1]))
	}
	return fmt.Sprintf(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"karpenter.sh/%s","resources":[%s]}`, version, strings.Join(list, ","))
}

func TestResources(t *testing.T) {
	const group, v1, v1beta1, v1alpha5 = "/apis/karpenter.sh", "/apis/karpenter.sh/v1", "/apis/karpenter.sh/v1beta1", "/apis/karpenter.sh/v1alpha5"
	claims, beta := servingKinds("v1", "nodeclaims", "NodeClaim"), servingKinds("v1beta1", "nodeclaims", "NodeClaim")
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
			bodies: map[string]string{group: groupOf("v1", "v1beta1", "v1"), v1: claims, v1beta1: beta},
			kind:   "NodeClaim", want: []string{"v1 nodeclaims", "v1beta1 nodeclaims"},
		},
		{
			name:   "a preferred version that is not listed is not asked for",
			bodies: map[string]string{group: groupOf("v2", "v1", "v1beta1"), v1: claims, v1beta1: beta},
			kind:   "NodeClaim", want: []string{"v1 nodeclaims", "v1beta1 nodeclaims"},
		},
		{
			name:   "a kind that only an old version has is read in that one: v0.32 serves Machine beside NodeClaim",
			bodies: map[string]string{group: groupOf("v1beta1", "v1beta1", "v1alpha5"), v1beta1: beta, v1alpha5: servingKinds("v1alpha5", "machines", "Machine")},
			kind:   "Machine", want: []string{"v1alpha5 machines"},
		},
		{
			name:   "a version that went since is as one that never was",
			bodies: map[string]string{group: groupOf("v1", "v1", "v1beta1"), v1: claims},
			kind:   "NodeClaim", want: []string{"v1 nodeclaims"},
		},
		{
			name:   "a part of an object has its kind, and is no list of them",
			bodies: map[string]string{group: groupOf("v1", "v1"), v1: servingKinds("v1", "nodeclaims/status", "NodeClaim", "nodeclaims", "NodeClaim")},
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
		{
			name:   "a group of another name is not the one that was asked for",
			bodies: map[string]string{group: strings.ReplaceAll(groupOf("v1", "v1"), "karpenter.sh", "apps"), v1: claims},
			kind:   "NodeClaim", fails: `apis/karpenter.sh is about the group "apps"`,
		},
		{
			name:   "nor is another version: its kinds would be asked for where they are not",
			bodies: map[string]string{group: groupOf("v1", "v1"), v1: beta},
			kind:   "NodeClaim", fails: `apis/karpenter.sh/v1 is about "karpenter.sh/v1beta1"`,
		},
		{
			name:   "a version that leads elsewhere is not followed",
			bodies: map[string]string{group: groupOf("v1", "../../api/v1/secrets")},
			kind:   "NodeClaim", fails: `"../../api/v1/secrets" is no name that an API server can be asked for`,
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
		"/apis/karpenter.sh/v1":                          servingKinds("v1", "nodeclaims", "NodeClaim", "nodepools", "NodePool"),
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

	if _, err := s.object(t.Context(), one("", "ConfigMap"), "karpenter", "../secrets/x"); err == nil || len(a.asked) != len(want) {
		t.Errorf("a name that leads elsewhere was asked for: %v, %v", err, a.asked)
	}
	if _, err := s.object(t.Context(), one("", "ConfigMap"), "karpenter", "none"); !apierrors.IsNotFound(err) {
		t.Errorf("what is not there is %v, not a NotFound", err)
	}
}

// TestPages: the continue token counts wherever in the answer it stands, and no server can make the reading go on for ever.
func TestPages(t *testing.T) {
	node := func(name string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"karpenter.sh/nodepool":"p"}}}`, name)
	}
	page := func(next string, nodes ...string) string {
		return fmt.Sprintf(`{"kind":"NodeList","apiVersion":"v1","metadata":{"continue":%q},"items":[%s]}`, next, strings.Join(nodes, ","))
	}
	const expired = `{"kind":"Status","apiVersion":"v1","status":"Failure","code":410,"reason":"Expired","message":"the token is too old"}`
	for _, row := range []struct {
		name  string
		by    map[string]string // the answer by the token of the request
		names string
		fails string
	}{
		{name: "in order", by: map[string]string{"": page("2", node("a")), "2": page("", node("b"))}, names: "a b"},
		{
			name: "metadata before the kind, as no API server writes but a proxy may",
			by: map[string]string{
				"":  `{"metadata":{"continue":"2"},"apiVersion":"v1","items":[` + node("a") + `],"kind":"NodeList"}`,
				"2": `{"metadata":{},"kind":"NodeList","apiVersion":"v1","items":[` + node("b") + `]}`,
			},
			names: "a b",
		},
		{name: "the same page again", by: map[string]string{"": page("2", node("a")), "2": page("2", node("b"))}, fails: "the next page is the same one"},
		{name: "expired, and the list in one piece is in pages again, and expires", by: map[string]string{"": page("2", node("a")), "2": expired}, fails: "the token is too old"},
	} {
		t.Run(row.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				body := row.by[r.URL.Query().Get("continue")]
				if body == expired {
					w.WriteHeader(http.StatusGone)
				}
				_, _ = w.Write([]byte(body))
			}))
			t.Cleanup(server.Close)
			s, err := connect(&rest.Config{Host: server.URL, QPS: -1})
			if err != nil {
				t.Fatal(err)
			}
			l := &listing{server: s, dump: newDump(Options{}), chunk: 1}
			err = l.pages(t.Context(), builtin[schema.GroupKind{Kind: "Node"}], "")
			if row.fails != "" {
				if err == nil || !strings.Contains(err.Error(), row.fails) {
					t.Errorf("the error is %v, not one that says %q", err, row.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, n := range l.dump.nodes.take() {
				names = append(names, n.Name)
			}
			if got := strings.Join(names, " "); got != row.names {
				t.Errorf("read %q, want %q", got, row.names)
			}
		})
	}
}
