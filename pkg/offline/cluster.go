package offline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/allocatable-diff/allocatable-diff/fixtures/crds"
)

// loadOrder lists the kinds that are taken from a dump, owners before what they own. It is all that Karpenter's
// capacity arithmetic depends on; whatever else a dump holds is left out.
var loadOrder = []schema.GroupKind{
	{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass"},
	{Group: "karpenter.k8s.aws", Kind: "AWSNodeTemplate"},
	{Group: "karpenter.sh", Kind: "NodePool"},
	{Group: "karpenter.sh", Kind: "Provisioner"},
	{Group: "karpenter.sh", Kind: "NodeOverlay"},
	{Group: "karpenter.sh", Kind: "NodeClaim"},
	{Group: "karpenter.sh", Kind: "Machine"},
	{Group: "", Kind: "Node"},
	{Group: "", Kind: "ConfigMap"},
	{Group: "apps", Kind: "Deployment"},
}

// dump is what a tree of files holds: Kubernetes objects and outputs of `aws ec2 describe-instance-types`.
type dump struct {
	objects       []*unstructured.Unstructured
	instanceTypes []instanceType
}

// readDump reads every .json, .yaml and .yml file of the tree, gzipped or not, in name order. Files that hold
// something else, such as a policy or a wanted output, do not matter; a file that is no JSON or YAML is an error.
func readDump(tree fs.FS) (dump, error) {
	var all dump
	if tree == nil {
		return all, nil
	}
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isDocument(path) {
			return err
		}
		data, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		if err := all.read(data); err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		return nil
	})
	return all, err
}

func isDocument(path string) bool {
	path = strings.TrimSuffix(path, ".gz")
	return slices.ContainsFunc([]string{".json", ".yaml", ".yml"}, func(suffix string) bool { return strings.HasSuffix(path, suffix) })
}

// read adds the documents of one file.
func (d *dump) read(data []byte) error {
	plain, err := gunzip(data)
	if err != nil {
		return err
	}
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(plain), 4096)
	for {
		var document runtime.RawExtension
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := d.add(document.Raw); err != nil {
			return err
		}
	}
}

// add sorts one JSON document into the dump.
func (d *dump) add(document []byte) error {
	var head struct {
		APIVersion    string            `json:"apiVersion"`
		Kind          string            `json:"kind"`
		Items         []json.RawMessage `json:"items"`
		InstanceTypes json.RawMessage
	}
	var mistyped *json.UnmarshalTypeError
	if err := json.Unmarshal(document, &head); errors.As(err, &mistyped) {
		return nil // JSON, but neither an object of Kubernetes nor an answer of EC2
	} else if len(document) > 0 && err != nil {
		return err
	}
	switch {
	case head.InstanceTypes != nil:
		types, err := readInstanceTypes(document)
		if err != nil {
			return err
		}
		d.instanceTypes = append(d.instanceTypes, types...)
	case strings.HasSuffix(head.Kind, "List") && head.APIVersion != "":
		for i, item := range head.Items {
			if err := d.add(item); err != nil {
				return fmt.Errorf("item %d: %w", i+1, err)
			}
		}
	case slices.Contains(loadOrder, schema.FromAPIVersionAndKind(head.APIVersion, head.Kind).GroupKind()):
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(document); err != nil {
			return err
		}
		if object.GetName() == "" {
			return fmt.Errorf("a %s has no name", head.Kind)
		}
		d.objects = append(d.objects, object)
	}
	return nil
}

// readCRDs reads the CustomResourceDefinitions of a tree, in name order.
func readCRDs(tree fs.FS) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var all []*apiextensionsv1.CustomResourceDefinition
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isDocument(path) {
			return err
		}
		data, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, definition); err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		if definition.Kind != "CustomResourceDefinition" {
			return fmt.Errorf("reading %s: not a CustomResourceDefinition but %q", path, definition.Kind)
		}
		all = append(all, definition)
		return nil
	})
	return all, err
}

// crdsFor returns the definitions of the API generations that the objects are written in: none for a cluster
// without Karpenter's objects. Objects of two generations of one kind cannot live in one API server, because
// translating one into the other takes Karpenter's webhooks.
func crdsFor(objects []*unstructured.Unstructured) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	generations, err := fs.ReadDir(crds.Files, ".")
	if err != nil {
		return nil, err
	}
	var chosen []*apiextensionsv1.CustomResourceDefinition
	from := map[string]string{} // definition's name to generation
	for _, generation := range generations {
		tree, err := fs.Sub(crds.Files, generation.Name())
		if err != nil {
			return nil, err
		}
		definitions, err := readCRDs(tree)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return serves(definitions, o.GroupVersionKind()) }) {
			continue
		}
		for _, definition := range definitions {
			if other, ok := from[definition.Name]; ok {
				return nil, fmt.Errorf("%s are dumped in the API generations %s and %s: dump them in one, e.g. kubectl get %s", definition.Spec.Names.Plural, other, generation.Name(), definition.Name)
			}
			from[definition.Name] = generation.Name()
			chosen = append(chosen, definition)
		}
	}
	for _, object := range objects {
		kind := object.GroupVersionKind()
		if isKarpenters(kind) && !serves(chosen, kind) {
			return nil, fmt.Errorf("%s is of an API version that this release has no definition of: %s", describe(object), kind.GroupVersion())
		}
	}
	return chosen, nil
}

func isKarpenters(kind schema.GroupVersionKind) bool {
	return kind.Group == "karpenter.sh" || kind.Group == "karpenter.k8s.aws"
}

func serves(definitions []*apiextensionsv1.CustomResourceDefinition, kind schema.GroupVersionKind) bool {
	return slices.ContainsFunc(definitions, func(d *apiextensionsv1.CustomResourceDefinition) bool {
		return d.Spec.Group == kind.Group && d.Spec.Names.Kind == kind.Kind &&
			slices.ContainsFunc(d.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
				return v.Served && v.Name == kind.Version
			})
	})
}

// describe names an object in an error: Deployment "kube-system/karpenter".
func describe(object *unstructured.Unstructured) string {
	name := object.GetName()
	if object.GetNamespace() != "" {
		name = object.GetNamespace() + "/" + name
	}
	return fmt.Sprintf("%s %q", object.GetKind(), name)
}
