package collect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// apiServer reads objects as the bytes that they are sent in. It stands on client-go's plain client alone: every typed,
// discovery or controller client registers each type of every API when the program starts, half of its memory and of
// its time to start.
type apiServer struct {
	client rest.Interface
	// groups holds what was asked of each API group already.
	groups map[string][]apiVersion
}

// apiVersion is what an API server serves of one version of a group.
type apiVersion struct {
	schema.GroupVersion
	resources []metav1.APIResource
}

// resource is where the objects of a kind are.
type resource struct {
	schema.GroupVersionResource
	kind string
}

func connect(config *rest.Config) (*apiServer, error) {
	// All that is decoded by client-go are errors.
	errorsOnly := runtime.NewScheme()
	metav1.AddToGroupVersion(errorsOnly, schema.GroupVersion{Version: "v1"})
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = serializer.NewCodecFactory(errorsOnly).WithoutConversion()
	config.AcceptContentTypes, config.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return &apiServer{client: client, groups: map[string][]apiVersion{}}, nil
}

// builtin are the resources that every API server has: it need not be asked for them.
var builtin = map[schema.GroupKind]resource{
	{Kind: "Node"}:                      {schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, "Node"},
	{Kind: "ConfigMap"}:                 {schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, "ConfigMap"},
	{Group: "apps", Kind: "Deployment"}: {schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, "Deployment"},
}

// resources are the versions of a kind that are served, the one that the server prefers first; none where it serves none.
func (a *apiServer) resources(ctx context.Context, gk schema.GroupKind) ([]resource, error) {
	if r, ok := builtin[gk]; ok {
		return []resource{r}, nil
	}
	versions, known := a.groups[gk.Group]
	if !known {
		var err error
		if versions, err = a.group(ctx, gk.Group); err != nil {
			return nil, err
		}
		a.groups[gk.Group] = versions
	}
	var out []resource
	for _, v := range versions {
		for i := range v.resources {
			// nodeclaims/status is a part of one, and of the same kind.
			if r := &v.resources[i]; r.Kind == gk.Kind && !strings.Contains(r.Name, "/") {
				out = append(out, resource{v.WithResource(r.Name), r.Kind})
				break
			}
		}
	}
	return out, nil
}

// group asks for the resources of each version of an API group, the preferred version first; nil where it serves none.
func (a *apiServer) group(ctx context.Context, name string) ([]apiVersion, error) {
	var group metav1.APIGroup
	switch err := a.decode(ctx, &group, "APIGroup", "apis", name); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if group.Name != name {
		return nil, fmt.Errorf("the answer for apis/%s is about the group %q", name, group.Name)
	}
	var versions []string
	for _, v := range group.Versions {
		versions = append(versions, v.Version)
	}
	if i := slices.Index(versions, group.PreferredVersion.Version); i > 0 {
		versions = slices.Insert(slices.Delete(versions, i, i+1), 0, group.PreferredVersion.Version)
	}
	var out []apiVersion
	for _, version := range versions {
		gv := schema.GroupVersion{Group: name, Version: version}
		var list metav1.APIResourceList
		switch err := a.decode(ctx, &list, "APIResourceList", "apis", name, version); {
		case apierrors.IsNotFound(err): // no longer served
		case err != nil:
			return nil, err
		case list.GroupVersion != gv.String():
			return nil, fmt.Errorf("the answer for apis/%s is about %q", gv, list.GroupVersion)
		default:
			out = append(out, apiVersion{gv, list.APIResources})
		}
	}
	return out, nil
}

// decode reads a discovery document. Its kind has to be the one that was asked for: anything else would pass for a group
// without versions.
func (a *apiServer) decode(ctx context.Context, into interface{ GetObjectKind() schema.ObjectKind }, kind string, path ...string) error {
	data, err := a.get(ctx, path, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("the answer for %s: %w", strings.Join(path, "/"), err)
	}
	if got := into.GetObjectKind().GroupVersionKind().Kind; got != kind {
		return fmt.Errorf("the answer for %s is no %s", strings.Join(path, "/"), kind)
	}
	return nil
}

// list reads one page of a resource, in one namespace or in all; limit 0 reads everything.
func (a *apiServer) list(ctx context.Context, r resource, namespace string, limit int64, next string) ([]byte, error) {
	params := map[string]string{}
	if limit > 0 {
		params["limit"] = strconv.FormatInt(limit, 10)
	}
	if next != "" {
		params["continue"] = next
	}
	return a.get(ctx, r.path(namespace), params)
}

// object reads one object.
func (a *apiServer) object(ctx context.Context, r resource, namespace, name string) ([]byte, error) {
	return a.get(ctx, append(r.path(namespace), name), nil)
}

// get asks for a path. Some of its parts were read from the server or from objects, and may not lead elsewhere.
func (a *apiServer) get(ctx context.Context, path []string, params map[string]string) ([]byte, error) {
	for _, part := range path {
		if problems := rest.IsValidPathSegmentName(part); part == "" || len(problems) > 0 {
			return nil, fmt.Errorf("%q is no name that an API server can be asked for", part)
		}
	}
	request := a.client.Get().AbsPath(path...)
	for name, value := range params {
		request.Param(name, value)
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	data, err := result.Raw()
	if err == nil && len(data) == 0 {
		err = errors.New("the answer is empty")
	}
	return data, err
}

func (r resource) path(namespace string) []string {
	path := []string{"apis", r.Group, r.Version}
	if r.Group == "" {
		path = []string{"api", r.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(path, r.Resource)
}
