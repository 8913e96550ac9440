package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// visible makes every character that is not meant to be seen visible as U+FFFD: control characters (an escape sequence
// starts with one), direction overrides, invisible joiners, noncharacters and bytes that are no UTF-8. Line breaks and
// tabs become spaces. It is what every format for people starts from.
func visible(s string) string {
	if clean(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029':
			b.WriteByte(' ')
		case invisible(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func clean(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

func invisible(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r <= 0x9f: // C0, DEL, C1
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r == 0x00ad, r == 0x061c:
		return true
	case r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef: // noncharacters, which XML forbids
		return true
	}
	return false
}

// ascii is visible and escapes what is not ASCII: for names in a table of fixed columns, where a wide character would
// break the alignment. Kubernetes names, labels and EC2 types are ASCII.
func ascii(s string) string {
	s = visible(s)
	if clean(s) {
		return s
	}
	q := strconv.QuoteToASCII(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// middle shortens s to at most width characters, keeping both ends: the end of an instance type is its size, the end of
// a node name often what tells it apart.
func middle(s string, width int) string {
	n := utf8.RuneCountInString(s)
	if n <= width {
		return s
	}
	if width <= 1 {
		return strings.Repeat("…", width)
	}
	r := []rune(s)
	head := width / 2
	tail := width - 1 - head
	return string(r[:head]) + "…" + string(r[n-tail:])
}

// cut shortens s to at most width characters, dropping the end.
func cut(s string, width int) string {
	if len(s) <= width || utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-1]) + "…"
}

// amount prints an amount of a resource for a person: "3033.8Mi", "15.6Gi", "-4Ki", "1930m", "58".
func amount(resource string, v int64) string {
	switch {
	case resource == snapshot.CPU:
		return strconv.FormatInt(v, 10) + "m"
	case snapshot.InBytes(resource):
		return bytesText(v)
	}
	return strconv.FormatInt(v, 10)
}

var byteUnits = []struct {
	name string
	size float64
	// below is the magnitude up to which the unit is used; decimals is how many are printed.
	below    float64
	decimals int
}{
	{"", 1, 1 << 10, 0},
	{"Ki", 1 << 10, 1 << 20, 1},
	{"Mi", 1 << 20, 10 << 30, 1}, // people compare memory in Mi, as Karpenter's documentation has it
	{"Gi", 1 << 30, 10 << 40, 2},
	{"Ti", 1 << 40, 0, 2},
}

func bytesText(v int64) string {
	size := float64(v)
	if size < 0 {
		size = -size
	}
	for _, u := range byteUnits {
		if size < u.below || u.below == 0 {
			text := strconv.FormatFloat(float64(v)/u.size, 'f', u.decimals, 64)
			if u.decimals > 0 {
				text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
			}
			return text + u.name
		}
	}
	return ""
}

// figureText prints a figure for a person; a dash where there is none.
func figureText(resource string, f snapshot.Figure) string {
	if !f.Known {
		return "–"
	}
	return amount(resource, f.Value)
}

// signed prints a difference with its sign: "+12Mi", "-80.2Mi", "0".
func signed(resource string, v int64) string {
	if v > 0 {
		return "+" + amount(resource, v)
	}
	return amount(resource, v)
}

// percent prints a share in per cent with enough digits to tell small ones apart: "0.05%", "2.6%", "41%".
func percent(part, whole int64) string {
	if whole == 0 {
		return ""
	}
	return percentText(float64(part) / float64(whole))
}

func percentText(share float64) string {
	p := share * 100
	switch size := max(p, -p); {
	case size >= 10:
		return fmt.Sprintf("%.0f%%", p)
	case size >= 1:
		return fmt.Sprintf("%.1f%%", p)
	}
	return fmt.Sprintf("%.2f%%", p)
}

// shortResource is the resource without the domain that makes its name long.
func shortResource(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 && i < len(name)-1 {
		return name[i+1:]
	}
	return name
}
