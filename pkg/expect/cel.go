package expect

import (
	"fmt"
	"math"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
)

// expression is a compiled CEL expression of the kubelet settings (v1.15.0 and later, gate NodeClassCEL, #9461).
type expression struct{ program cel.Program }

// The variables of an expression. All but instance_type are ints.
const (
	celVCPUs        = "vcpus"
	celMemoryMiB    = "memory_mib"
	celDefaultENIs  = "default_enis"
	celIPsPerENI    = "ips_per_eni"
	celMaxPods      = "max_pods"
	celInstanceType = "instance_type"
)

// environment is built once: it is the same for every expression.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{cel.Variable(celInstanceType, cel.StringType), ext.Strings()}
	for _, name := range []string{celVCPUs, celMemoryMiB, celDefaultENIs, celIPsPerENI, celMaxPods} {
		options = append(options, cel.Variable(name, cel.IntType))
	}
	options = append(options, extreme("max", func(a, b float64) bool { return a >= b })...)
	options = append(options, extreme("min", func(a, b float64) bool { return a <= b })...)
	return cel.NewEnv(options...)
})

// extreme declares max or min over each mix of int and double; a mix gives a double.
func extreme(name string, first func(a, b float64) bool) []cel.EnvOption {
	pick := func(a, b ref.Val) ref.Val {
		x, y := celNumber(a), celNumber(b)
		_, aInt := a.(types.Int)
		_, bInt := b.(types.Int)
		switch {
		case aInt && bInt && first(x, y):
			return a
		case aInt && bInt:
			return b
		case first(x, y):
			return types.Double(x)
		default:
			return types.Double(y)
		}
	}
	binding := cel.BinaryBinding(pick)
	return []cel.EnvOption{cel.Function(name,
		cel.Overload(name+"_int_int", []*cel.Type{cel.IntType, cel.IntType}, cel.IntType, binding),
		cel.Overload(name+"_double_double", []*cel.Type{cel.DoubleType, cel.DoubleType}, cel.DoubleType, binding),
		cel.Overload(name+"_int_double", []*cel.Type{cel.IntType, cel.DoubleType}, cel.DoubleType, binding),
		cel.Overload(name+"_double_int", []*cel.Type{cel.DoubleType, cel.IntType}, cel.DoubleType, binding),
	)}
}

func celNumber(v ref.Val) float64 {
	switch n := v.(type) {
	case types.Int:
		return float64(n)
	case types.Double:
		return float64(n)
	}
	return math.NaN()
}

// compile checks an expression; its result must be an int or a double.
func compile(source string) (*expression, error) {
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	ast, issues := env.Compile(source)
	if issues.Err() != nil {
		return nil, fmt.Errorf("expression does not compile: %w", issues.Err())
	}
	if t := ast.OutputType(); t != cel.IntType && t != cel.DoubleType {
		return nil, fmt.Errorf("expression gives %s, not a number", t)
	}
	// The limit is ours: upstream sets none, but an expression from a snapshot must not hang the program.
	program, err := env.Program(ast, cel.CostLimit(1_000_000))
	if err != nil {
		return nil, fmt.Errorf("expression cannot be run: %w", err)
	}
	return &expression{program}, nil
}

// eval runs the expression for the type of c; a double is truncated toward zero.
func (e *expression) eval(c *calculation, maxPods int64) (int64, error) {
	out, _, err := e.program.Eval(map[string]any{
		celVCPUs:        c.instance.VCPUs,
		celMemoryMiB:    c.instance.MemoryMiB,
		celDefaultENIs:  c.instance.DefaultCardENIs,
		celIPsPerENI:    c.instance.IPv4PerENI,
		celMaxPods:      maxPods,
		celInstanceType: c.instance.Name,
	})
	if err != nil {
		return 0, fmt.Errorf("evaluating the expression: %w", err)
	}
	switch n := out.(type) {
	case types.Int:
		return int64(n), nil
	case types.Double:
		if f := float64(n); !math.IsNaN(f) && math.Abs(f) < math.MaxInt64 {
			return int64(f), nil
		}
		return 0, fmt.Errorf("the expression gives %v", float64(n))
	}
	return 0, fmt.Errorf("the expression gives %s, not a number", out.Type())
}

// maxPods evaluates the expression as maxPods; max_pods in it is the count with maxPods not set.
func (e *expression) maxPods(c *calculation) (int64, error) {
	sum, err := c.withoutMaxPods().podsCapacity()
	if err != nil {
		return 0, err
	}
	pods, err := sum.Total()
	if err != nil {
		return 0, err
	}
	n, err := e.eval(c, pods.Units)
	if err != nil {
		return 0, err
	}
	if n < 0 || n > math.MaxInt32 {
		return 0, fmt.Errorf("the expression gives %d, outside 0 … %d", n, math.MaxInt32)
	}
	return n, nil
}

// withoutMaxPods is the same calculation as if maxPods were not set.
func (c *calculation) withoutMaxPods() *calculation {
	model := *c.Model
	model.kubelet.maxPods = maxPods{}
	return &calculation{Model: &model, instance: c.instance}
}

// celUnits are the steps to which an evaluated reservation is rounded up, and its unit in base units.
var celUnits = map[string]struct{ step, unit int64 }{
	CPU:              {10, 1},
	Memory:           {16, mib},
	EphemeralStorage: {1, gib},
	"pid":            {1, 1},
}

// reserved evaluates the expression as a reservation of the named resource: cpu in millicores up to a multiple of 10,
// memory in MiB up to one of 16, disk in GiB. A failing or negative one counts as not set.
func (e *expression) reserved(c *calculation, name string) (Amount, bool, error) {
	unit, ok := celUnits[name]
	if !ok {
		return Amount{}, false, nil
	}
	sum, err := c.podsCapacity()
	if err != nil {
		return Amount{}, false, err
	}
	pods, err := sum.Total()
	if err != nil {
		return Amount{}, false, err
	}
	n, err := e.eval(c, pods.Units)
	if err != nil || n < 0 {
		return Amount{}, false, nil //nolint:nilerr // upstream drops the entry, the default applies
	}
	if n > (math.MaxInt64-unit.step)/unit.unit/unit.step {
		return Amount{}, false, errOverflow
	}
	if rest := n % unit.step; rest != 0 {
		n += unit.step - rest
	}
	return whole(n * unit.unit), true, nil
}
