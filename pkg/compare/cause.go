package compare

// Cause is a named part of a difference.
type Cause struct {
	// ID is stable: policies, allowlists and dashboards refer to it.
	ID string `json:"id"`
	// Part is the share of the row's delta that the cause carries, in the row's base unit, sign kept.
	Part int64 `json:"part"`
	// Evidence are the figures that show the cause, for a person.
	Evidence string `json:"evidence,omitzero"`
	// Remedy is the next step.
	Remedy string `json:"remedy,omitzero"`
}

// Explain splits the delta of every row into causes.
func Explain(s Subject, rows []Row) {}

// Main is the cause that carries most of the delta in its direction; nil where none does.
func Main(causes []Cause, delta int64) *Cause {
	var main *Cause
	for i := range causes {
		c := &causes[i]
		if (c.Part < 0) != (delta < 0) {
			continue
		}
		if main == nil || max(c.Part, -c.Part) > max(main.Part, -main.Part) {
			main = c
		}
	}
	return main
}
