package offline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/mod/semver"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// ErrNoServers is in the error of [Start] when kube-apiserver or etcd is not installed.
var ErrNoServers = errors.New("kube-apiserver and etcd are not installed: run make envtest, or set KUBEBUILDER_ASSETS to a directory that has both")

// serverStartTimeout is how long each server may take to be ready. envtest's 20 s are short on a busy machine.
const serverStartTimeout = 2 * time.Minute

// Options says what the offline world holds. The zero value is an empty cluster and an EC2 without types.
type Options struct {
	// Cluster is a tree of kubectl dumps, JSON or YAML: single objects, Lists, several documents in a file. Of
	// these it takes Nodes, Karpenter's kinds of every API generation, Deployments and ConfigMaps, with their
	// status. Outputs of `aws ec2 describe-instance-types` in the tree are served by EC2.
	Cluster fs.FS
	// InstanceTypes is a tree of more outputs of `aws ec2 describe-instance-types`.
	InstanceTypes fs.FS
	// CRDs is a tree of CustomResourceDefinitions, one in a file, all of which are installed; objects of
	// Karpenter's kinds that it does not define are left out, as a cluster without the definition cannot hold
	// them. Nil: the definitions of the API generations that the cluster's objects are written in.
	CRDs fs.FS
	// Assets is the directory of kube-apiserver and etcd. Empty: $KUBEBUILDER_ASSETS (read by envtest), else the
	// newest release in setup-envtest's store, else /usr/local/kubebuilder/bin.
	Assets string
}

// Environment is a running offline world.
type Environment struct {
	// REST reaches the API server as a member of system:masters.
	REST *rest.Config
	// EC2 is the fake behind EC2URL, for faults and call counts.
	EC2 *EC2
	// EC2URL is the endpoint of the fake EC2, e.g. http://127.0.0.1:40123. Any credentials do.
	EC2URL string

	envtest *envtest.Environment
	server  *http.Server
	folder  string
	stop    sync.Once
	stopped error
}

// Start starts an API server with the options' objects, and a fake EC2, both on loopback. It never uses an
// existing cluster, whatever USE_EXISTING_CLUSTER says. ctx bounds the start, not the life of the environment: call
// [Environment.Stop].
func Start(ctx context.Context, options Options) (*Environment, error) {
	cluster, err := readDump(options.Cluster)
	if err != nil {
		return nil, fmt.Errorf("reading the cluster: %w", err)
	}
	catalogue, err := readDump(options.InstanceTypes)
	if err != nil {
		return nil, fmt.Errorf("reading the instance types: %w", err)
	}
	fake, err := newEC2(slices.Concat(cluster.instanceTypes, catalogue.instanceTypes))
	if err != nil {
		return nil, err
	}
	definitions, objects, err := definitionsFor(cluster.objects, options.CRDs)
	if err != nil {
		return nil, err
	}

	// Without any logger controller-runtime complains on standard error after 30 s. One that was set before stays.
	ctrllog.SetLogger(logr.Discard())
	e := &Environment{EC2: fake}
	if err := e.startServers(ctx, definitions, options.Assets); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the API server: %w", err), e.Stop())
	}
	if err := e.load(ctx, objects); err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	return e, nil
}

// definitionsFor returns the definitions to install and the objects that they leave.
func definitionsFor(objects []*unstructured.Unstructured, tree fs.FS) ([]*apiextensionsv1.CustomResourceDefinition, []*unstructured.Unstructured, error) {
	if tree == nil {
		definitions, err := crdsFor(objects)
		return definitions, objects, err
	}
	definitions, err := readCRDs(tree)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the CRDs: %w", err)
	}
	objects = slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool {
		return isKarpenters(o.GroupVersionKind()) && !serves(definitions, o.GroupVersionKind())
	})
	return definitions, objects, nil
}

func (e *Environment) startServers(ctx context.Context, definitions []*apiextensionsv1.CustomResourceDefinition, assets string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "allocatable-diff-offline-")
	if err != nil {
		return err
	}
	e.folder = folder

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	e.EC2URL = "http://" + listener.Addr().String()
	e.server = &http.Server{Handler: e.EC2, ReadHeaderTimeout: time.Minute}
	go func() { _ = e.server.Serve(listener) }() // always ends with an error: closed

	e.envtest = &envtest.Environment{
		CRDs:                     definitions,
		UseExistingCluster:       new(bool), // false: this writes objects, and must never write them to a cluster of the user's
		ControlPlaneStartTimeout: serverStartTimeout,
		BinaryAssetsDirectory:    newestAssets(),
	}
	if assets != "" {
		e.envtest.ControlPlane.GetAPIServer().Path = filepath.Join(assets, "kube-apiserver")
		e.envtest.ControlPlane.Etcd = &envtest.Etcd{Path: filepath.Join(assets, "etcd")}
	}
	// Without a route to anywhere the server finds no address of its own to advertise, and ends; and one on loopback it
	// could not write into the kubernetes Service, which nobody needs here.
	e.envtest.ControlPlane.GetAPIServer().Configure().Set("advertise-address", "127.0.0.1").Set("endpoint-reconciler-type", "none")
	// It would taint each new node not-ready, which no kubelet would take away again.
	e.envtest.ControlPlane.GetAPIServer().Configure().Append("disable-admission-plugins", "TaintNodesByCondition")
	e.REST, err = e.envtest.Start()
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w (%w)", ErrNoServers, err)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(e.Kubeconfig(), e.envtest.KubeConfig, 0o600)
}

// newestAssets returns the newest complete release in setup-envtest's store, or "".
func newestAssets() string {
	store, err := envtest.SetupEnvtestDefaultBinaryAssetsDirectory()
	if err != nil {
		return ""
	}
	entries, err := os.ReadDir(store)
	if err != nil {
		return ""
	}
	platform := "-" + runtime.GOOS + "-" + runtime.GOARCH
	newest, version := "", ""
	for _, entry := range entries {
		candidate, ok := strings.CutSuffix("v"+entry.Name(), platform)
		folder := filepath.Join(store, entry.Name())
		if ok && semver.IsValid(candidate) && semver.Compare(candidate, version) > 0 && hasServers(folder) {
			newest, version = folder, candidate
		}
	}
	return newest
}

func hasServers(folder string) bool {
	for _, name := range []string{"kube-apiserver", "etcd"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

// Load adds the objects of another tree of kubectl dumps, as [Options.Cluster]. Their kinds must be served.
func (e *Environment) Load(ctx context.Context, cluster fs.FS) error {
	more, err := readDump(cluster)
	if err != nil {
		return fmt.Errorf("reading the cluster: %w", err)
	}
	return e.load(ctx, more.objects)
}

func (e *Environment) load(ctx context.Context, objects []*unstructured.Unstructured) error {
	config := rest.CopyConfig(e.REST)
	config.QPS = -1 // no limit: the server is ours
	c, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return err
	}
	return load(ctx, c, objects)
}

// Kubeconfig returns the path of a kubeconfig for REST's identity. Stop removes it.
func (e *Environment) Kubeconfig() string {
	return filepath.Join(e.folder, "kubeconfig")
}

// AddUser makes an identity that RBAC has granted nothing yet, and returns the path of its kubeconfig, which Stop
// removes. The name is what a role binding calls it.
func (e *Environment) AddUser(name string, groups ...string) (kubeconfig string, err error) {
	user, err := e.envtest.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return "", fmt.Errorf("adding user %q: %w", name, err)
	}
	content, err := user.KubeConfig()
	if err != nil {
		return "", fmt.Errorf("adding user %q: %w", name, err)
	}
	file, err := os.CreateTemp(e.folder, "kubeconfig-") // 0600
	if err != nil {
		return "", err
	}
	_, err = file.Write(content)
	return file.Name(), errors.Join(err, file.Close())
}

// Stop ends the servers and removes their files. Calling it again returns what the first call returned.
func (e *Environment) Stop() error {
	e.stop.Do(func() {
		if e.server != nil {
			e.stopped = errors.Join(e.stopped, e.server.Close())
		}
		if e.envtest != nil {
			e.stopped = errors.Join(e.stopped, e.envtest.Stop())
		}
		if e.folder != "" {
			e.stopped = errors.Join(e.stopped, os.RemoveAll(e.folder))
		}
	})
	return e.stopped
}
