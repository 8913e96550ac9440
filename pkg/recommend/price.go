package recommend

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/go-json-experiment/json"
	"sigs.k8s.io/yaml"
)

// HoursPerMonth is 365 days of 24 hours over 12 months, as AWS counts them.
const HoursPerMonth = 730

// Prices turn hidden memory into money.
type Prices struct {
	// PerGiBHour is USD for a GiB of memory and an hour, for the types that PerType does not name; nil when not given.
	PerGiBHour *float64
	// PerType is USD for an hour of the whole instance. A hidden share of its memory costs that share of its price.
	PerType map[string]float64
}

// ParsePrices reads a price file: YAML or JSON with perGiBHour, perType, or both. It refuses anything else in it, and
// prices that are no amount of money.
func ParsePrices(data []byte) (*Prices, error) {
	var file struct {
		PerGiBHour *float64            `json:"perGiBHour"`
		PerType    map[string]*float64 `json:"perType"` // pointers, so that a price left empty is not read as 0
	}
	text, err := yaml.YAMLToJSONStrict(data)
	if err == nil {
		err = json.Unmarshal(text, &file, json.RejectUnknownMembers(true)) // tells perGibHour from perGiBHour
	}
	if err != nil {
		return nil, fmt.Errorf("price file: %w", err)
	}
	if file.PerGiBHour == nil && len(file.PerType) == 0 {
		return nil, errors.New("price file: it names no price: write perGiBHour: 0.005, or perType: {m5.large: 0.096}")
	}
	p := &Prices{PerGiBHour: file.PerGiBHour, PerType: make(map[string]float64, len(file.PerType))}
	if p.PerGiBHour != nil {
		if err := checkPrice(*p.PerGiBHour); err != nil {
			return nil, fmt.Errorf("price file: perGiBHour: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(file.PerType)) {
		price := file.PerType[name]
		if price == nil {
			return nil, fmt.Errorf("price file: perType: %s has no price", name)
		}
		if err := checkPrice(*price); err != nil {
			return nil, fmt.Errorf("price file: perType: %s: %w", name, err)
		}
		p.PerType[name] = *price
	}
	return p, nil
}

// dearest is far above any price of an hour of memory, and small enough that sums stay numbers.
const dearest = 1e6

func checkPrice(usd float64) error {
	if math.IsNaN(usd) || usd < 0 || usd > dearest {
		return fmt.Errorf("%v is not a price in USD an hour", usd)
	}
	return nil
}

// perByteMonth is the price in USD of a byte of the curve's memory for a month; false without one.
func (p *Prices) perByteMonth(c *curve) (float64, bool) {
	if p == nil {
		return 0, false
	}
	if hour, ok := p.PerType[c.instanceType.Name]; ok && c.instanceType.MemoryMiB > 0 {
		return hour * HoursPerMonth / (float64(c.instanceType.MemoryMiB) * (1 << 20)), true
	}
	if p.PerGiBHour != nil {
		return *p.PerGiBHour * HoursPerMonth / (1 << 30), true
	}
	return 0, false
}
