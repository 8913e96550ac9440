package offline

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"golang.org/x/sync/errgroup"
)

// loadConcurrency is how many objects are written at once. A local API server gains little beyond it.
const loadConcurrency = 16

// deletingFinalizer holds a deleting object that the dump shows without a finalizer.
const deletingFinalizer = "allocatable-diff.offline/deleting"

// serverFields are the members of an object's metadata that an API server assigns and refuses or ignores from
// others.
var serverFields = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink",
	"deletionTimestamp", "deletionGracePeriodSeconds",
}

// loader writes the objects of a dump into an API server.
type loader struct {
	client client.Client

	mu   sync.Mutex
	uids map[types.UID]types.UID // of the dump to the one that the server gave
}

// load creates the objects, owners first, in the namespaces that they are in.
func load(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	l := &loader{client: c, uids: map[types.UID]types.UID{}}
	if err := l.createNamespaces(ctx, objects); err != nil {
		return err
	}
	for _, kind := range loadOrder {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(loadConcurrency)
		for _, object := range objects {
			if object.GroupVersionKind().GroupKind() == kind {
				group.Go(func() error { return l.create(ctx, object) })
			}
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) createNamespaces(ctx context.Context, objects []*unstructured.Unstructured) error {
	created := map[string]bool{"": true}
	for _, object := range objects {
		name := object.GetNamespace()
		if created[name] {
			continue
		}
		created[name] = true
		namespace := &corev1.Namespace{}
		namespace.Name = name
		if err := l.client.Create(ctx, namespace); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating namespace %q: %w", name, err)
		}
	}
	return nil
}

// create writes one object as the dump shows it: spec, then status through the subresource where creation drops
// it, then a delete call where it is being deleted, which a finalizer keeps from ending.
func (l *loader) create(ctx context.Context, wanted *unstructured.Unstructured) error {
	object := wanted.DeepCopy()
	for _, field := range serverFields {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	deleting := wanted.GetDeletionTimestamp() != nil
	if deleting && len(object.GetFinalizers()) == 0 {
		object.SetFinalizers([]string{deletingFinalizer})
	}
	l.adoptOwners(object)

	if err := l.client.Create(ctx, object); err != nil {
		return fmt.Errorf("creating %s: %w", describe(wanted), err)
	}
	l.mu.Lock()
	l.uids[wanted.GetUID()] = object.GetUID()
	l.mu.Unlock()

	if status, ok := wanted.Object["status"]; ok && !equality.Semantic.DeepEqual(object.Object["status"], status) {
		object.Object["status"] = status
		if err := l.client.Status().Update(ctx, object); err != nil {
			return fmt.Errorf("writing the status of %s: %w", describe(wanted), err)
		}
	}
	if deleting {
		if err := l.client.Delete(ctx, object); err != nil {
			return fmt.Errorf("deleting %s: %w", describe(wanted), err)
		}
	}
	return nil
}

// adoptOwners points owner references at the owners that were created before.
func (l *loader) adoptOwners(object *unstructured.Unstructured) {
	l.mu.Lock()
	defer l.mu.Unlock()
	owners := object.GetOwnerReferences()
	for i := range owners {
		if uid, ok := l.uids[owners[i].UID]; ok {
			owners[i].UID = uid
		}
	}
	if len(owners) > 0 {
		object.SetOwnerReferences(owners)
	}
}
