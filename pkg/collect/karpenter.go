package collect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Deployment is what is read of a Deployment of Karpenter.
type Deployment struct {
	Namespace, Name string
	// Labels are the Deployment's own, in key order.
	Labels     snapshot.Labels
	Containers []Container
}

// Container is a container of a pod template; the JSON names are Kubernetes'.
type Container struct {
	Name    string      `json:"name"`
	Image   string      `json:"image"`
	Command []string    `json:"command"`
	Args    []string    `json:"args"`
	Env     []EnvVar    `json:"env"`
	EnvFrom []EnvSource `json:"envFrom"`
}

// EnvVar is one entry of env.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// ValueFrom is nil when Value is given.
	ValueFrom *struct {
		ConfigMapKeyRef *KeyRef `json:"configMapKeyRef"`
		SecretKeyRef    *KeyRef `json:"secretKeyRef"`
	} `json:"valueFrom"`
}

// KeyRef points to one entry of a ConfigMap or Secret.
type KeyRef struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// EnvSource is one entry of envFrom.
type EnvSource struct {
	Prefix       string `json:"prefix"`
	ConfigMapRef *struct {
		Name string `json:"name"`
	} `json:"configMapRef"`
	SecretRef *struct {
		Name string `json:"name"`
	} `json:"secretRef"`
}

// ConfigMap is what is read of a ConfigMap: the entries short enough to be a setting.
type ConfigMap struct {
	Namespace, Name string
	Data            map[string]string
}

// globalSettings is the ConfigMap that v0.27 … v0.32 read.
const globalSettings = "karpenter-global-settings"

// Labels of the Deployment. Source: charts/karpenter/templates/_helpers.tpl, v0.27 … v1.15.
const (
	labelAppName    = "app.kubernetes.io/name"
	labelAppVersion = "app.kubernetes.io/version"
	labelHelmChart  = "helm.sh/chart"
)

// isKarpenter reports whether the Deployment is Karpenter's: by its label, or where someone dropped that, by an image
// whose last two names are Karpenter's.
func (d *Deployment) isKarpenter() bool {
	if name, ok := d.Labels.Lookup(labelAppName); ok {
		return name == "karpenter"
	}
	return slices.ContainsFunc(d.Containers, func(c Container) bool {
		repository, _ := splitImage(c.Image)
		return strings.HasSuffix("/"+repository, "/karpenter/controller")
	})
}

func (d *Deployment) String() string { return "Deployment " + d.Namespace + "/" + d.Name }

// container is the controller: by the chart's name for it, else the only one, else the one with an image of Karpenter.
func (d *Deployment) container() Container {
	for _, c := range d.Containers {
		if c.Name == "controller" {
			return c
		}
	}
	for _, c := range d.Containers {
		if len(d.Containers) == 1 || strings.Contains(c.Image, "karpenter") {
			return c
		}
	}
	return Container{}
}

// detection is what was found, and how many of the ConfigMaps are Karpenter's.
type detection struct {
	controller snapshot.Controller
	configMaps int
}

// detect finds the release and the settings of the running Karpenter in its Deployment and ConfigMaps. served are
// the API versions of group karpenter.sh that the cluster has, such as "karpenter.sh/v1beta1". namespace is where
// Karpenter runs; empty means kube-system, then karpenter, then wherever a Deployment of it is.
//
// The release comes from, best first: the image's tag, the label app.kubernetes.io/version, the label helm.sh/chart,
// the API versions served. A setting comes from a flag, else the environment, else the ConfigMap
// karpenter-global-settings, of which v0.31 and older read the ConfigMap alone, v0.32 all three, and v0.33 and newer
// not the ConfigMap. Values are kept as written; a setting that nothing sets stays empty, and then the default of
// Karpenter applies.
// Source: pkg/operator/options and pkg/apis/settings, v0.27 … v1.15 (capacity model §7).
func detect(deployments []Deployment, configMaps []ConfigMap, served []string, namespace string) detection {
	var d detection
	c := &d.controller
	e := &environment{configMaps: configMaps, used: map[string]bool{}, notes: &c.Notes}
	if e.deployment = choose(deployments, namespace, &c.Notes); e.deployment != nil {
		c.Version = releaseOf(e.deployment, &c.Notes)
		e.read()
		namespace = e.deployment.Namespace
	}
	if !isRelease(c.Version.Value) {
		if s := releaseServed(served); s.Found() {
			c.Version = s
		}
	}
	e.settings = e.globalSettings(namespace)
	e.generation = generationOf(c.Version.Value)
	for _, o := range controllerOptions {
		*o.setting(c) = e.find(o)
	}
	switch {
	case e.generation == flagsOnly && e.settings != nil:
		e.note("ConfigMap %s/%s is not used: Karpenter v0.33 and newer do not read it", e.settings.Namespace, globalSettings)
	case e.generation != flagsOnly && e.settings == nil && e.deployment != nil:
		e.note("ConfigMap %s/%s is not in the input: what it may set is not seen", namespace, globalSettings)
	}
	if chart := e.chart(); chart != "" && e.generation == flagsOnly && !c.VMMemoryOverheadPercent.Found() {
		e.note("%s comes from Helm chart %s and sets no VM_MEMORY_OVERHEAD_PERCENT, so Karpenter's default applies: the chart drops a settings.vmMemoryOverheadPercent of 0 (write \"0\" for zero)", e.deployment, chart)
	}
	d.configMaps = len(e.used)
	return d
}

// choose is the Deployment that counts where there are several; nil when there is none.
func choose(deployments []Deployment, namespace string, notes *[]string) *Deployment {
	sorted := slices.Clone(deployments)
	slices.SortFunc(sorted, func(a, b Deployment) int {
		return cmp.Or(cmp.Compare(rank(a.Namespace), rank(b.Namespace)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	names := make([]string, len(sorted))
	for i := range sorted {
		names[i] = sorted[i].Namespace + "/" + sorted[i].Name
	}
	found := strings.Join(names, ", ")
	if namespace != "" {
		sorted = slices.DeleteFunc(sorted, func(d Deployment) bool { return d.Namespace != namespace })
		if len(sorted) == 0 && len(names) > 0 {
			*notes = append(*notes, fmt.Sprintf("no Deployment of Karpenter in namespace %s, but there is %s (see --karpenter-namespace)", namespace, found))
		}
	}
	if len(sorted) == 0 {
		return nil
	}
	chosen := &sorted[0]
	if len(sorted) > 1 {
		*notes = append(*notes, fmt.Sprintf("there are %d Deployments of Karpenter (%s): %s/%s is taken for the running one (see --karpenter-namespace)", len(names), found, chosen.Namespace, chosen.Name))
	}
	return chosen
}

// rank orders the namespaces that charts and guides put Karpenter in.
func rank(namespace string) int {
	switch namespace {
	case "kube-system":
		return 0
	case "karpenter":
		return 1
	}
	return 2
}

// releasePattern is a release, with or without a leading v, a patch and a suffix; buildPattern a build of a commit.
var (
	releasePattern = pattern(`^v?\d{1,5}\.\d{1,5}(\.\d{1,5})?([-+].+)?$`)
	buildPattern   = pattern(`^(v?0-)?[0-9a-f]{7,64}$`)
)

func isRelease(version string) bool { return releasePattern().MatchString(version) }

// releaseOf reads the release from the image's tag, else from the labels that the chart writes. A build of a commit
// names no release, and its labels would be those of the chart it was put into. Where nothing names one, the tag or
// digest is returned, so that whoever judges can say what was found.
func releaseOf(d *Deployment, notes *[]string) snapshot.Setting {
	image := d.container().Image
	_, tag := splitImage(image)
	if isRelease(tag) || buildPattern().MatchString(tag) {
		return snapshot.Setting{Value: strings.TrimPrefix(tag, "v"), From: "image tag of " + d.String()}
	}
	for _, label := range []string{labelAppVersion, labelHelmChart} {
		// A label cannot hold a plus sign: Helm writes an underscore.
		value := strings.ReplaceAll(strings.TrimPrefix(d.Labels.Get(label), "karpenter-"), "_", "+")
		if !isRelease(value) {
			continue
		}
		if tag != "" {
			*notes = append(*notes, fmt.Sprintf("the image tag %q of %s names no release: the label %s is taken", tag, d, label))
		}
		return snapshot.Setting{Value: strings.TrimPrefix(value, "v"), From: "label " + label + " of " + d.String()}
	}
	if _, digest, ok := strings.Cut(image, "@"); ok && tag == "" {
		tag = digest
	}
	if tag == "" {
		tag = "no tag"
	}
	return snapshot.Setting{Value: tag, From: "image of " + d.String()}
}

// splitImage takes an image reference apart: "mirror:5000/karpenter/controller:v0.34.1@sha256:…" is repository
// "mirror:5000/karpenter/controller" and tag "v0.34.1"; the tag is empty when there is none.
func splitImage(image string) (repository, tag string) {
	image, _, _ = strings.Cut(image, "@")
	colon := strings.LastIndexByte(image, ':')
	if colon < strings.LastIndexByte(image, '/')+1 {
		return image, ""
	}
	return image[:colon], image[colon+1:]
}

// servedReleases says which releases serve a set of versions of karpenter.sh; the newest of each range judges. Releases
// that serve v1 alone are all since v1.1, which tells too little.
var servedReleases = []struct {
	versions []string
	release  string
	says     string
}{
	{[]string{"karpenter.sh/v1alpha5"}, "0.31", "v0.31 or older"},
	{[]string{"karpenter.sh/v1alpha5", "karpenter.sh/v1beta1"}, "0.32", "v0.32"},
	{[]string{"karpenter.sh/v1beta1"}, "0.37", "v0.33 to v0.37"},
	{[]string{"karpenter.sh/v1", "karpenter.sh/v1beta1"}, "1.0", "v1.0"},
}

func releaseServed(served []string) snapshot.Setting {
	var generations []string // v1alpha1 has NodeOverlays alone
	for _, v := range []string{"karpenter.sh/v1", "karpenter.sh/v1alpha5", "karpenter.sh/v1beta1"} {
		if slices.Contains(served, v) {
			generations = append(generations, v)
		}
	}
	for _, s := range servedReleases {
		if slices.Equal(s.versions, generations) {
			return snapshot.Setting{Value: s.release, From: "the API versions " + strings.Join(s.versions, " and ") + " (Karpenter " + s.says + ")"}
		}
	}
	return snapshot.Setting{}
}

// generation is where a release reads its settings from.
type generation int

const (
	flagsOnly     generation = iota // v0.33 and newer, and a release that is not known
	flagsAndMap                     // v0.32
	configMapOnly                   // v0.31 and older
)

// generationOf looks at the minor release alone: a pre-release counts as the release that it precedes.
func generationOf(version string) generation {
	minor := semver.MajorMinor("v" + version)
	switch {
	case minor == "" || semver.Compare(minor, "v0.33") >= 0:
		return flagsOnly
	case minor == "v0.32":
		return flagsAndMap
	}
	return configMapOnly
}
