package gate

import (
	"fmt"
	"slices"
)

// Merge makes one run of several: a fleet, or the shards of one cluster. Clusters of equal name and digest are shards
// and become one; the merged run is the one that a single evaluation would have given. It fails where two runs have
// judged the same node, or one cluster by different settings.
func Merge(runs []*Run, p Policy) (*Run, error) {
	out := &Run{APIVersion: APIVersion, Kind: Kind}
	type key struct{ cluster, node string }
	seen := map[key]bool{}
	for _, r := range runs {
		for _, c := range r.Clusters {
			if err := out.mergeCluster(c); err != nil {
				return nil, err
			}
		}
		for _, n := range r.Nodes {
			k := key{n.Cluster, n.Name}
			if seen[k] {
				return nil, fmt.Errorf("node %q of cluster %q is in two of the runs: give each run once", n.Name, n.Cluster)
			}
			seen[k] = true
			out.Nodes = append(out.Nodes, n)
		}
	}
	var extra []Finding
	for _, r := range runs {
		for _, f := range r.Findings {
			if (f.ID == AllowlistExpired || f.ID == AllowlistUnused) && !slices.ContainsFunc(extra, func(o Finding) bool { return o.ID == f.ID && o.Evidence == f.Evidence }) {
				extra = append(extra, f)
			}
		}
	}
	for i := range out.Clusters {
		sortAssumptions(out.Clusters[i].Assumptions)
		slices.Sort(out.Clusters[i].UnmatchedClaims)
	}
	out.conclude(p, extra)
	return out, nil
}

func (r *Run) mergeCluster(c Cluster) error {
	i := slices.IndexFunc(r.Clusters, func(o Cluster) bool { return o.Name == c.Name })
	if i < 0 {
		c.Assumptions, c.UnmatchedClaims = slices.Clone(c.Assumptions), slices.Clone(c.UnmatchedClaims)
		r.Clusters = append(r.Clusters, c)
		return nil
	}
	into := &r.Clusters[i]
	switch {
	case into.Digest != c.Digest:
		return fmt.Errorf("two runs of cluster %q come from different snapshots (%s and %s): they are no shards of one run; give each cluster its own --cluster-name", c.Name, into.Digest, c.Digest)
	case into.Karpenter != c.Karpenter || into.OverheadPercent != c.OverheadPercent || into.ReservedENIs != c.ReservedENIs:
		return fmt.Errorf("two runs of cluster %q were judged by different settings", c.Name)
	}
	for _, claim := range c.UnmatchedClaims {
		if !slices.Contains(into.UnmatchedClaims, claim) {
			into.UnmatchedClaims = append(into.UnmatchedClaims, claim)
		}
	}
	for _, a := range c.Assumptions {
		j := slices.IndexFunc(into.Assumptions, func(o Assumption) bool { return o.Text == a.Text })
		if j < 0 {
			into.Assumptions = append(into.Assumptions, a)
			continue
		}
		into.Assumptions[j].Nodes += a.Nodes
	}
	return nil
}
