package conformance

import (
	"strings"
	"testing"
)

func TestExpectation(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		spec         object
		capacity     Amounts
		allocatable  Amounts
		kubeReserved Amounts
		unknown      string
	}{
		{
			name: "plain", reason: "the units and the order are the oracles'", spec: object{"amiFamily": "AL2023"},
			capacity:     "cpu=2000,ephemeral-storage=21474836480,memory=7945060352,pods=29,vpc.amazonaws.com/pod-eni=9", // 20Gi, 7577Mi
			allocatable:  "cpu=1930,ephemeral-storage=18253611008,memory=7238320128,pods=29,vpc.amazonaws.com/pod-eni=9", // 17Gi, 6903Mi
			kubeReserved: "cpu=70,ephemeral-storage=1073741824,memory=601882624",                                         // 574Mi = 11*29+255
		},
		{
			name: "a fraction", reason: "what is finer than a byte goes up, once, at the end",
			spec:         kubelet("AL2023", object{"kubeReserved": object{"memory": "0.3Gi"}}),
			capacity:     "cpu=2000,ephemeral-storage=21474836480,memory=7945060352,pods=29,vpc.amazonaws.com/pod-eni=9",
			allocatable:  "cpu=1930,ephemeral-storage=18253611008,memory=7518080205,pods=29,vpc.amazonaws.com/pod-eni=9", // 7945060352-322122547.2-104857600 = 7518080204.8
			kubeReserved: "cpu=70,ephemeral-storage=1073741824,memory=322122548",
		},
		{
			name: "a value that does not parse", reason: "upstream panics, so the answer is unknown for every type",
			spec: reserved("pid", "1e1.5"), unknown: "kubeReserved",
		},
		{
			name: "a mapping that lacks what upstream looks at", reason: "likewise, found type by type",
			spec: disks("AL2", object{}), unknown: "deviceName",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			it := m5Large
			got := Expectation("v1.14.1", Case{ID: "a", NodeClass: nodeClass(tc.spec), OverheadPercent: 0.075})(&it)
			if got.Case != "a" || got.InstanceType != "m5.large" {
				t.Errorf("the answer names case %q and type %q", got.Case, got.InstanceType)
			}
			if tc.unknown != "" {
				if !strings.Contains(got.Unknown, tc.unknown) {
					t.Errorf("%s: unknown %q, want one about %s", tc.reason, got.Unknown, tc.unknown)
				}
				return
			}
			if got.Unknown != "" || got.Amounts[Capacity] != tc.capacity || got.Amounts[Allocatable] != tc.allocatable || got.Amounts[KubeReserved] != tc.kubeReserved {
				t.Errorf("%s: got %+v", tc.reason, got)
			}
		})
	}
}
