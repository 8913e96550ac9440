package collect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// The structs of this file are the shapes of Kubernetes objects cut down to what a snapshot keeps; all other fields are
// skipped by the decoder. One shape serves every API generation of a kind: where a generation has no such field, it
// stays empty.

// objectMeta is the metadata of any object.
type objectMeta struct {
	Name              string           `json:"name"`
	Namespace         string           `json:"namespace"`
	Labels            labelSet         `json:"labels"`
	Annotations       annotations      `json:"annotations"`
	OwnerReferences   []ownerReference `json:"ownerReferences"`
	DeletionTimestamp string           `json:"deletionTimestamp"`
}

type ownerReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// annotations are the ones that matter; others can be long and are skipped.
type annotations struct {
	classHash, classHashVersion string
	poolHash, poolHashVersion   string
	compatKubelet               *string
}

// Annotations. Source: pkg/apis/*/labels.go of both repositories, v0.27 … v1.15.
const (
	annotationClassHash          = "karpenter.k8s.aws/ec2nodeclass-hash"
	annotationClassHashVersion   = "karpenter.k8s.aws/ec2nodeclass-hash-version"
	annotationTemplateHash       = "karpenter.k8s.aws/nodetemplate-hash" // v1alpha5, without a version
	annotationPoolHash           = "karpenter.sh/nodepool-hash"
	annotationPoolHashVersion    = "karpenter.sh/nodepool-hash-version"
	annotationProvisionerHash    = "karpenter.sh/provisioner-hash" // v1alpha5, without a version
	annotationCompatKubelet      = "compatibility.karpenter.sh/v1beta1-kubelet-conversion"
	annotationProvisionerVersion = "karpenter.sh/provisioner-hash-version"
)

// UnmarshalJSONFrom reads the annotations that matter.
func (a *annotations) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*a = annotations{}
	return members(dec, func(name string) error {
		switch name {
		case annotationClassHash, annotationTemplateHash:
			return json.UnmarshalDecode(dec, &a.classHash)
		case annotationClassHashVersion:
			return json.UnmarshalDecode(dec, &a.classHashVersion)
		case annotationPoolHash, annotationProvisionerHash:
			return json.UnmarshalDecode(dec, &a.poolHash)
		case annotationPoolHashVersion, annotationProvisionerVersion:
			return json.UnmarshalDecode(dec, &a.poolHashVersion)
		case annotationCompatKubelet:
			return json.UnmarshalDecode(dec, &a.compatKubelet)
		}
		return dec.SkipValue()
	})
}

// members calls visit for each member of an object, to read its value; null is an object without members.
func members(dec *jsontext.Decoder, visit func(name string) error) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch tok.Kind() {
	case 'n':
		return nil
	case '{':
	default:
		return &wrongKind{want: "an object", found: tok.Kind()}
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := visit(name.String()); err != nil {
			return err
		}
	}
	_, err = dec.ReadToken()
	return err
}

// wrongKind is a JSON value of another kind than is needed.
type wrongKind struct {
	want  string
	found jsontext.Kind
}

func (e *wrongKind) Error() string {
	return "expected " + e.want + ", found " + snapshot.KindName(e.found)
}

func (a *annotations) hashOfClass() snapshot.Hash {
	return snapshot.Hash{Value: a.classHash, Version: a.classHashVersion}
}

func (a *annotations) hashOfPool() snapshot.Hash {
	return snapshot.Hash{Value: a.poolHash, Version: a.poolHashVersion}
}

// nodeObject is a Node.
type nodeObject struct {
	Metadata objectMeta
	Spec     struct {
		ProviderID string `json:"providerID"`
	}
	Status struct {
		Capacity    snapshot.ResourceList `json:"capacity"`
		Allocatable snapshot.ResourceList `json:"allocatable"`
		Conditions  []condition           `json:"conditions"`
		NodeInfo    struct {
			OSImage        string `json:"osImage"`
			KubeletVersion string `json:"kubeletVersion"`
			KernelVersion  string `json:"kernelVersion"`
		} `json:"nodeInfo"`
	}
}

type condition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
}

// statusOf is the status of the named condition; empty when there is none.
func statusOf(conditions []condition, name string) string {
	for _, c := range conditions {
		if c.Type == name {
			return c.Status
		}
	}
	return ""
}

// claimObject is a NodeClaim or Machine.
type claimObject struct {
	Metadata objectMeta
	Spec     struct {
		Kubelet            lenient[*snapshot.Kubelet] `json:"kubelet"`
		NodeClassRef       reference                  `json:"nodeClassRef"`
		MachineTemplateRef reference                  `json:"machineTemplateRef"`
		Resources          struct {
			Requests snapshot.ResourceList `json:"requests"`
		} `json:"resources"`
	}
	Status struct {
		ProviderID  string                `json:"providerID"`
		NodeName    string                `json:"nodeName"`
		ImageID     string                `json:"imageID"`
		Capacity    snapshot.ResourceList `json:"capacity"`
		Allocatable snapshot.ResourceList `json:"allocatable"`
		Conditions  []condition           `json:"conditions"`
	}
}

// reference points to a class: by group in v1, by apiVersion before.
type reference struct {
	Group      string `json:"group"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// classRef is the reference in one form. An absent kind is the only one that the generation had.
func (r reference) classRef(defaultKind string) snapshot.ClassRef {
	if r.Name == "" {
		return snapshot.ClassRef{}
	}
	group := r.Group
	if group == "" {
		group, _, _ = strings.Cut(r.APIVersion, "/")
	}
	kind := r.Kind
	if kind == "" {
		kind = defaultKind
	}
	return snapshot.ClassRef{Group: group, Kind: kind, Name: r.Name}
}

// poolObject is a NodePool or Provisioner.
type poolObject struct {
	Metadata objectMeta
	Spec     struct {
		// v1beta1 and v1
		Template struct {
			Spec struct {
				Kubelet      lenient[*snapshot.Kubelet] `json:"kubelet"`
				NodeClassRef reference                  `json:"nodeClassRef"`
			} `json:"spec"`
		} `json:"template"`
		// v1alpha5
		KubeletConfiguration lenient[*snapshot.Kubelet] `json:"kubeletConfiguration"`
		ProviderRef          reference                  `json:"providerRef"`
		Provider             *classSpec                 `json:"provider"`
	}
}

// classObject is an EC2NodeClass or AWSNodeTemplate.
type classObject struct {
	Metadata objectMeta
	Spec     classSpec
	Status   struct {
		AMIs []struct {
			ID string `json:"id"`
		} `json:"amis"`
	}
}

type classSpec struct {
	AMIFamily        *string `json:"amiFamily"`
	AMISelectorTerms []struct {
		Alias string `json:"alias"`
	} `json:"amiSelectorTerms"`
	BlockDeviceMappings lenient[[]blockDeviceMapping]         `json:"blockDeviceMappings"`
	InstanceStorePolicy string                                `json:"instanceStorePolicy"`
	NetworkInterfaces   lenient[*[]snapshot.NetworkInterface] `json:"networkInterfaces"`
	Kubelet             lenient[*snapshot.Kubelet]            `json:"kubelet"`
}

type blockDeviceMapping struct {
	DeviceName *string `json:"deviceName"`
	RootVolume bool    `json:"rootVolume"`
	EBS        *struct {
		VolumeSize *quantity `json:"volumeSize"`
		SnapshotID string    `json:"snapshotID"`
	} `json:"ebs"`
}

// quantity is a Kubernetes quantity as written: a string or a plain number.
type quantity string

// UnmarshalJSONFrom takes a string or a number verbatim.
func (q *quantity) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if k := tok.Kind(); k != '"' && k != '0' {
		return &wrongKind{want: "a quantity", found: k}
	}
	*q = quantity(tok.String())
	return nil
}

// lenient is a value of a shape that the API server does not enforce in every generation (v1.15 takes any object for
// spec.kubelet). A wrong shape is no broken file: it is kept as a problem of the object that has it.
type lenient[T any] struct {
	value T
	err   error
}

// UnmarshalJSONFrom fails on broken JSON alone.
func (l *lenient[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	l.decode(raw)
	return nil
}

func (l *lenient[T]) decode(raw []byte) {
	*l = lenient[T]{}
	var value T
	err := json.Unmarshal(raw, &value)
	var syntax *jsontext.SyntacticError
	switch {
	case err == nil:
		l.value = value
	case errors.As(err, &syntax): // an annotation's text can be no JSON at all
		l.err = fmt.Errorf("broken JSON: %w", reason(syntax))
	default:
		l.err = snapshot.ExplainJSON(err)
	}
}

// kubeletOf is the settings at path, with the problem where they have the wrong shape; nil when they are not set.
func kubeletOf(l lenient[*snapshot.Kubelet], path string) *snapshot.Kubelet {
	if l.err != nil {
		return &snapshot.Kubelet{Problem: path + ": " + l.err.Error()}
	}
	if k := l.value; k != nil {
		k.MaxPods, k.PodsPerCore, k.Problem = given(k.MaxPods), given(k.PodsPerCore), ""
	}
	return l.value
}

// given is v, or nil for null: the API reads both as not set.
func given(v jsontext.Value) jsontext.Value {
	if v.Kind() == 'n' {
		return nil
	}
	return v
}

// overlayObject is a NodeOverlay.
type overlayObject struct {
	Metadata objectMeta
	Spec     struct {
		Weight       int64                  `json:"weight"`
		Requirements []snapshot.Requirement `json:"requirements"`
		Capacity     snapshot.Labels        `json:"capacity"`
	}
}

// deploymentObject is a Deployment; which one is Karpenter's is decided when all are read.
type deploymentObject struct {
	Metadata objectMeta
	Spec     struct {
		Template struct {
			Spec struct {
				Containers []Container `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	}
}

// configMapObject is a ConfigMap.
type configMapObject struct {
	Metadata objectMeta
	Data     shortValues
}

// shortValues are the entries of a ConfigMap that can be a setting; files that people keep in ConfigMaps are not.
type shortValues map[string]string

const maxSetting = 1024

// UnmarshalJSONFrom skips the long values.
func (m *shortValues) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*m = shortValues{}
	return members(dec, func(name string) error {
		raw, err := dec.ReadValue()
		if err != nil || len(raw) > maxSetting || raw.Kind() == 'n' {
			return err
		}
		var value string
		if err := json.Unmarshal(raw, &value); err != nil {
			return err
		}
		(*m)[name] = value
		return nil
	})
}
