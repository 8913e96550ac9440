package expect

import "testing"

// mappings is a class with these block device mappings.
func mappings(entries string) string { return `{"blockDeviceMappings":[` + entries + `]}` }

// The entries of the tests.
const (
	xvda30    = `{"deviceName":"/dev/xvda","ebs":{"volumeSize":"30Gi"}}`
	xvdaSnap  = `{"deviceName":"/dev/xvda","ebs":{"snapshotID":"snap-1"}}`
	xvdaBare  = `{"deviceName":"/dev/xvda"}`
	xvdb60    = `{"deviceName":"/dev/xvdb","ebs":{"volumeSize":"60Gi"}}`
	xvdbSnap  = `{"deviceName":"/dev/xvdb","ebs":{"snapshotID":"snap-1"}}`
	sda100    = `{"deviceName":"/dev/sda1","ebs":{"volumeSize":"100Gi"}}`
	sdbBare   = `{"deviceName":"/dev/sdb"}`
	root100   = `{"deviceName":"/dev/sdb","rootVolume":true,"ebs":{"volumeSize":"100Gi"}}`
	root200   = `{"deviceName":"/dev/sdc","rootVolume":true,"ebs":{"volumeSize":"200Gi"}}`
	rootSnap  = `{"deviceName":"/dev/sdb","rootVolume":true,"ebs":{"snapshotID":"snap-1"}}`
	rootBare  = `{"deviceName":"/dev/sdb","rootVolume":true}`
	nameless  = `{"ebs":{"volumeSize":"40Gi"}}`
	rootNoDev = `{"rootVolume":true,"ebs":{"volumeSize":"100Gi"}}`
)

func TestEphemeralStorage(t *testing.T) {
	const raid = `{"instanceStorePolicy":"RAID0","blockDeviceMappings":[` + xvda30 + `]}`
	for _, row := range []struct {
		reason string
		given  given
		want   string
	}{
		// 1: the instance store under RAID0.
		{"RAID0 before any mapping", given{class: raid}, "585937500Ki"},                                                                                                           // 600·10^9
		{"RAID0 before the root volume", given{class: `{"instanceStorePolicy":"RAID0","blockDeviceMappings":[` + root100 + `]}`}, "585937500Ki"},                                  // 600·10^9
		{"RAID0 on families for which Karpenter makes none", given{family: "Windows2022", class: raid}, "585937500Ki"},                                                            // 600·10^9
		{"RAID0 of an incomplete class: the mappings are not looked at", given{class: `{"instanceStorePolicy":"RAID0","blockDeviceMappings":[` + xvdaBare + `]}`}, "585937500Ki"}, // 600·10^9
		{"another policy is none", given{class: `{"instanceStorePolicy":"raid0","blockDeviceMappings":[` + xvda30 + `]}`}, "30Gi"},
		// 2: the first root volume that has a size.
		{"a root volume before the family's device", given{class: mappings(xvda30 + "," + root100)}, "100Gi"},
		{"the first of two root volumes", given{class: mappings(root100 + "," + root200)}, "100Gi"},
		{"a first root volume without size ends the search for one", given{class: mappings(rootSnap + "," + root200 + "," + xvda30)}, "30Gi"},
		{"a sized root volume needs no deviceName", given{class: mappings(rootNoDev)}, "100Gi"},
		{"a root volume before Custom's last", given{family: "Custom", class: mappings(root100 + "," + xvda30)}, "100Gi"},
		// 3: Custom's last mapping.
		{"the last mapping of Custom", given{family: "Custom", class: mappings(sda100 + "," + xvda30)}, "30Gi"},
		{"without a size it is 20Gi, whatever stands before", given{family: "Custom", class: mappings(sda100 + "," + xvdaSnap)}, "20Gi"},
		{"without a deviceName", given{family: "Custom", class: mappings(sda100 + "," + nameless)}, "40Gi"},
		{"an entry without ebs before the last does no harm", given{family: "Custom", class: mappings(xvdaBare + "," + sda100)}, "100Gi"},
		// 4: the family's device.
		{"the family's device", given{class: mappings(sda100 + "," + xvda30)}, "30Gi"},
		{"Bottlerocket's is /dev/xvdb", given{family: "Bottlerocket", class: mappings(xvda30 + "," + xvdb60)}, "60Gi"},
		{"Windows' is /dev/sda1", given{family: "Windows2022", class: mappings(xvda30 + "," + sda100)}, "100Gi"},
		{"Ubuntu's is /dev/sda1", given{version: "0.37.0", family: "Ubuntu", class: mappings(xvda30 + "," + sda100)}, "100Gi"},
		{"the search ends at the first entry of the device, sized or not", given{family: "Bottlerocket", class: mappings(xvdbSnap + "," + xvdb60)}, "20Gi"},
		{"an entry without ebs elsewhere does no harm", given{class: mappings(sdbBare + "," + xvda30)}, "30Gi"},
		{"an entry without deviceName behind the device does no harm", given{class: mappings(xvda30 + "," + nameless)}, "30Gi"},
		// 5 and 6: the default.
		{"no mapping of the device", given{class: mappings(sda100)}, "20Gi"},
		{"no mapping at all", given{}, "20Gi"},
		{"on Windows the default is larger", given{family: "Windows2022", class: mappings(xvda30)}, "50Gi"},
		{"Custom without mappings", given{family: "Custom"}, "20Gi"},
		{"before v0.29.0 every default is 20Gi", given{version: "0.28.1", family: "Windows2022"}, "20Gi"},
		// Sizes as they are written.
		{"decimal", given{class: mappings(`{"deviceName":"/dev/xvda","ebs":{"volumeSize":"100G"}}`)}, "97656250Ki"}, // 10^11
		{"tebibytes", given{class: mappings(`{"deviceName":"/dev/xvda","ebs":{"volumeSize":"58Ti"}}`)}, "58Ti"},
		{"a fraction of a byte is rounded up", given{class: mappings(`{"deviceName":"/dev/xvda","ebs":{"volumeSize":"0.3Gi"}}`)}, "322122548"}, // ⌈322122547.2⌉
	} {
		t.Run(row.reason, func(t *testing.T) {
			checkFigures(t, row.given.expect(t, m5d4xlarge()), "ephemeral-storage capacity="+row.want)
		})
	}
}

// TestRAID0WithoutInstanceStore: the policy counts only for types that have disks.
func TestRAID0WithoutInstanceStore(t *testing.T) {
	g := given{class: `{"instanceStorePolicy":"RAID0","blockDeviceMappings":[` + xvda30 + `]}`}
	checkFigures(t, g.expect(t, m5Large()), "ephemeral-storage capacity=30Gi")
	checkFigures(t, g.expect(t, withDisk(m5Large(), 0)), "ephemeral-storage capacity=0")
}

// TestIncompleteMappings: whether Karpenter panics hangs on which entries it looks at.
func TestIncompleteMappings(t *testing.T) {
	const noName = `blockDeviceMappings[0] of EC2NodeClass "default" has no deviceName: Karpenter panics on it`
	noEBS := func(device string) string {
		return "block device " + device + ` of EC2NodeClass "default": no ebs: Karpenter panics on it`
	}
	for _, row := range []struct {
		reason string
		given  given
		want   string
	}{
		{"the first root volume without ebs, although the device follows", given{class: mappings(rootBare + "," + xvda30)}, noEBS("/dev/sdb")},
		{"the second is not looked at", given{class: mappings(root100 + "," + rootBare)}, ""},
		{"before v0.31.0 no root volume is", given{version: "0.30.0", class: mappings(rootBare + "," + xvda30)}, ""},
		{"Custom's last without ebs", given{family: "Custom", class: mappings(sda100 + "," + sdbBare)}, noEBS("/dev/sdb")},
		{"the family's device without ebs", given{class: mappings(xvdaBare)}, noEBS("/dev/xvda")},
		{"no deviceName before the device", given{class: mappings(nameless + "," + xvda30)}, noName},
		{"no deviceName and no device", given{class: mappings(nameless)}, noName},
		{"a size that is none", given{class: mappings(`{"deviceName":"/dev/xvda","ebs":{"volumeSize":"big"}}`)}, `block device /dev/xvda of EC2NodeClass "default": volumeSize "big" is not a quantity`},
		{"a size beyond 64 bits", given{class: mappings(`{"deviceName":"/dev/xvda","ebs":{"volumeSize":"1e20"}}`)}, `block device /dev/xvda of EC2NodeClass "default": volumeSize "1e20": the figures do not fit 64 bits`},
		{"a size that is not looked at", given{class: mappings(xvda30 + `,{"deviceName":"/dev/sdb","ebs":{"volumeSize":"big"}}`)}, ""},
		{"without size, before v0.28.0", given{version: "0.27.8", family: "Custom", class: mappings(xvdaSnap)}, `block device /dev/xvda of EC2NodeClass "default": no volumeSize: Karpenter before v0.28.0 panics on it`},
	} {
		if got := row.given.failure(t, m5Large()); got != row.want {
			t.Errorf("%s:\n got %q\nwant %q", row.reason, got, row.want)
		}
	}
}

// TestRAID0HidesIncompleteMappings: one class resolves for types with disks and not for the others.
func TestRAID0HidesIncompleteMappings(t *testing.T) {
	g := given{class: `{"instanceStorePolicy":"RAID0","blockDeviceMappings":[` + xvdaBare + `]}`}
	if got := g.failure(t, m5d4xlarge()); got != "" {
		t.Errorf("a type with disks fails: %s", got)
	}
	if got := g.failure(t, m5Large()); got == "" {
		t.Error("a type without disks does not fail")
	}
}

// TestDefaultVolume: before v0.29.0 the default was no family's own.
func TestDefaultVolume(t *testing.T) {
	for _, row := range []struct{ version, want string }{
		{"0.28.1", "20Gi (default volume size)"},
		{"0.29.0", "50Gi (default size of /dev/sda1 on Windows2022)"},
	} {
		m, err := New(Settings{Version: versionOf(t, row.version)}, Class{Family: FamilyNamed("Windows2022", Newest)})
		if err != nil {
			t.Fatal(err)
		}
		instance := m5Large()
		e, err := m.Expect(&instance)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Get(EphemeralStorage).CapacityTerms.Text(EphemeralStorage); got != row.want {
			t.Errorf("v%s: got %s, want %s", row.version, got, row.want)
		}
	}
}
