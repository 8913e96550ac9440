package compare

import (
	"math"
	"strconv"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// amount prints a figure for a person who also wants it exact: "3114Mi", "3106640Ki (3033.8Mi)", "1930m", "29".
func amount(resource string, v int64) string {
	text := snapshot.FormatQuantity(resource, v)
	switch {
	case !snapshot.InBytes(resource) || v%mib == 0:
		return text
	case v%1e9 == 0: // an instance store is counted in decimal gigabytes
		return strconv.FormatInt(v/1e9, 10) + "G"
	}
	return text + " (" + mebibytes(v) + ")"
}

// mebibytes prints bytes in Mi with one decimal, or in Ki where that would show nothing: "3033.8Mi", "4Ki".
func mebibytes(v int64) string {
	switch {
	case v%mib == 0:
		return strconv.FormatInt(v/mib, 10) + "Mi"
	case size(v) < mib && v%kib == 0:
		return strconv.FormatInt(v/kib, 10) + "Ki"
	case size(v) < mib:
		return strconv.FormatInt(v, 10) + " bytes"
	}
	return strconv.FormatFloat(float64(v)/mib, 'f', 1, 64) + "Mi"
}

// short prints a part of a difference, without its sign: "80.2Mi", "80m", "29".
func short(resource string, v int64) string {
	if snapshot.InBytes(resource) {
		return mebibytes(size(v))
	}
	return snapshot.FormatQuantity(resource, size(v))
}

// share prints part of whole in per cent with two decimals; "all" of nothing.
func share(part, whole int64) string {
	if whole == 0 {
		return "all"
	}
	return strconv.FormatFloat(float64(part)/float64(whole)*100, 'f', 2, 64) + " %"
}

// fraction is the smallest overhead of four decimals that takes at least part of whole, both in bytes, by Karpenter's own
// rounding to whole MiB; 0 of nothing.
func fraction(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	takes := func(n float64) bool { return math.Ceil(float64(whole)*(n/1e4)/1024/1024)*mib >= float64(part) }
	n := math.Ceil(float64(part) / float64(whole) * 1e4)
	for n > 0 && takes(n-1) {
		n--
	}
	for !takes(n) {
		n++
	}
	return n / 1e4
}

func number(v int64) string { return strconv.FormatInt(v, 10) }

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
