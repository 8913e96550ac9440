package expect

// Settings are the options of the controller that move a formula, resolved: which release judges, and with what.
type Settings struct {
	// Version is the release whose formulas judge.
	Version Version
	// OverheadPercent is vmMemoryOverheadPercent: a fraction, despite the name (#6611).
	OverheadPercent float64
	// ReservedENIs is reserved-enis: interfaces that pods cannot use.
	ReservedENIs int64
	// NodeOverlay and NodeClassCEL are feature gates; both are off by default in every release.
	NodeOverlay, NodeClassCEL bool
	// UnlimitedPodDensity is aws.enableENILimitedPodDensity: false (v0.27–v0.32).
	UnlimitedPodDensity bool
	// PodENI is aws.enablePodENI (v0.27–v0.31; off by default).
	PodENI bool
}

// The defaults of every release v0.27.0 … v1.15.2. Source: pkg/apis/settings and pkg/operator/options.
const (
	DefaultOverheadPercent = 0.075
	DefaultReservedENIs    = 0
)
