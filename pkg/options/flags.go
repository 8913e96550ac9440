package options

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// AddCluster adds the flags that say which cluster is read, live or from files.
func (o *Options) AddCluster(f *pflag.FlagSet) {
	f.StringVar(&o.ClusterName, "cluster-name", o.ClusterName, "names the cluster in every output (env CLUSTER_NAME)")
	f.StringArrayVar(&o.From, "from", o.From, "snapshot, kubectl dump (JSON or YAML), run file or directory; - is stdin; repeatable; default: the live cluster (env SOURCE)")
	f.StringVarP(&o.Selector, "selector", "l", o.Selector, "label selector of the nodes")
	f.StringVar(&o.KarpenterNamespace, "karpenter-namespace", o.KarpenterNamespace, "namespace of the Karpenter controller (default: kube-system, then karpenter)")
	f.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "path of the kubeconfig file (env KUBECONFIG)")
	f.StringVar(&o.Context, "context", o.Context, "kubeconfig context to use")
	f.StringVar(&o.As, "as", o.As, "user to impersonate")
	f.StringArrayVar(&o.AsGroups, "as-group", o.AsGroups, "group to impersonate, repeatable")
	f.Int64Var(&o.ChunkSize, "chunk-size", o.ChunkSize, "objects to read at a time from the API server; 0 reads all at once")
	f.Var((*timeout)(&o.RequestTimeout), "request-timeout", "time limit of one request, such as 30s; 0 for none")
	f.BoolVar(&o.NoCache, "no-cache", o.NoCache, "read instance types from EC2 anew, not from the cache on disk")
}

// AddTypes adds the flags that say where the facts of instance types come from.
func (o *Options) AddTypes(f *pflag.FlagSet) {
	f.StringVar(&o.InstanceTypes, "instance-types", o.InstanceTypes, "facts of instance types: auto, ec2, labels, or a file or directory of 'aws ec2 describe-instance-types' output (env INSTANCE_TYPES)")
	f.StringVar(&o.Profile, "profile", o.Profile, "AWS profile")
	f.StringVar(&o.Region, "region", o.Region, "AWS region")
	f.StringVar(&o.EndpointURL, "endpoint-url", o.EndpointURL, "EC2 endpoint")
}

// AddKarpenter adds the flags that say which release judges, with which settings.
func (o *Options) AddKarpenter(f *pflag.FlagSet) {
	f.StringVar(&o.KarpenterVersion, "karpenter-version", o.KarpenterVersion, "release whose formulas judge; auto reads the running Deployment (env KARPENTER_VERSION)")
	f.StringVar(&o.OverheadPercent, "overhead-percent", o.OverheadPercent, "vmMemoryOverheadPercent, a fraction such as 0.075 (env VM_MEMORY_OVERHEAD_PERCENT)")
	f.StringVar(&o.ReservedENIs, "reserved-enis", o.ReservedENIs, "network interfaces that pods cannot use (env RESERVED_ENIS)")
	f.StringVar(&o.FeatureGates, "feature-gates", o.FeatureGates, "Karpenter's feature gates, such as NodeOverlay=true (env FEATURE_GATES)")
	f.StringVar(&o.AWSFeatureGates, "aws-feature-gates", o.AWSFeatureGates, "Karpenter's AWS feature gates, such as NodeClassCEL=true (env AWS_FEATURE_GATES)")
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "vm-memory-overhead-percent" { // the name that the controller's own flag has
			name = "overhead-percent"
		}
		return pflag.NormalizedName(name)
	})
}

// AddGate adds the flags that say what is tolerated.
func (o *Options) AddGate(f *pflag.FlagSet) {
	f.StringVar(&o.Policy, "policy", o.Policy, "policy file (default: the built-in policy)")
	f.StringVar(&o.Allowlist, "allowlist", o.Allowlist, "file of findings that are accepted, each with reason, owner and expiry")
	f.StringVar(&o.Baseline, "baseline", o.Baseline, "file of the findings that the gate was adopted with: only new or larger ones count")
	f.BoolVar(&o.Ratchet, "ratchet", o.Ratchet, "tighten the --baseline file to what is still found; the first time, write it")
}

// AddOutput adds the flags that say what is written.
func (o *Options) AddOutput(f *pflag.FlagSet) {
	f.StringArrayVar(&o.Outputs, "output", o.Outputs, "FORMAT=PATH, repeatable; - is stdout; formats: csv, csv-wide, junit, json, markdown, html, prometheus, github")
	o.AddCSVFormat(f)
}

// AddCSVFormat adds the flag of the 13-column CSV.
func (o *Options) AddCSVFormat(f *pflag.FlagSet) {
	f.StringVar(&o.CSVFormat, "csv-format", o.CSVFormat, "header of the 13-column CSV: fixed (13 cells in every row) or upstream (the first has 12, as Karpenter's tool writes it)")
}

// AddTerminal adds the flags of the terminal.
func (o *Options) AddTerminal(f *pflag.FlagSet) {
	f.BoolVar(&o.Quiet, "quiet", o.Quiet, "print the verdict alone")
	f.BoolVar(&o.NoColor, "no-color", o.NoColor, "never colour (env NO_COLOR)")
}

// timeout reads durations as kubectl does: "30s", or a plain number of seconds.
type timeout time.Duration

func (t *timeout) String() string { return time.Duration(*t).String() }

func (t *timeout) Type() string { return "duration" }

func (t *timeout) Set(text string) error {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		*t = timeout(time.Duration(n) * time.Second)
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("it is a duration such as 30s, or a number of seconds")
	}
	*t = timeout(d)
	return nil
}
