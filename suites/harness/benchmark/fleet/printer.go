package fleet

import (
	"bufio"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// printer writes JSON as kubectl prints it: indented by four, members in the order in which they are given, which is that
// of their names. It keeps the first error.
type printer struct {
	enc *jsontext.Encoder
	err error
}

func (p *printer) token(t jsontext.Token) {
	if p.err == nil {
		p.err = p.enc.WriteToken(t)
	}
}

func (p *printer) name(name string)        { p.token(jsontext.String(name)) }
func (p *printer) item(value string)       { p.token(jsontext.String(value)) }
func (p *printer) text(name, value string) { p.name(name); p.token(jsontext.String(value)) }

func (p *printer) flag(name string, value bool) {
	p.name(name)
	p.token(jsontext.Bool(value))
}

func (p *printer) number(name string, value int64) {
	p.name(name)
	p.token(jsontext.Int(value))
}

func (p *printer) braces(members func()) {
	p.token(jsontext.BeginObject)
	members()
	p.token(jsontext.EndObject)
}

func (p *printer) object(name string, members func()) {
	p.name(name)
	p.braces(members)
}

func (p *printer) array(name string, items func()) {
	p.name(name)
	p.token(jsontext.BeginArray)
	items()
	p.token(jsontext.EndArray)
}

// texts writes members that are texts, given as name and value in turn.
func (p *printer) texts(pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		p.text(pairs[i], pairs[i+1])
	}
}

func (p *printer) amounts(name string, list []amount) {
	p.object(name, func() {
		for _, a := range list {
			p.text(a.name, a.text)
		}
	})
}

// writeList writes a List of what items prints.
func writeList(w io.Writer, items func(*printer)) error {
	out := bufio.NewWriterSize(w, 1<<16)
	p := &printer{enc: jsontext.NewEncoder(out, jsontext.WithIndent("    "))}
	p.braces(func() {
		p.text("apiVersion", "v1")
		p.array("items", func() { items(p) })
		p.text("kind", "List")
		p.object("metadata", func() { p.text("resourceVersion", "") })
	})
	if p.err != nil {
		return p.err
	}
	return out.Flush()
}

// WriteNodes writes what `kubectl get nodes -o json --show-managed-fields` prints.
func (f *Fleet) WriteNodes(w io.Writer) error {
	return writeList(w, f.printNodes)
}

// WriteCluster writes the nodes and every object that explains them, as one kubectl get of all their kinds does.
func (f *Fleet) WriteCluster(w io.Writer) error {
	return writeList(w, func(p *printer) {
		p.deployment()
		for i := range classes {
			p.nodeClass(&classes[i])
		}
		for i := range pools {
			p.nodePool(i)
		}
		for i := range f.nodes {
			if p.err != nil {
				return
			}
			if m := f.machine(i); m.pool >= 0 {
				p.nodeClaim(m)
			}
		}
		f.printNodes(p)
	})
}

func (f *Fleet) printNodes(p *printer) {
	for i := range f.nodes {
		if p.err != nil {
			return
		}
		p.node(f.machine(i))
	}
}
