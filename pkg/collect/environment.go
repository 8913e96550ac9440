package collect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// controllerOption is a row of the table of settings: its names as a flag, in the environment and in the ConfigMap;
// empty where there is none.
type controllerOption struct {
	flag, env, key string
	boolean        bool
	setting        func(*snapshot.Controller) *snapshot.Setting
}

var controllerOptions = []controllerOption{
	{"vm-memory-overhead-percent", "VM_MEMORY_OVERHEAD_PERCENT", "aws.vmMemoryOverheadPercent", false,
		func(c *snapshot.Controller) *snapshot.Setting { return &c.VMMemoryOverheadPercent }},
	{"reserved-enis", "RESERVED_ENIS", "aws.reservedENIs", false,
		func(c *snapshot.Controller) *snapshot.Setting { return &c.ReservedENIs }},
	{"feature-gates", "FEATURE_GATES", "", false,
		func(c *snapshot.Controller) *snapshot.Setting { return &c.FeatureGates }},
	{"aws-feature-gates", "AWS_FEATURE_GATES", "", false,
		func(c *snapshot.Controller) *snapshot.Setting { return &c.AWSFeatureGates }},
	{"", "", "aws.enableENILimitedPodDensity", true,
		func(c *snapshot.Controller) *snapshot.Setting { return &c.ENILimitedPodDensity }},
	{"", "", "aws.enablePodENI", true,
		func(c *snapshot.Controller) *snapshot.Setting { return &c.PodENI }},
}

// environment is what the controller's process was started with, as far as its Deployment and ConfigMaps tell.
type environment struct {
	deployment *Deployment // nil when there is none
	configMaps []ConfigMap
	settings   *ConfigMap // karpenter-global-settings; nil when it was not seen
	generation generation
	used       map[string]bool // ConfigMaps that were looked into, by namespace/name
	notes      *[]string

	arguments []string
	variables map[string]variable
	// unseen are the sources of the environment that could not be read: they may set anything.
	unseen []string
}

// variable is one environment variable.
type variable struct {
	value string
	// from is where the value comes from, when not from the Deployment itself.
	from string
	// unknown: the value comes from where it cannot be read.
	unknown bool
}

func (e *environment) note(format string, args ...any) {
	*e.notes = append(*e.notes, fmt.Sprintf(format, args...))
}

// read evaluates envFrom, then env, then command and args, in the kubelet's order: what comes later wins.
func (e *environment) read() {
	c := e.deployment.container()
	e.variables = map[string]variable{}
	for _, source := range c.EnvFrom {
		e.readAll(source)
	}
	for _, v := range c.Env {
		e.variables[v.Name] = e.valueOf(v)
	}
	if len(c.Command) > 0 {
		e.arguments = append(e.arguments, c.Command[1:]...)
	}
	e.arguments = append(e.arguments, c.Args...)
}

func (e *environment) readAll(source EnvSource) {
	switch {
	case source.ConfigMapRef != nil:
		m := e.configMap(source.ConfigMapRef.Name)
		if m == nil {
			e.unseen = append(e.unseen, "ConfigMap "+source.ConfigMapRef.Name)
			return
		}
		for key, value := range m.Data { // into a map: the order does not matter
			e.variables[source.Prefix+key] = variable{value: value, from: ", from ConfigMap " + m.Namespace + "/" + m.Name}
		}
	case source.SecretRef != nil:
		e.unseen = append(e.unseen, "Secret "+source.SecretRef.Name)
	}
}

func (e *environment) valueOf(v EnvVar) variable {
	switch from := v.ValueFrom; {
	case from == nil:
		value, ok := e.expand(v.Value)
		if !ok {
			return variable{from: "another variable", unknown: true}
		}
		return variable{value: value}
	case from.ConfigMapKeyRef != nil:
		where := "key " + from.ConfigMapKeyRef.Key + " of ConfigMap " + from.ConfigMapKeyRef.Name
		if m := e.configMap(from.ConfigMapKeyRef.Name); m != nil {
			if value, ok := m.Data[from.ConfigMapKeyRef.Key]; ok {
				return variable{value: value, from: ", from " + where}
			}
		}
		return variable{from: where, unknown: true}
	case from.SecretKeyRef != nil:
		return variable{from: "key " + from.SecretKeyRef.Key + " of Secret " + from.SecretKeyRef.Name, unknown: true}
	}
	return variable{from: "a field of the pod", unknown: true}
}

// expand replaces $(NAME) by an environment variable, as the kubelet does; $$ is a dollar sign, and the name of no
// variable stays as it stands. It reports whether every value was known.
func (e *environment) expand(text string) (string, bool) {
	var b strings.Builder
	known := true
	for {
		before, rest, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			return b.String(), known
		}
		text = rest
		if strings.HasPrefix(rest, "$") {
			b.WriteByte('$')
			text = rest[1:]
			continue
		}
		name, after, closed := strings.Cut(strings.TrimPrefix(rest, "("), ")")
		v, set := e.variables[name]
		if !strings.HasPrefix(rest, "(") || !closed || !set {
			b.WriteByte('$')
			continue
		}
		b.WriteString(v.value)
		known = known && !v.unknown
		text = after
	}
}

// configMap is a ConfigMap in Karpenter's namespace; nil when it was not seen.
func (e *environment) configMap(name string) *ConfigMap {
	for i := range e.configMaps {
		if m := &e.configMaps[i]; m.Name == name && m.Namespace == e.deployment.Namespace {
			e.used[m.Namespace+"/"+m.Name] = true
			return m
		}
	}
	return nil
}

// globalSettings is the ConfigMap of v0.32 and older in the given namespace; when none is given, in the namespaces
// that people use. nil when it was not seen.
func (e *environment) globalSettings(namespace string) *ConfigMap {
	var found *ConfigMap
	for i := range e.configMaps {
		m := &e.configMaps[i]
		if m.Name != globalSettings || (namespace != "" && m.Namespace != namespace) {
			continue
		}
		e.used[m.Namespace+"/"+m.Name] = true
		if found == nil || rank(m.Namespace) < rank(found.Namespace) || (rank(m.Namespace) == rank(found.Namespace) && m.Namespace < found.Namespace) {
			found = m
		}
	}
	return found
}

// chart is the Helm chart that the Deployment was made by; empty when none was.
func (e *environment) chart() string {
	if e.deployment == nil {
		return ""
	}
	return e.deployment.Labels.Get(labelHelmChart)
}

// find is the value of an option, by the precedence of the release.
func (e *environment) find(o controllerOption) snapshot.Setting {
	if e.generation != configMapOnly && o.flag != "" && e.deployment != nil {
		if s, decided := e.started(o); decided {
			return s
		}
	}
	if e.generation == flagsOnly || o.key == "" || e.settings == nil {
		return snapshot.Setting{}
	}
	value, ok := e.settings.Data[o.key]
	if !ok {
		return snapshot.Setting{}
	}
	if on, err := strconv.ParseBool(value); o.boolean && err == nil {
		value = strconv.FormatBool(on)
	}
	return snapshot.Setting{Value: value, From: fmt.Sprintf("%s of ConfigMap %s/%s", o.key, e.settings.Namespace, e.settings.Name)}
}

// started looks at flags, then at the environment. decided is true when the option is set there, also where its value
// cannot be known: then it is not found, and a note says so.
func (e *environment) started(o controllerOption) (s snapshot.Setting, decided bool) {
	if text, ok := flagValue(e.arguments, o.flag); ok {
		value, known := e.expand(text)
		if !known {
			e.note("flag --%s=%s of %s cannot be resolved: give --%s", o.flag, text, e.deployment, ourFlag(o.flag))
			return s, true
		}
		return snapshot.Setting{Value: value, From: fmt.Sprintf("flag --%s of %s", o.flag, e.deployment)}, true
	}
	v, ok := e.variables[o.env]
	switch {
	case ok && v.unknown:
		e.note("env %s of %s comes from %s, which is not in the input: give --%s", o.env, e.deployment, v.from, ourFlag(o.flag))
		return s, true
	case ok:
		return snapshot.Setting{Value: v.value, From: fmt.Sprintf("env %s of %s%s", o.env, e.deployment, v.from)}, true
	case len(e.unseen) > 0:
		text := fmt.Sprintf("%s takes its environment also from %s, which is not in the input: what that sets is not seen", e.deployment, strings.Join(e.unseen, ", "))
		if !slices.Contains(*e.notes, text) {
			e.note("%s", text)
		}
	}
	return s, false
}

// ourFlag is the flag of this program that gives the option.
func ourFlag(flag string) string {
	if flag == "vm-memory-overhead-percent" {
		return "overhead-percent"
	}
	return flag
}

// flagValue is the value of a flag among arguments, as package flag reads them: one dash or two, the value after an
// equals sign or in the next argument; the last one wins.
func flagValue(arguments []string, flag string) (value string, found bool) {
	for i, a := range arguments {
		name, v, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-"), "=")
		switch {
		case !strings.HasPrefix(a, "-") || name != flag:
		case hasValue:
			value, found = v, true
		case i+1 < len(arguments):
			value, found = arguments[i+1], true
		}
	}
	return value, found
}
