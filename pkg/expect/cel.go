package expect

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
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

// environment is built once: it is the same for every expression. It has CEL's standard library, max and min, and
// nothing else: an expression that needs more does not compile upstream either.
// Source: NewEnvironment() in pkg/cel/environment.go (v1.15.2).
var environment = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{cel.Variable(celInstanceType, cel.StringType), extreme("max", 1), extreme("min", -1)}
	for _, name := range []string{celVCPUs, celMemoryMiB, celDefaultENIs, celIPsPerENI, celMaxPods} {
		options = append(options, cel.Variable(name, cel.IntType))
	}
	return cel.NewEnv(options...)
})

// extreme declares max (sign 1) or min (sign −1) over each mix of int and double; a mix gives a double. Where neither
// is larger, or one is no number, the second is the result.
func extreme(name string, sign int) cel.EnvOption {
	pick := cel.BinaryBinding(func(a, b ref.Val) ref.Val {
		x, xInt := a.(types.Int)
		y, yInt := b.(types.Int)
		if xInt && yInt {
			if cmp.Compare(x, y) == sign {
				return x
			}
			return y
		}
		if x, y := celDouble(a), celDouble(b); sign > 0 && x > y || sign < 0 && x < y {
			return x
		}
		return celDouble(b)
	})
	ints, doubles := cel.IntType, cel.DoubleType
	return cel.Function(name,
		cel.Overload(name+"_int_int", []*cel.Type{ints, ints}, ints, pick),
		cel.Overload(name+"_double_double", []*cel.Type{doubles, doubles}, doubles, pick),
		cel.Overload(name+"_int_double", []*cel.Type{ints, doubles}, doubles, pick),
		cel.Overload(name+"_double_int", []*cel.Type{doubles, ints}, doubles, pick),
	)
}

// celDouble is an int or double as a double; the overloads let nothing else in.
func celDouble(v ref.Val) types.Double {
	if n, ok := v.(types.Int); ok {
		return types.Double(n)
	}
	d, _ := v.(types.Double)
	return d
}

// compile checks an expression; its result must be an int or a double.
func compile(source string) (*expression, error) {
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	ast, issues := env.Compile(source)
	if issues.Err() != nil {
		return nil, fmt.Errorf("the expression does not compile: %w", issues.Err())
	}
	if t := ast.OutputType(); t != cel.IntType && t != cel.DoubleType {
		return nil, fmt.Errorf("the expression gives %s, not int or double", t)
	}
	// The limit is ours: upstream sets none, but an expression from a snapshot must not hang the program.
	program, err := env.Program(ast, cel.CostLimit(1_000_000))
	if err != nil {
		return nil, fmt.Errorf("the expression cannot be run: %w", err)
	}
	return &expression{program}, nil
}

// variables resolves the variables of an expression for one type. Each is worked out when the expression asks for it, so
// that an expression hangs only on the facts that it names.
type variables struct {
	c       *calculation
	maxPods func() (Sum, error)
	// err is the first variable's that could not be worked out.
	err error
}

// ResolveName implements cel.Activation.
func (v *variables) ResolveName(name string) (any, bool) {
	t := v.c.instance
	switch name {
	case celVCPUs:
		return t.VCPUs, true
	case celMemoryMiB:
		return t.MemoryMiB, true
	case celDefaultENIs:
		return v.checked(t.DefaultCardENIs, v.c.need(snapshot.FactNetwork)), true
	case celIPsPerENI:
		return v.checked(t.IPv4PerENI, v.c.need(snapshot.FactNetwork)), true
	case celMaxPods:
		sum, err := v.maxPods()
		if err != nil {
			return v.checked(0, err), true
		}
		total, err := sum.Total()
		return v.checked(total.Units, err), true
	case celInstanceType:
		return t.Name, true
	}
	return nil, false
}

func (v *variables) checked(n int64, err error) any {
	if err == nil {
		return n
	}
	v.err = errors.Join(v.err, err)
	return types.WrapErr(err)
}

// Parent implements cel.Activation.
func (v *variables) Parent() cel.Activation { return nil }

// eval runs the expression for the type of c; a double is truncated toward zero.
func (e *expression) eval(v *variables) (int64, error) {
	out, _, err := e.program.Eval(v)
	switch {
	case err != nil && v.err != nil:
		return 0, v.err
	case err != nil:
		return 0, fmt.Errorf("evaluating the expression: %w", err)
	}
	switch n := out.(type) {
	case types.Int:
		return int64(n), nil
	case types.Double:
		// 2^63 itself is no int64. Upstream refuses only infinities and NaN here and its caller what is negative or
		// too large, which a double beyond 2^63 becomes on amd64.
		if f := float64(n); math.Abs(f) < 1<<63 {
			return int64(f), nil
		}
		return 0, fmt.Errorf("the expression gives %v", float64(n))
	}
	return 0, fmt.Errorf("the expression gives %s, not a number", out.Type())
}

// maxPods evaluates the expression as maxPods; max_pods in it is the count with maxPods not set.
func (e *expression) maxPods(c *calculation) (int64, error) {
	n, err := e.eval(&variables{c: c, maxPods: c.podsWithoutMaxPods})
	if err != nil {
		return 0, err
	}
	if n < 0 || n > math.MaxInt32 {
		return 0, fmt.Errorf("the expression gives %d, outside 0 … %d", n, math.MaxInt32)
	}
	return n, nil
}

// celUnits are the steps to which an evaluated reservation is rounded up, and its unit in base units. Other resources
// are counted as they come.
var celUnits = map[string]struct{ step, unit int64 }{
	CPU:              {10, 1},
	Memory:           {16, mib},
	EphemeralStorage: {1, gib},
}

// reserved evaluates the expression as a reservation of the named resource: cpu in millicores up to a multiple of 10,
// memory in MiB up to one of 16, disk in GiB. A failing or negative one counts as not set.
// Source: ResolveResourceMap() in pkg/cel/environment.go (v1.15.2).
func (e *expression) reserved(c *calculation, name string) (Amount, bool, error) {
	v := &variables{c: c, maxPods: c.pods}
	n, err := e.eval(v)
	switch {
	case v.err != nil && err != nil:
		return Amount{}, false, err
	case err != nil || n < 0:
		return Amount{}, false, nil //nolint:nilerr // upstream drops the entry, the default applies
	}
	unit, ok := celUnits[name]
	if !ok {
		return whole(n), true, nil
	}
	if rest := n % unit.step; rest != 0 && n <= math.MaxInt64-unit.step {
		n += unit.step - rest
	}
	if n > math.MaxInt64/unit.unit {
		return Amount{}, false, errOverflow
	}
	return whole(n * unit.unit), true, nil
}
