package collect

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/amazon-vpc-resource-controller-k8s/pkg/aws/vpc"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// typeInfo is an instance type as EC2's DescribeInstanceTypes has it, cut down to what the formulas read. The names are
// the AWS CLI's; the SDK's answers are copied into it, so that both become a snapshot.InstanceType by one function. A
// nil pointer is a member that the answer does not have.
type typeInfo struct {
	InstanceType  string
	BareMetal     *bool
	ProcessorInfo *processorInfo
	VCpuInfo      *struct {
		DefaultVCpus *int64
	}
	MemoryInfo *struct {
		SizeInMiB *int64
	}
	InstanceStorageSupported *bool
	InstanceStorageInfo      *struct {
		TotalSizeInGB *int64
	}
	NetworkInfo *networkInfo
	GpuInfo     *struct {
		Gpus []deviceInfo
	}
	InferenceAcceleratorInfo *struct {
		Accelerators []deviceInfo
	}
	NeuronInfo *struct {
		NeuronDevices []neuronDevice
	}
}

type processorInfo struct {
	SupportedArchitectures []string
}

type networkInfo struct {
	MaximumNetworkInterfaces  *int64
	Ipv4AddressesPerInterface *int64
	DefaultNetworkCardIndex   *int64
	NetworkCards              []networkCard
	EfaSupported              *bool
	EfaInfo                   *struct {
		MaximumEfaInterfaces *int64
	}
}

type networkCard struct {
	MaximumNetworkInterfaces *int64
}

type deviceInfo struct {
	Manufacturer string
	Count        int64
}

type neuronDevice struct {
	Count    int64
	CoreInfo *struct {
		Count int64
	}
}

// instanceType is the type in the snapshot's shape. It fails on one that has no name, vCPUs or memory: nothing can be
// said of it. Members that older answers lack, or that a --query cut off, are missing facts.
func (t *typeInfo) instanceType() (snapshot.InstanceType, error) {
	if t.InstanceType == "" {
		return snapshot.InstanceType{}, errors.New("an instance type has no InstanceType")
	}
	if t.VCpuInfo == nil || t.VCpuInfo.DefaultVCpus == nil {
		return snapshot.InstanceType{}, fmt.Errorf("%s has no VCpuInfo.DefaultVCpus", t.InstanceType)
	}
	if t.MemoryInfo == nil || t.MemoryInfo.SizeInMiB == nil {
		return snapshot.InstanceType{}, fmt.Errorf("%s has no MemoryInfo.SizeInMiB", t.InstanceType)
	}
	if t.ProcessorInfo == nil || len(t.ProcessorInfo.SupportedArchitectures) == 0 {
		return snapshot.InstanceType{}, fmt.Errorf("%s has no ProcessorInfo.SupportedArchitectures", t.InstanceType)
	}
	out := snapshot.InstanceType{
		Name:          t.InstanceType,
		VCPUs:         *t.VCpuInfo.DefaultVCpus,
		MemoryMiB:     *t.MemoryInfo.SizeInMiB,
		Architectures: t.ProcessorInfo.SupportedArchitectures,
		BareMetal:     t.BareMetal != nil && *t.BareMetal,
		Limits:        limitsOf(t.InstanceType),
	}
	switch {
	case t.InstanceStorageInfo != nil:
		out.InstanceStoreGB = t.InstanceStorageInfo.TotalSizeInGB
	case t.InstanceStorageSupported != nil && *t.InstanceStorageSupported:
		out.Missing = append(out.Missing, snapshot.FactInstanceStore)
	}
	t.NetworkInfo.addTo(&out)
	if t.GpuInfo != nil {
		out.GPUs = devices(t.GpuInfo.Gpus)
	}
	if t.InferenceAcceleratorInfo != nil {
		out.InferenceAccelerators = devices(t.InferenceAcceleratorInfo.Accelerators)
	}
	switch {
	case t.NeuronInfo != nil:
		for _, d := range t.NeuronInfo.NeuronDevices {
			n := snapshot.Neuron{Count: d.Count}
			if d.CoreInfo != nil {
				n.Cores = d.CoreInfo.Count
			}
			out.Neurons = append(out.Neurons, n)
		}
	case isNeuron(t.InstanceType): // an AWS CLI older than NeuronInfo (2024) drops it without a word
		out.Missing = append(out.Missing, snapshot.FactNeuron)
	}
	return out, nil
}

func (n *networkInfo) addTo(out *snapshot.InstanceType) {
	if n == nil || n.MaximumNetworkInterfaces == nil || n.Ipv4AddressesPerInterface == nil {
		out.Missing = append(out.Missing, snapshot.FactNetwork, snapshot.FactEFA)
		return
	}
	out.ENIs, out.IPv4PerENI = *n.MaximumNetworkInterfaces, *n.Ipv4AddressesPerInterface
	// The index is a position in the list, as upstream uses it.
	var card int64
	if n.DefaultNetworkCardIndex != nil {
		card = *n.DefaultNetworkCardIndex
	}
	if card >= 0 && card < int64(len(n.NetworkCards)) && n.NetworkCards[card].MaximumNetworkInterfaces != nil {
		out.DefaultCardENIs = *n.NetworkCards[card].MaximumNetworkInterfaces
	} else {
		out.Missing = append(out.Missing, snapshot.FactNetwork)
	}
	switch {
	case n.EfaInfo != nil && n.EfaInfo.MaximumEfaInterfaces != nil:
		out.EFAs = *n.EfaInfo.MaximumEfaInterfaces
	case n.EfaSupported != nil && *n.EfaSupported:
		out.Missing = append(out.Missing, snapshot.FactEFA)
	}
}

func devices(list []deviceInfo) []snapshot.Device {
	var out []snapshot.Device
	for _, d := range list {
		out = append(out, snapshot.Device(d))
	}
	return out
}

// isNeuron reports whether the type is of a family with Inferentia or Trainium devices.
func isNeuron(name string) bool {
	family, _, _ := strings.Cut(name, ".")
	return strings.HasPrefix(family, "inf") || strings.HasPrefix(family, "trn")
}

// limitsOf is the type's row of the VPC limits table, which Karpenter reads too; nil when it has none.
func limitsOf(name string) *snapshot.VPCLimits {
	l, ok := vpc.Limits[name]
	if !ok {
		return nil
	}
	return &snapshot.VPCLimits{IPv4PerENI: int64(l.IPv4PerInterface), Trunking: l.IsTrunkingCompatible, BranchInterfaces: int64(l.BranchInterface)}
}

// InstanceTypes reads what `aws ec2 describe-instance-types` prints, in name order: one file, several pages one after
// the other, a list cut out with --query, compressed or not, or a directory of such files. A type
// that comes several times must be the same each time. Errors are *InputError.
func InstanceTypes(path string) ([]snapshot.InstanceType, error) {
	if path == stdinPath {
		return nil, &InputError{File: path, Err: errors.New("instance types are not read from stdin: write them to a file")}
	}
	files, err := find([]string{path})
	if err != nil {
		return nil, err
	}
	r := typeReader{seen: map[string]int{}}
	if err := files.each(nil, r.read); err != nil {
		return nil, err
	}
	if len(r.types) == 0 {
		return nil, &InputError{File: path, Err: errors.New("no instance type in it: is it what aws ec2 describe-instance-types --output json prints?")}
	}
	return r.sorted(), nil
}

// decodeInstanceTypes reads describe-instance-types output from r, which may hold no type; name is for errors.
func decodeInstanceTypes(r io.Reader, name string) ([]snapshot.InstanceType, error) {
	t := typeReader{seen: map[string]int{}}
	if err := t.read(&source{name: name, named: true, reader: bufio.NewReader(r)}); err != nil {
		return nil, err
	}
	return t.sorted(), nil
}

// typeReader gathers instance types from any number of files.
type typeReader struct {
	types []snapshot.InstanceType
	seen  map[string]int
	files []string // by position in types
}

// sorted is the types in name order.
func (r *typeReader) sorted() []snapshot.InstanceType {
	slices.SortFunc(r.types, func(a, b snapshot.InstanceType) int { return cmp.Compare(a.Name, b.Name) })
	return r.types
}

func (r *typeReader) read(s *source) error {
	isJSON, err := s.isJSON()
	if err != nil {
		return err
	}
	if isJSON {
		return r.values(jsontext.NewDecoder(s), s)
	}
	if !s.named {
		return nil
	}
	return s.fail(errors.New("it is no JSON: write it with aws ec2 describe-instance-types --output json"))
}

// values reads the pages of a stream.
func (r *typeReader) values(dec *jsontext.Decoder, s *source) error {
	for {
		var err error
		switch dec.PeekKind() {
		case '{':
			err = members(dec, func(name string) error {
				if name == instanceTypesMember {
					return r.list(dec, s)
				}
				return dec.SkipValue()
			})
		case '[':
			err = r.list(dec, s)
		default:
			err = dec.SkipValue()
		}
		var known *InputError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &known):
			return err
		case err != nil:
			return s.failAt(dec, "", err)
		}
	}
}

// list reads an array of instance types. In a directory an array may be of something else, which is passed over.
func (r *typeReader) list(dec *jsontext.Decoder, s *source) error {
	if kind := dec.PeekKind(); kind != '[' {
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
		return s.failAt(dec, instanceTypesMember, &wrongKind{want: "a list", found: kind})
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		if !s.named && dec.PeekKind() != '{' {
			if err := dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		var info typeInfo
		if err := json.UnmarshalDecode(dec, &info); err != nil {
			return s.failAt(dec, info.InstanceType, err)
		}
		if !s.named && info.InstanceType == "" {
			continue
		}
		t, err := info.instanceType()
		if err != nil {
			return s.fail(err)
		}
		if err := r.add(t, s); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

func (r *typeReader) add(t snapshot.InstanceType, s *source) error {
	i, ok := r.seen[t.Name]
	if !ok {
		r.seen[t.Name] = len(r.types)
		r.types = append(r.types, t)
		r.files = append(r.files, s.name)
		return nil
	}
	if reflect.DeepEqual(r.types[i], t) {
		return nil
	}
	return s.fail(fmt.Errorf("%s is also in %s with other facts: remove one of the two", t.Name, r.files[i]))
}
