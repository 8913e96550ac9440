package offline

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// fault answers a request instead of the API server, or returns false to let it through. It may wait, and it may change
// the cluster meanwhile.
type fault func(w http.ResponseWriter, r *http.Request) bool

// proxy stands in front of an API server, records each request and lets a fault answer some.
type proxy struct {
	url  string
	mu   sync.Mutex
	seen []string // METHOD path?query
}

// through starts a proxy that reaches the API server as config does; it is closed when the spec ends.
func through(config *rest.Config, answer fault) *proxy {
	GinkgoHelper()
	target, err := url.Parse(config.Host)
	Expect(err).NotTo(HaveOccurred())
	transport, err := rest.TransportFor(config)
	Expect(err).NotTo(HaveOccurred())
	forward := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	p := &proxy{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.seen = append(p.seen, r.Method+" "+r.URL.String())
		p.mu.Unlock()
		if answer != nil && answer(w, r) {
			return
		}
		forward.ServeHTTP(w, r)
	}))
	// Not Close: it waits for requests that a caller gave up on.
	DeferCleanup(func() { server.CloseClientConnections(); server.Close() })
	p.url = server.URL
	return p
}

// kubeconfig reaches the proxy.
func (p *proxy) kubeconfig() string { return kubeconfigFor(p.url) }

// requests are those so far that hold the text.
func (p *proxy) requests(text string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.seen), func(s string) bool { return !strings.Contains(s, text) })
}

// kubeconfigFor is a kubeconfig of a server, without an identity.
func kubeconfigFor(server string) string {
	GinkgoHelper()
	return write(GinkgoT().TempDir(), "kubeconfig", fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c",
"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{}}],"clusters":[{"name":"c","cluster":{"server":%q}}]}`, server))
}

// refusal is how an API server says no.
func refusal(code int, reason metav1.StatusReason, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(metav1.Status{ // a caller who hung up does not matter
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Code: int32(code), Reason: reason, Message: message,
		})
	}
}

// lists reports whether the request lists a resource, such as "nodes".
func lists(r *http.Request, resource string) bool { return strings.HasSuffix(r.URL.Path, "/"+resource) }

// first meets the first n requests that match, and lets the others through.
func first(n int, match func(*http.Request) bool, answer http.HandlerFunc) fault {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		hit := n != 0 && match(r)
		if hit {
			n--
		}
		mu.Unlock()
		if hit {
			answer(w, r)
		}
		return hit
	}
}

// always meets every request that matches.
func always(match func(*http.Request) bool, answer http.HandlerFunc) fault {
	return first(-1, match, answer)
}

// serve serves over HTTP until the spec ends.
func serve(handler http.Handler) string {
	server := httptest.NewServer(handler)
	DeferCleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}
