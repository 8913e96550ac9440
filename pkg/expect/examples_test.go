package expect

import (
	"fmt"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// The settings of the examples.
const (
	mixedSettings    = `{"kubeReserved":{"memory":"500Mi"},"systemReserved":{"cpu":"100m","memory":"100Mi","ephemeral-storage":"1Gi"},"evictionHard":{"memory.available":"5%"},"evictionSoft":{"memory.available":"10%"}}`
	evictionSettings = `{"evictionHard":{"memory.available":"5%","nodefs.available":"15%"},"evictionSoft":{"memory.available":"10%"}}`
	twoInterfaces    = `{"networkInterfaces":[{"networkCardIndex":0,"deviceIndex":0,"interfaceType":"interface"},{"networkCardIndex":0,"deviceIndex":1,"interfaceType":"efa-only"}]}`
)

func reserved(enis int64) func(*Settings) {
	return func(s *Settings) { s.ReservedENIs = enis }
}

func overhead(percent float64) func(*Settings) {
	return func(s *Settings) { s.OverheadPercent = percent }
}

// example is a case whose figures are known from elsewhere. Memory figures are MiB unless they have a unit.
type example struct {
	reason   string
	given    given
	instance snapshot.InstanceType
	want     figuresOfNode
}

// figuresOfNode are capacity, what is kept back, and allocatable.
type figuresOfNode struct {
	cpu, memory, storage                                  string
	pods                                                  int64
	kubeReserved, evictionMemory, evictionStorage         string
	allocatableCPU, allocatableMemory, allocatableStorage string
}

// TestExamples: rows 1–17 are what Karpenter v1.15.2 itself computed, byte for byte; 18–29 are the figures of releases
// on both sides of a change.
func TestExamples(t *testing.T) {
	for i, row := range []example{
		{"the plain case", given{}, m5Large(),
			figuresOfNode{"2", "7577Mi", "20Gi", 29, "574Mi", "100Mi", "2Gi", "1930m", "6903Mi", "17Gi"}}, // 8192−⌈614.4⌉; 3·9+2; 11·29+255; 2000−60−10; 7577−574−100; 20−1−2
		{"AL2023 has the figures of AL2", given{family: "AL2023"}, m5Large(),
			figuresOfNode{"2", "7577Mi", "20Gi", 29, "574Mi", "100Mi", "2Gi", "1930m", "6903Mi", "17Gi"}}, // as above
		{"reserved ENIs lower pods, not kube-reserved", given{family: "AL2023", settings: reserved(2)}, m6gXlarge(),
			figuresOfNode{"4", "15096Mi", "20Gi", 30, "893Mi", "100Mi", "2Gi", "3920m", "14103Mi", "17Gi"}}, // 16384−64−⌈16320·0.075⌉; (4−2)·14+2; 11·58+255; 4000−60−10−10; 15096−893−100
		{"on Bottlerocket they lower both", given{family: "Bottlerocket", settings: reserved(2)}, m6gXlarge(),
			figuresOfNode{"4", "15096Mi", "20Gi", 30, "585Mi", "100Mi", "2Gi", "3920m", "14411Mi", "17Gi"}}, // 11·30+255
		{"maxPods raises kube-reserved on Bottlerocket", given{family: "Bottlerocket", kubelet: `{"maxPods":110}`}, m5Large(),
			figuresOfNode{"2", "7577Mi", "20Gi", 110, "1465Mi", "100Mi", "2Gi", "1930m", "6012Mi", "17Gi"}}, // 11·110+255; 7577−1465−100
		{"and does not on AL2023", given{family: "AL2023", kubelet: `{"maxPods":110}`}, m5Large(),
			figuresOfNode{"2", "7577Mi", "20Gi", 110, "574Mi", "100Mi", "2Gi", "1930m", "6903Mi", "17Gi"}}, // 11·29+255
		{"Windows has 110 pods and a 50Gi disk", given{family: "Windows2022"}, m5Xlarge(),
			figuresOfNode{"4", "15155Mi", "50Gi", 110, "1465Mi", "100Mi", "5Gi", "3920m", "13590Mi", "44Gi"}}, // 16384−⌈1228.8⌉; 11·110+255; 15155−1465−100; 50−1−5
		{"RAID0 counts decimal gigabytes", given{family: "AL2023", class: `{"instanceStorePolicy":"RAID0"}`}, m5d4xlarge(),
			figuresOfNode{"16", "60620Mi", "600G", 234, "2829Mi", "100Mi", "60G", "15890m", "57691Mi", "538926258176"}}, // 65536−⌈4915.2⌉; 8·29+2; 11·234+255; 16000−80−30; 600G−1Gi−60G
		{"a sized root device", given{family: "AL2023", settings: reserved(1), class: `{"blockDeviceMappings":[{"deviceName":"/dev/xvda","ebs":{"volumeSize":"120Gi"}}]}`}, r6a12xlarge(),
			figuresOfNode{"48", "363724Mi", "120Gi", 205, "2829Mi", "100Mi", "12Gi", "47810m", "360795Mi", "107Gi"}}, // 393216−⌈29491.2⌉; 7·29+2; 11·234+255; 48000−80−110; 120−1−12
		{"reserved maps and a percentage; the soft threshold is not counted", given{family: "AL2023", kubelet: mixedSettings}, c52xlarge(),
			figuresOfNode{"8", "15155Mi", "20Gi", 58, "500Mi", "794558464", "2Gi", "7810m", "14467465216", "16Gi"}}, // ⌈15891169280/100·5⌉; 8000−90−100; 15155Mi−500Mi−100Mi−794558464; 20−1−1−2
		{"percentages of memory and disk", given{kubelet: evictionSettings}, c52xlarge(),
			figuresOfNode{"8", "15155Mi", "20Gi", 58, "893Mi", "794558464", "3Gi", "7910m", "14160232448", "16Gi"}}, // 15155Mi−893Mi−794558464; 20−1−3
		{"podsPerCore and Custom's last mapping", given{family: "Custom", settings: overhead(0.05), kubelet: `{"podsPerCore":2}`, class: `{"blockDeviceMappings":[{"deviceName":"/dev/sda1","ebs":{"volumeSize":"100Gi"}},{"deviceName":"/dev/sdb","ebs":{"volumeSize":"200Gi"}}]}`}, m7iMetal24xl(),
			figuresOfNode{"96", "373555Mi", "200Gi", 192, "8362Mi", "100Mi", "20Gi", "95690m", "365093Mi", "179Gi"}}, // 393216−⌈19660.8⌉; 2·96; 11·737+255; 96000−80−230; 200−1−20
		{"Bottlerocket's data volume, not its OS volume", given{family: "Bottlerocket", class: `{"blockDeviceMappings":[{"deviceName":"/dev/xvda","ebs":{"volumeSize":"8Gi"}},{"deviceName":"/dev/xvdb","ebs":{"volumeSize":"50Gi"}}]}`}, t4gSmall(),
			figuresOfNode{"2", "1835Mi", "50Gi", 11, "376Mi", "100Mi", "5Gi", "1930m", "1359Mi", "44Gi"}}, // 2048−64−⌈148.8⌉; 3·3+2; 11·11+255; 50−1−5
		{"an EFA-only interface takes a pod's", given{family: "AL2023", class: twoInterfaces}, p548xlarge(),
			figuresOfNode{"192", "1939865Mi", "20Gi", 51, "816Mi", "100Mi", "2Gi", "191450m", "1938949Mi", "17Gi"}}, // 2097152−⌈157286.4⌉; (2−1)·49+2; 11·51+255; 192000−80−470
		{"100 % turns a threshold off", given{family: "AL2023", kubelet: `{"evictionHard":{"memory.available":"100%","nodefs.available":"100%"}}`}, m5Large(),
			figuresOfNode{"2", "7577Mi", "20Gi", 29, "574Mi", "0", "0", "1930m", "7003Mi", "19Gi"}}, // 7577−574; 20−1
		{"the smallest type", given{family: "AL2023"}, t3Nano(),
			figuresOfNode{"2", "473Mi", "20Gi", 4, "299Mi", "100Mi", "2Gi", "1930m", "74Mi", "17Gi"}}, // 512−⌈38.4⌉; 2·1+2; 11·4+255; 473−299−100
		{"is below zero on Windows, and not clamped", given{family: "Windows2022"}, t3Nano(),
			figuresOfNode{"2", "473Mi", "50Gi", 110, "1465Mi", "100Mi", "5Gi", "1930m", "-1092Mi", "44Gi"}}, // 473−1465−100
		{"v0.27.0 reserves for the system and does not evict from the disk", given{version: "0.27.0"}, m5Large(),
			figuresOfNode{"2", "7577Mi", "20Gi", 29, "574Mi", "100Mi", "0", "1830m", "6803Mi", "18Gi"}}, // 1930−100; 6903−100; 20−1−1
		{"v0.27.1 the other way round", given{version: "0.27.1"}, m5Large(),
			figuresOfNode{"2", "7577Mi", "20Gi", 29, "574Mi", "100Mi", "2Gi", "1930m", "6903Mi", "17Gi"}}, // as row 1
		{"v0.27.2 counts the interfaces of all cards", given{version: "0.27.2"}, p4d24xlarge(),
			figuresOfNode{"96", "1091174Mi", "20Gi", 2942, "32617Mi", "100Mi", "2Gi", "95690m", "1058457Mi", "17Gi"}}, // 1179648−⌈88473.6⌉; 60·49+2; 11·2942+255
		{"v0.27.3 those of the default card", given{version: "0.27.3"}, p4d24xlarge(),
			figuresOfNode{"96", "1091174Mi", "20Gi", 737, "8362Mi", "100Mi", "2Gi", "95690m", "1082712Mi", "17Gi"}}, // 15·49+2; 11·737+255
		{"v0.27.8 does not know the Graviton CMA", given{version: "0.27.8"}, m6gXlarge(),
			figuresOfNode{"4", "15155Mi", "20Gi", 58, "893Mi", "100Mi", "2Gi", "3920m", "14162Mi", "17Gi"}}, // 16384−⌈1228.8⌉
		{"v0.28.0 does", given{version: "0.28.0"}, m6gXlarge(),
			figuresOfNode{"4", "15096Mi", "20Gi", 58, "893Mi", "100Mi", "2Gi", "3920m", "14103Mi", "17Gi"}}, // 16320−1224
		{"v1.5.1 lowers kube-reserved by reserved ENIs", given{version: "1.5.1", family: "AL2023", settings: reserved(2)}, m6gXlarge(),
			figuresOfNode{"4", "15096Mi", "20Gi", 30, "585Mi", "100Mi", "2Gi", "3920m", "14411Mi", "17Gi"}}, // 11·30+255
		{"v1.5.2 does not", given{version: "1.5.2", family: "AL2023", settings: reserved(2)}, m6gXlarge(),
			figuresOfNode{"4", "15096Mi", "20Gi", 30, "893Mi", "100Mi", "2Gi", "3920m", "14103Mi", "17Gi"}}, // 11·58+255
		{"v1.8.8 counts the larger of hard and soft", given{version: "1.8.8", kubelet: evictionSettings}, c52xlarge(),
			figuresOfNode{"8", "15155Mi", "20Gi", 58, "893Mi", "1589116928", "3Gi", "7910m", "13365673984", "16Gi"}}, // ⌈15891169280/100·10⌉
		{"v1.9.0 the hard one alone", given{version: "1.9.0", kubelet: evictionSettings}, c52xlarge(),
			figuresOfNode{"8", "15155Mi", "20Gi", 58, "893Mi", "794558464", "3Gi", "7910m", "14160232448", "16Gi"}}, // as row 11
		{"v0.33.0 does not know instanceStorePolicy", given{version: "0.33.0", class: `{"instanceStorePolicy":"RAID0"}`}, m5d4xlarge(),
			figuresOfNode{"16", "60620Mi", "20Gi", 234, "2829Mi", "100Mi", "2Gi", "15890m", "57691Mi", "17Gi"}}, // 20−1−2
		{"v1.10.2 does not know networkInterfaces", given{version: "1.10.2", family: "AL2023", class: twoInterfaces}, p548xlarge(),
			figuresOfNode{"192", "1939865Mi", "20Gi", 100, "1355Mi", "100Mi", "2Gi", "191450m", "1938410Mi", "17Gi"}}, // 2·49+2; 11·100+255
	} {
		t.Run(fmt.Sprintf("%d %s", i+1, row.reason), func(t *testing.T) { row.check(t) })
	}
}

func (x example) check(t *testing.T) {
	e := x.given.expect(t, x.instance)
	w := x.want
	for _, f := range []struct {
		name string
		text string
		got  int64
	}{
		{CPU, w.cpu, e.Get(CPU).Capacity.Value},
		{Memory, w.memory, e.Get(Memory).Capacity.Value},
		{EphemeralStorage, w.storage, e.Get(EphemeralStorage).Capacity.Value},
		{Pods, fmt.Sprint(w.pods), e.Get(Pods).Capacity.Value},
		{Memory, w.kubeReserved, sumOf(t, e.Get(Memory).KubeReserved)},
		{Memory, w.evictionMemory, sumOf(t, e.Get(Memory).Eviction)},
		{EphemeralStorage, w.evictionStorage, sumOf(t, e.Get(EphemeralStorage).Eviction)},
		{CPU, w.allocatableCPU, e.Get(CPU).Allocatable.Value},
		{Memory, w.allocatableMemory, e.Get(Memory).Allocatable.Value},
		{EphemeralStorage, w.allocatableStorage, e.Get(EphemeralStorage).Allocatable.Value},
		{Pods, fmt.Sprint(w.pods), e.Get(Pods).Allocatable.Value},
	} {
		if want := quantity(t, f.name, f.text); f.got != want {
			t.Errorf("%s is %d, want %s = %d", f.name, f.got, f.text, want)
		}
	}
}

// TestReportedFigures: figures that people read off their own clusters and wrote into an issue.
func TestReportedFigures(t *testing.T) {
	for _, row := range []struct {
		issue    string
		given    given
		instance snapshot.InstanceType
		want     []string
	}{
		{"aws #6453", given{}, arm64("c6gd.16xlarge", 64, 131072, 15, 50),
			[]string{"memory allocatable=112720Mi"}}, // 131072−64−9826−(11·737+255)−100
		{"aws #5906", given{}, a1Medium(),
			[]string{"memory allocatable=1392Mi"}}, // 2048−64−149−(11·8+255)−100
		{"aws #6611", given{}, x86("i4i.32xlarge", 128, 1048576, 15, 50),
			[]string{"memory allocatable=961470Mi"}}, // 1048576−78644−8362−100
		{"aws #6509: 5×50, not 40×50", given{}, trn132xlarge(),
			[]string{"memory allocatable=481894Mi"}}, // 524288−39322−(11·247+255)−100
		{"aws #4735: RAID0", given{class: `{"instanceStorePolicy":"RAID0"}`, kubelet: `{"systemReserved":{"ephemeral-storage":"1Gi"}}`}, withDisk(x86("m5ad.4xlarge", 16, 65536, 8, 30), 600),
			[]string{fmt.Sprintf("ephemeral-storage allocatable=%s", snapshot.FormatQuantity(EphemeralStorage, 537852516352))}}, // 600G−1Gi−1Gi−60G
		{"aws #8449: reserved-enis 1", given{settings: reserved(1), class: `{"blockDeviceMappings":[{"deviceName":"/dev/xvda","ebs":{"volumeSize":"120Gi"}}]}`}, r6a12xlarge(),
			[]string{"memory capacity=363724Mi", "pods allocatable=205", "ephemeral-storage allocatable=107Gi", "cpu allocatable=47810m"}}, // 393216−29492; 7·29+2; 120−1−12; 48000−190
	} {
		t.Run(row.issue+" "+row.instance.Name, func(t *testing.T) {
			checkFigures(t, row.given.expect(t, row.instance), row.want...)
		})
	}
}
