package options

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
)

// Auto is the value of an option that is found rather than given.
const Auto = "auto"

// Options is everything that can be asked for. The zero value is not useful: see New.
type Options struct {
	// ClusterName (--cluster-name, CLUSTER_NAME) names the cluster in every output.
	ClusterName string
	// From (--from, SOURCE) are snapshots, dumps, run files or directories; empty means the live cluster.
	From []string
	// InstanceTypes (--instance-types, INSTANCE_TYPES) is auto, ec2, labels, a file or a directory.
	InstanceTypes string
	// KarpenterVersion (--karpenter-version, KARPENTER_VERSION) is auto or the release that judges.
	KarpenterVersion string
	// OverheadPercent (--overhead-percent, VM_MEMORY_OVERHEAD_PERCENT) is auto or a fraction.
	OverheadPercent string
	// ReservedENIs (--reserved-enis, RESERVED_ENIS) is auto or a count.
	ReservedENIs string
	// FeatureGates (--feature-gates, FEATURE_GATES) and AWSFeatureGates (--aws-feature-gates, AWS_FEATURE_GATES) are
	// auto or "Name=true,…".
	FeatureGates, AWSFeatureGates string

	// Policy, Allowlist and Baseline are files; empty for the built-in policy and none.
	Policy, Allowlist, Baseline string
	// Ratchet (--ratchet) writes Baseline anew: without what is no longer found, never with anything more.
	Ratchet bool
	// Outputs (--output) are FORMAT=PATH.
	Outputs []string
	// GitHubOutput (GITHUB_OUTPUT) is the file that a GitHub step's results go to, where --output github is asked for.
	GitHubOutput string
	// CSVFormat (--csv-format) is "fixed" or "upstream".
	CSVFormat string

	// Kubeconfig (--kubeconfig, KUBECONFIG), Context, As and AsGroups are as in kubectl.
	Kubeconfig, Context, As string
	AsGroups                []string
	// Selector (-l, --selector) chooses nodes by label.
	Selector string
	// ChunkSize (--chunk-size) is the objects read at a time; RequestTimeout (--request-timeout) bounds one request,
	// 0 for no bound.
	ChunkSize      int64
	RequestTimeout time.Duration
	// KarpenterNamespace (--karpenter-namespace) is where the controller runs; empty tries kube-system, then karpenter.
	KarpenterNamespace string
	// Profile, Region and EndpointURL are as in the AWS CLI; NoCache (--no-cache) reads EC2 anew.
	Profile, Region, EndpointURL string
	NoCache                      bool

	// Quiet (--quiet) prints the verdict alone; NoColor (--no-color, NO_COLOR) never colours.
	Quiet, NoColor bool
}

// Lookup reads one environment variable, as os.LookupEnv does.
type Lookup func(string) (string, bool)

// Environment reads the environment of the process.
var Environment Lookup = os.LookupEnv

// Inherited is the whole environment, for a program that is started in the place of this one.
func Inherited() []string { return os.Environ() }

// New returns the defaults.
func New() *Options {
	return &Options{
		InstanceTypes: Auto, KarpenterVersion: Auto, OverheadPercent: Auto, ReservedENIs: Auto,
		FeatureGates: Auto, AWSFeatureGates: Auto, CSVFormat: "fixed", ChunkSize: 500, RequestTimeout: 30 * time.Second,
	}
}

// variable is a row of the table of environment variables.
type variable struct {
	name, flag string
	set        func(*Options, string)
}

var variables = []variable{
	{"CLUSTER_NAME", "cluster-name", func(o *Options, v string) { o.ClusterName = v }},
	{"SOURCE", "from", func(o *Options, v string) { o.From = []string{v} }},
	{"INSTANCE_TYPES", "instance-types", func(o *Options, v string) { o.InstanceTypes = v }},
	{"KARPENTER_VERSION", "karpenter-version", func(o *Options, v string) { o.KarpenterVersion = v }},
	{"VM_MEMORY_OVERHEAD_PERCENT", "overhead-percent", func(o *Options, v string) { o.OverheadPercent = v }},
	{"RESERVED_ENIS", "reserved-enis", func(o *Options, v string) { o.ReservedENIs = v }},
	{"FEATURE_GATES", "feature-gates", func(o *Options, v string) { o.FeatureGates = v }},
	{"AWS_FEATURE_GATES", "aws-feature-gates", func(o *Options, v string) { o.AWSFeatureGates = v }},
	{"GITHUB_OUTPUT", "", func(o *Options, v string) { o.GitHubOutput = v }},
	{"NO_COLOR", "no-color", func(o *Options, _ string) { o.NoColor = true }},
}

// ReadEnvironment sets every option whose variable is set and not empty, but those whose flag was given on flags (nil
// for none). KUBECONFIG and the AWS variables are read by client-go and the AWS SDK, by their own rules.
func (o *Options) ReadEnvironment(lookup Lookup, flags *pflag.FlagSet) {
	for _, v := range variables {
		if flags != nil && flags.Changed(v.flag) {
			continue
		}
		if value, ok := lookup(v.name); ok && value != "" {
			v.set(o, value)
		}
	}
}

// Check refuses values that cannot be used, all of them at once.
func (o *Options) Check() error {
	_, overrides := o.Overrides()
	_, selector := o.LabelSelector()
	problems := []error{overrides, selector}
	if o.Ratchet && o.Baseline == "" {
		problems = append(problems, errors.New("--ratchet needs --baseline FILE, the file to tighten"))
	}
	if o.CSVFormat != "fixed" && o.CSVFormat != "upstream" {
		problems = append(problems, fmt.Errorf("--csv-format %q: it is fixed or upstream", o.CSVFormat))
	}
	if o.ChunkSize < 0 {
		problems = append(problems, fmt.Errorf("--chunk-size %d: it must be at least 0 (0 reads everything at once)", o.ChunkSize))
	}
	if o.RequestTimeout < 0 {
		problems = append(problems, fmt.Errorf("--request-timeout %s: it must not be negative", o.RequestTimeout))
	}
	return errors.Join(problems...)
}

// Overrides are the settings that replace the controller's.
func (o *Options) Overrides() (expect.Overrides, error) {
	var out expect.Overrides
	var problems []error
	if o.KarpenterVersion != Auto {
		out.KarpenterVersion = o.KarpenterVersion
	}
	if o.OverheadPercent != Auto {
		p, err := strconv.ParseFloat(o.OverheadPercent, 64)
		if err != nil {
			problems = append(problems, fmt.Errorf("--overhead-percent %q: it is a fraction such as 0.075, or auto", o.OverheadPercent))
		}
		out.OverheadPercent = &p
	}
	if o.ReservedENIs != Auto {
		n, err := strconv.ParseInt(o.ReservedENIs, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt32 {
			problems = append(problems, fmt.Errorf("--reserved-enis %q: it is a count of at least 0, or auto", o.ReservedENIs))
		}
		out.ReservedENIs = &n
	}
	if o.FeatureGates != Auto {
		out.FeatureGates = &o.FeatureGates
	}
	if o.AWSFeatureGates != Auto {
		out.AWSFeatureGates = &o.AWSFeatureGates
	}
	if len(problems) == 0 {
		problems = append(problems, out.Check())
	}
	return out, errors.Join(problems...)
}

// LabelSelector is Selector, parsed; nil when it is empty.
func (o *Options) LabelSelector() (labels.Selector, error) {
	if strings.TrimSpace(o.Selector) == "" {
		return nil, nil
	}
	s, err := labels.Parse(o.Selector)
	if err != nil {
		return nil, fmt.Errorf("--selector %q: %w", o.Selector, err)
	}
	return s, nil
}
