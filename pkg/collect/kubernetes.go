package collect

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// kinds are the objects that are read of a live cluster, in this order. Each is read in the version that the API server
// prefers; one that is not served is absent. needed: without it nothing can be judged.
var kinds = []struct {
	group, kind string
	needed      bool
}{
	{"", "Node", true},
	{groupKarpenter, "NodeClaim", false},
	{groupKarpenter, "Machine", false},
	{groupKarpenter, "NodePool", false},
	{groupKarpenter, "Provisioner", false},
	{groupKarpenter, "NodeOverlay", false},
	{groupKarpenterAWS, "EC2NodeClass", false},
	{groupKarpenterAWS, "AWSNodeTemplate", false},
}

// karpenterNamespaces are tried in this order where no namespace was given.
var karpenterNamespaces = []string{"kube-system", "karpenter"}

// live reads a running cluster and the facts of its instance types.
func live(ctx context.Context, progress io.Writer, o *options.Options) (*snapshot.Snapshot, error) {
	selector, err := o.LabelSelector()
	if err != nil {
		return nil, err
	}
	config, err := restConfig(o)
	if err != nil {
		return nil, err
	}
	server, err := connect(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the API server %s: %w", config.Host, plain(err))
	}
	s, err := cluster(ctx, server, progress, o, selector)
	if err != nil {
		return nil, err
	}
	if o.InstanceTypes == typesAuto || o.InstanceTypes == typesEC2 {
		return s, completeFromEC2(ctx, progress, o, s)
	}
	facts, err := factsOf(o.InstanceTypes)
	if err != nil {
		return nil, err
	}
	facts.addTo(s)
	return s, nil
}

// restConfig finds the cluster by client-go's rules: the flag, KUBECONFIG, ~/.kube/config, then the pod's own account.
func restConfig(o *options.Options) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: o.Context}
	overrides.AuthInfo.Impersonate, overrides.AuthInfo.ImpersonateGroups = o.As, o.AsGroups
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w (set --kubeconfig or KUBECONFIG, or read files with --from)", err)
	}
	config.Timeout = o.RequestTimeout
	config.UserAgent = "allocatable-diff"
	// A one-off reader waits for the server's own flow control, not for a limit of the client's.
	config.QPS = -1
	// Deprecated API versions are the very thing that old clusters are read by.
	config.WarningHandler = rest.NoWarnings{}
	return config, nil
}

// cluster reads the objects of a cluster, a page at a time, and keeps only what a snapshot needs.
func cluster(ctx context.Context, server *apiServer, progress io.Writer, o *options.Options, selector labels.Selector) (*snapshot.Snapshot, error) {
	d := newDump(Options{Cluster: o.ClusterName, Selector: selector, KarpenterNamespace: o.KarpenterNamespace})
	l := &listing{server: server, dump: d, progress: progress, chunk: o.ChunkSize}
	for _, k := range kinds {
		if err := l.kind(ctx, schema.GroupKind{Group: k.group, Kind: k.kind}, k.needed, ""); err != nil {
			return nil, err
		}
	}
	if err := l.controller(ctx, o.KarpenterNamespace); err != nil {
		return nil, err
	}
	s := d.snapshot()
	s.Gaps = l.gaps
	s.Sort()
	return s, nil
}

// listing reads pages into a dump.
type listing struct {
	server   *apiServer
	dump     *dump
	progress io.Writer
	chunk    int64
	gaps     []snapshot.Gap
}

// kind reads every object of a kind, in one namespace or in all. What may not be read is a gap, but for a needed kind.
func (l *listing) kind(ctx context.Context, gk schema.GroupKind, needed bool, namespace string) error {
	served, err := l.server.resources(ctx, gk)
	if err != nil {
		return fmt.Errorf("asking the API server for %s: %w", gk, plain(err))
	}
	if len(served) == 0 {
		return nil
	}
	if gk.Group == groupKarpenter {
		for _, r := range served {
			l.dump.served[r.GroupVersion().String()] = true
		}
	}
	r := served[0]
	err = l.pages(ctx, r, namespace)
	switch {
	case err == nil:
		return nil
	case apierrors.IsNotFound(err) && !needed: // gone since it was asked for
		return nil
	case apierrors.IsForbidden(err) && !needed:
		l.gaps = append(l.gaps, snapshot.Gap{Kind: gk.Kind, Reason: forbidden(r, namespace)})
		return nil
	case apierrors.IsForbidden(err):
		return errors.New(forbidden(r, namespace))
	}
	return fmt.Errorf("listing %s: %w", r.Resource, plain(err))
}

// pages lists page by page. A continue token that expired starts the list anew in one piece, as kubectl does: the pages
// so far are a state of the cluster that the server no longer has, so they are forgotten.
func (l *listing) pages(ctx context.Context, r resource, namespace string) error {
	limit, next, anew := l.chunk, "", false
	begin := l.dump.mark()
	for n := 0; ; {
		data, err := l.server.list(ctx, r, namespace, limit, next)
		if apierrors.IsResourceExpired(err) && next != "" && !anew {
			l.dump.rewind(begin)
			limit, next, n, anew = 0, "", 0, true
			continue
		}
		if err != nil {
			return err
		}
		before, last := l.dump.objects, next
		if next, err = l.page(data, r.kind+"List"); err != nil {
			return err
		}
		if next != "" && next == last {
			return errors.New("the next page is the same one: what stands before the API server?")
		}
		n += l.dump.objects - before
		if l.progress != nil {
			fmt.Fprintf(l.progress, "reading %s: %d\n", r.Resource, n)
		}
		if next == "" {
			return nil
		}
	}
}

// page keeps one answer of a list, and returns where the next one begins; "" after the last. It has to be the list that
// was asked for: anything else would pass for an empty one.
func (l *listing) page(data []byte, kind string) (next string, err error) {
	s := answer(data)
	if err := l.dump.readJSON(s); err != nil {
		return "", notInput(err)
	}
	if s.list != kind && s.list != "List" {
		return "", fmt.Errorf("the answer is no %s", kind)
	}
	return s.next, nil
}

// answer reads what the API server said. One object may be in two lists, changed between them (namespaces overlap,
// say): the later one counts.
func answer(data []byte) *source {
	return &source{name: "the API server", named: true, replaces: true, reader: bufio.NewReader(bytes.NewReader(data))}
}

// notInput is err without the mark that a person gave what is wrong.
func notInput(err error) error {
	var input *InputError
	if errors.As(err, &input) {
		return fmt.Errorf("%s: %w", input.File, input.Err)
	}
	return err
}

// controller reads Karpenter's Deployment, and the ConfigMaps that hold its settings.
func (l *listing) controller(ctx context.Context, namespace string) error {
	namespaces := karpenterNamespaces
	if namespace != "" {
		namespaces = []string{namespace}
	}
	deployments := schema.GroupKind{Group: "apps", Kind: "Deployment"}
	for _, ns := range namespaces {
		if err := l.kind(ctx, deployments, false, ns); err != nil {
			return err
		}
	}
	if l.dump.deployments.items.Len() > 0 { // others than Karpenter's are not kept
		// It was found, so it does not matter that the other namespace may not be read.
		l.gaps = slices.DeleteFunc(l.gaps, func(g snapshot.Gap) bool { return g.Kind == deployments.Kind })
	}
	for _, ref := range l.dump.configMapRefs() {
		if err := l.configMap(ctx, ref); err != nil {
			return err
		}
	}
	l.gaps = slices.CompactFunc(l.gaps, func(a, b snapshot.Gap) bool { return a == b })
	return nil
}

// configMap reads one ConfigMap. One that may not be read is a gap; there need not be one.
func (l *listing) configMap(ctx context.Context, ref types.NamespacedName) error {
	data, err := l.server.object(ctx, builtin[schema.GroupKind{Kind: "ConfigMap"}], ref.Namespace, ref.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err):
		l.gaps = append(l.gaps, snapshot.Gap{Kind: "ConfigMap", Reason: fmt.Sprintf("this identity may not get configmaps in namespace %s, so settings in %s are not known: grant it get (allocatable-diff manifests)", ref.Namespace, ref.Name)})
		return nil
	case err != nil:
		return fmt.Errorf("getting ConfigMap %s: %w", ref, plain(err))
	}
	before := l.dump.configMaps.items.Len()
	err = notInput(l.dump.readJSON(answer(data)))
	if err == nil && !l.dump.hasConfigMap(before, ref) {
		err = errors.New("the answer is no ConfigMap, or another one")
	}
	if err != nil {
		return fmt.Errorf("getting ConfigMap %s: %w", ref, err)
	}
	return nil
}

// hasConfigMap reports whether the one ConfigMap that was read since is ref.
func (d *dump) hasConfigMap(since int, ref types.NamespacedName) bool {
	if d.configMaps.items.Len() != since+1 {
		return false
	}
	c := d.configMaps.items.At(since)
	return c.Namespace == ref.Namespace && c.Name == ref.Name
}

// configMapRefs are the ConfigMaps that hold settings of the Deployments that were read: the one that old releases read
// themselves, and those that the containers' environment names.
func (d *dump) configMapRefs() []types.NamespacedName {
	var out []types.NamespacedName
	add := func(namespace, name string) {
		if key := (types.NamespacedName{Namespace: namespace, Name: name}); !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	for i := range d.deployments.items.Len() {
		deployment := d.deployments.items.At(i)
		add(deployment.Namespace, globalSettings)
		container := deployment.container()
		for _, e := range container.Env {
			if e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil {
				add(deployment.Namespace, e.ValueFrom.ConfigMapKeyRef.Name)
			}
		}
		for _, e := range container.EnvFrom {
			if e.ConfigMapRef != nil {
				add(deployment.Namespace, e.ConfigMapRef.Name)
			}
		}
	}
	return out
}

// forbidden names the verb and resource that are missing, and what to do.
func forbidden(r resource, namespace string) string {
	where := ""
	if namespace != "" {
		where = " in namespace " + namespace
	}
	return fmt.Sprintf("this identity may not list %s%s: grant it get and list (allocatable-diff manifests prints the roles)", r.GroupResource(), where)
}

// plain cuts what a person can use out of an API error.
func plain(err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsUnauthorized(err):
		return errors.New("the API server does not know this identity (401): log in again, or check the kubeconfig's user")
	case apierrors.IsTooManyRequests(err):
		return errors.New("the API server is overloaded and kept refusing (429): try again later, or with a smaller --chunk-size")
	case errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "Client.Timeout exceeded"):
		return fmt.Errorf("%w: no answer in time: raise --request-timeout, or lower --chunk-size", err)
	case apierrors.ReasonForError(err) != metav1.StatusReasonUnknown:
		return err
	}
	return fmt.Errorf("%w: is the API server up, and the kubeconfig right?", err)
}
