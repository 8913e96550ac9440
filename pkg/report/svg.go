package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"image/color"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Ink is what something in a chart means. The drawing library knows colours only, so each ink has a colour of its own
// that inline turns into a class: the style sheet of the page gives it a colour in the light and in the dark.
type ink uint8

const (
	inkText ink = iota + 1
	inkAxis
	inkGrid
	inkFits
	inkOver
	inkNow
	inkFlat
	inkLine
)

var inkClasses = map[ink]string{inkText: "t", inkAxis: "a", inkGrid: "g", inkFits: "f", inkOver: "o", inkNow: "n", inkFlat: "r", inkLine: "l"}

// color is the stand-in: no two inks share one, and none is black, which the library leaves out.
func (i ink) color() color.Color { return color.RGBA{R: uint8(i), G: uint8(i), B: uint8(i), A: 255} }

func inkOf(colorText string) (ink, bool) {
	for i := range inkClasses {
		if c := uint8(i); colorText == fmt.Sprintf("#%02X%02X%02X", c, c, c) {
			return i, true
		}
	}
	return 0, false
}

// newPlot is an empty chart in the inks of the page.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	sans := func(f *font.Font, size vg.Length) { f.Variant, f.Size = "Sans", size }
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Tick.Color = inkAxis.color(), inkAxis.color()
		a.Label.TextStyle.Color, a.Tick.Label.Color = inkText.color(), inkText.color()
		sans(&a.Label.TextStyle.Font, 12)
		sans(&a.Tick.Label.Font, 11)
		a.Padding = 4
		a.Tick.Marker = niceTicks{}
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = inkGrid.color(), inkGrid.color()
	p.Add(grid)
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.Legend.TextStyle.Color = inkText.color()
	sans(&p.Legend.TextStyle.Font, 11)
	p.Legend.Top, p.Legend.ThumbnailWidth, p.Legend.Padding = true, 18, 3
	return p
}

// inlineSVG is a drawing that is escaped already: it goes into the page as it is.
type inlineSVG string

// svg draws the chart with an accessible name and description.
func svg(p *plot.Plot, id, title, description string, width, height vg.Length) (inlineSVG, error) {
	c := vgsvg.NewWith(vgsvg.UseWH(width, height), vgsvg.EmbedFonts(false))
	p.Draw(draw.New(c))
	var raw, out bytes.Buffer
	if _, err := c.WriteTo(&raw); err != nil {
		return "", fmt.Errorf("drawing the chart %q: %w", title, err)
	}
	fmt.Fprintf(&out, `<svg viewBox="0 0 %g %g" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>`,
		width.Points(), height.Points(), id, id, id, html.EscapeString(title), id, html.EscapeString(description))
	if err := inline(&out, &raw); err != nil {
		return "", fmt.Errorf("drawing the chart %q: %w", title, err)
	}
	out.WriteString("</svg>")
	return inlineSVG(out.String()), nil
}

// inline copies the drawing to w as markup for the page. Style attributes become classes and presentation attributes,
// since the page's policy allows no inline styles. Only the elements and attributes that the library is known to write
// go through.
func inline(w *bytes.Buffer, drawing io.Reader) error {
	d := xml.NewDecoder(drawing)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if drawn(t.Name.Local) {
				start(w, t)
			}
		case xml.EndElement:
			if drawn(t.Name.Local) {
				w.WriteString("</" + t.Name.Local + ">")
			}
		case xml.CharData:
			if text := strings.TrimSpace(string(t)); text != "" {
				w.WriteString(html.EscapeString(text))
			}
		}
	}
}

func drawn(element string) bool { return slices.Contains([]string{"g", "path", "text"}, element) }

func start(w *bytes.Buffer, t xml.StartElement) {
	w.WriteString("<" + t.Name.Local)
	for _, a := range t.Attr {
		switch a.Name.Local {
		case "d", "x", "y", "transform":
			attribute(w, a.Name.Local, a.Value)
		case "style":
			style(w, a.Value)
		}
	}
	w.WriteString(">")
}

func attribute(w *bytes.Buffer, name, value string) {
	w.WriteString(" " + name + `="`)
	w.WriteString(html.EscapeString(value))
	w.WriteString(`"`)
}

// style turns a style attribute into a class, "f" or "s" with the ink ("ff" fills in the ink fits), and the widths.
func style(w *bytes.Buffer, text string) {
	var classes []string
	for _, part := range strings.Split(text, ";") {
		key, value, _ := strings.Cut(part, ":")
		switch key {
		case "fill", "stroke":
			if i, ok := inkOf(value); ok {
				classes = append(classes, key[:1]+inkClasses[i])
			}
		case "stroke-width", "stroke-dasharray", "font-size":
			attribute(w, key, value)
		}
	}
	if len(classes) > 0 {
		attribute(w, "class", strings.Join(classes, " "))
	}
}
