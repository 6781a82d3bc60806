package bench_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// measure is one figure of a turn.
type measure struct {
	name, unit string
	more       bool // higher is better
	alone      bool // the ratio to os/exec has no meaning
	of         func(turn) float64
}

var (
	firstText = measure{name: "first text", unit: "ms", of: func(s turn) float64 { return s.Calls[0].First }}
	answered  = measure{name: "answer", unit: "ms", of: func(s turn) float64 { return s.Calls[0].Took }}
	sent      = measure{name: "sent to the model", unit: "bytes", of: func(s turn) float64 { return float64(s.Bytes) }}
	whole     = measure{name: "all answers", unit: "s", of: func(s turn) float64 { return s.Took / 1000 }}
	memory    = measure{name: "peak memory of the caller", unit: "MB", of: func(s turn) float64 { return float64(s.Peak) / 1e6 }}
	rate      = measure{name: "rate", unit: "calls/s", more: true, of: func(s turn) float64 {
		return float64(len(s.Calls)) / s.Took * 1000
	}}
	left = measure{name: "processes left 3 s later", alone: true, of: func(s turn) float64 { return float64(s.Left) }}
	late = measure{name: "return after the timeout", unit: "s", alone: true, of: func(s turn) float64 {
		return (s.Calls[0].Took - ms(s.Timeout)) / 1000
	}}
	inTime = measure{name: "answer", unit: "s", of: func(s turn) float64 {
		if s.failure(len(s.Prompts)) != nil {
			return math.NaN()
		}
		return s.Calls[0].Took / 1000
	}}
	further = measure{name: "each later prompt", unit: "ms", of: func(s turn) float64 {
		var took []float64
		for _, c := range s.Calls[1:] {
			took = append(took, c.Took)
		}
		return quartilesOf(took).median
	}}
)

// quartiles has the lower quartile, the median and the upper quartile of some figures.
type quartiles struct{ low, median, high float64 }

// quartilesOf interpolates between two figures. It returns NaN for an empty list.
func quartilesOf(figures []float64) quartiles {
	sorted := slices.Sorted(slices.Values(figures))
	at := func(part float64) float64 {
		if len(sorted) == 0 {
			return math.NaN()
		}
		place := part * float64(len(sorted)-1)
		i := int(place)
		if i+1 == len(sorted) {
			return sorted[i]
		}
		return sorted[i] + (place-float64(i))*(sorted[i+1]-sorted[i])
	}
	return quartiles{at(0.25), at(0.5), at(0.75)}
}

// ratios returns the ratios of two contenders, round by round.
func ratios(figures, base []float64) (list []float64) {
	for i := range min(len(figures), len(base)) {
		if base[i] != 0 && !math.IsNaN(base[i]+figures[i]) {
			list = append(list, figures[i]/base[i])
		}
	}
	return list
}

// short formats a figure with two or three significant digits, and a whole number with all digits.
func short(x float64) string {
	switch {
	case x == math.Trunc(x) || math.Abs(x) >= 100:
		return fmt.Sprintf("%.0f", x)
	case math.Abs(x) >= 10:
		return fmt.Sprintf("%.1f", x)
	case math.Abs(x) < 0.1:
		return fmt.Sprintf("%.3f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

func (q quartiles) String() string {
	if q.low == q.high {
		return short(q.median)
	}
	return fmt.Sprintf("%s (%s–%s)", short(q.median), short(q.low), short(q.high))
}

func TestQuartiles(t *testing.T) {
	require.Equal(t, "3 (2–4)", quartilesOf([]float64{5, 1, 4, 2, 3}).String())
	require.Equal(t, "1.50 (1.25–1.75)", quartilesOf([]float64{2, 1}).String())
	require.Equal(t, "1234", quartilesOf([]float64{1234.4}).String())
	require.True(t, math.IsNaN(quartilesOf(nil).median))
	require.Equal(t, []float64{2, 0.5}, ratios([]float64{2, 1, 7}, []float64{1, 2, 0}))
}
