package collect

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// cacheTTL is how long EC2's answers count: types appear daily, and their facts hardly ever change.
const cacheTTL = 24 * time.Hour

// cache is the facts that EC2 gave, on disk, a file for each partition and region. Whatever is wrong with it, it is as
// if it were empty: it only saves calls.
type cache struct {
	path  string // empty without a cache
	types map[string]cached
	now   time.Time
}

// cached is one type and when EC2 was asked.
type cached struct {
	Asked time.Time             `json:"asked"`
	Type  snapshot.InstanceType `json:"type"`
}

// openCache reads the cache of a region; an endpoint of its own has one of its own.
func openCache(o *options.Options, region string) *cache {
	c := &cache{types: map[string]cached{}, now: time.Now()}
	dir, err := os.UserCacheDir()
	if err != nil || o.NoCache {
		return c
	}
	name := partition(region) + "-" + region
	if o.EndpointURL != "" {
		h := fnv.New64a()
		io.WriteString(h, o.EndpointURL) //nolint:errcheck // a hash does not fail
		name += fmt.Sprintf("-%x", h.Sum64())
	}
	c.path = filepath.Join(dir, "allocatable-diff", "instance-types", name+".json")
	data, err := os.ReadFile(c.path)
	if err != nil || json.Unmarshal(data, &c.types) != nil {
		c.types = map[string]cached{}
	}
	return c
}

// partition is the part of AWS that a region is in: each has its own types.
func partition(region string) string {
	for _, p := range []struct{ prefix, name string }{
		{"cn-", "aws-cn"}, {"us-gov-", "aws-us-gov"}, {"us-iso-", "aws-iso"}, {"us-isob-", "aws-iso-b"}, {"eu-isoe-", "aws-iso-e"}, {"us-isof-", "aws-iso-f"},
	} {
		if strings.HasPrefix(region, p.prefix) {
			return p.name
		}
	}
	return "aws"
}

// lookup splits names into the types that are fresh here and the names to ask for.
func (c *cache) lookup(names []string) (types []snapshot.InstanceType, missing []string) {
	for _, name := range names {
		if e, ok := c.types[name]; ok && c.now.Sub(e.Asked) < cacheTTL && !e.Asked.After(c.now) {
			types = append(types, e.Type)
			continue
		}
		missing = append(missing, name)
	}
	return types, missing
}

// store keeps what EC2 said. A cache that cannot be written is no error: the next run asks again.
func (c *cache) store(types []snapshot.InstanceType) {
	if c.path == "" || len(types) == 0 {
		return
	}
	for i := range types {
		c.types[types[i].Name] = cached{c.now, types[i]}
	}
	data, err := json.Marshal(c.types)
	if err != nil || os.MkdirAll(filepath.Dir(c.path), 0o700) != nil {
		return
	}
	_ = snapshot.WriteFile(c.path, 0o600, func(w io.Writer) error { // see above
		_, err := w.Write(data)
		return err
	})
}
