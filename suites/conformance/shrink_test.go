package conformance

import (
	"errors"
	"testing"
)

func TestShrink(t *testing.T) {
	for name, tc := range map[string]struct {
		shows func(Case) bool // what the case was found for
		want  string
	}{
		"one value deep inside stays, and the path to it": {
			shows: func(c Case) bool {
				kubelet, _ := c.NodeClass["spec"].(object)["kubelet"].(object)
				eviction, _ := kubelet["evictionHard"].(object)
				return eviction["memory.available"] == "5%"
			},
			want: `{"id":"x","nodeClass":{"spec":{"kubelet":{"evictionHard":{"memory.available":"5%"}}}},"overheadPercent":0.075,"reservedENIs":0}`,
		},
		"an option that matters stays": {
			shows: func(c Case) bool { return c.OverheadPercent == 0.07 },
			want:  `{"id":"x","nodeClass":{"spec":{}},"overheadPercent":0.07,"reservedENIs":0}`,
		},
		"of a list, the entries that matter stay, though each alone does not show it": {
			shows: func(c Case) bool {
				mappings, _ := c.NodeClass["spec"].(object)["blockDeviceMappings"].(list)
				return len(mappings) >= 2
			},
			want: `{"id":"x","nodeClass":{"spec":{"blockDeviceMappings":[{},{}]}},"overheadPercent":0.075,"reservedENIs":0}`,
		},
		"nothing is needed": {
			shows: func(Case) bool { return true },
			want:  `{"id":"x","nodeClass":{"spec":{}},"overheadPercent":0.075,"reservedENIs":0}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := Case{ID: "x", OverheadPercent: 0.07, ReservedENIs: 2, NodeClass: object{"spec": object{
				"amiFamily":           "AL2023",
				"blockDeviceMappings": list{device("/dev/xvda", "20Gi"), sizeless("/dev/xvdb"), root(device("/dev/sdb", "8Gi"))},
				"kubelet":             object{"maxPods": 8, "evictionHard": object{"memory.available": "5%", "nodefs.available": "5%"}},
			}}}
			before := c.String()
			got, err := Shrink(c, func(cases []Case) (int, error) {
				for i, c := range cases {
					if tc.shows(c) {
						return i, nil
					}
				}
				return -1, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if c.String() != before {
				t.Errorf("shrinking changed the case itself: %s", c)
			}
		})
	}
}

func TestShrinkKeepsWhatItHasOnError(t *testing.T) {
	broken := errors.New("the oracle died")
	c := Case{ID: "x", NodeClass: nodeClass(object{"amiFamily": "AL2"}), OverheadPercent: 0.075}
	got, err := Shrink(c, func([]Case) (int, error) { return -1, broken })
	if !errors.Is(err, broken) || got.String() != c.String() {
		t.Errorf("got %s, %v", got, err)
	}
}
