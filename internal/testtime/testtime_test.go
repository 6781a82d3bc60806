package testtime

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clitest/fake"
)

func TestMain(m *testing.M) { os.Exit(fake.Run(m)) }

func TestFactorIsBetweenOneAndTen(t *testing.T) {
	for name, test := range map[string]struct {
		took []time.Duration
		err  error
		want float64
	}{
		"idle":         {[]time.Duration{idle, idle, idle}, nil, 1},
		"faster":       {[]time.Duration{1, idle / 2, idle / 3}, nil, 1},
		"slowest of 3": {[]time.Duration{idle, 4 * idle, 2 * idle}, nil, 4},
		"ten times":    {[]time.Duration{10 * idle, 1, 1}, nil, 10},
		"slower":       {[]time.Duration{1, 1, time.Hour}, nil, 10},
		"no child":     {[]time.Duration{1}, errors.New("no such program"), 10},
	} {
		t.Run(name, func(t *testing.T) {
			took := test.took
			got := factorOf(func() (time.Duration, error) {
				next := took[0]
				took = took[1:]
				return next, test.err
			})
			require.Equal(t, test.want, got)
			require.Empty(t, took, "each child counts")
		})
	}
}

func TestFactorOfThisMachine(t *testing.T) {
	require.NoError(t, child().Run())
	factor := Factor()
	require.GreaterOrEqual(t, factor, 1.0)
	require.LessOrEqual(t, factor, float64(maxFactor))
	bound := Bound(time.Minute)
	require.GreaterOrEqual(t, bound, time.Minute)
	require.LessOrEqual(t, bound, maxFactor*time.Minute)
}

// recorder is a test that notes its failure.
type recorder struct{ message string }

func (*recorder) Helper()                             {}
func (r *recorder) Errorf(format string, args ...any) { r.message += fmt.Sprintf(format, args...) }

func TestLimitGrowsWithFactor(t *testing.T) {
	for name, test := range map[string]struct {
		took     time.Duration
		factor   float64
		measured bool
		want     string
	}{
		"within the limit":          {time.Second, 1, false, ""},
		"longer on an idle machine": {1100 * time.Millisecond, 1, true, "took 1.1s, more than 1s times the measured factor 1.0: it waited"},
		"within the factor":         {2 * time.Second, 2, true, ""},
		"longer on a slow machine":  {3 * time.Second, 2.5, true, "took 3s, more than 1s times the measured factor 2.5: it waited"},
		"longer than ten times":     {11 * time.Second, maxFactor, true, "took 11s, more than 1s times the measured factor 10.0: it waited"},
	} {
		t.Run(name, func(t *testing.T) {
			var r recorder
			measured := false
			check(&r, test.took, time.Second, func() float64 { measured = true; return test.factor }, []string{"it waited"})
			require.Equal(t, test.want, r.message)
			require.Equal(t, test.measured, measured)
		})
	}
}

func TestWithinComparesTimeSinceStart(t *testing.T) {
	Within(t, time.Now(), time.Minute)
	var r recorder
	Within(&r, time.Now().Add(-time.Hour), time.Minute, "a reason")
	require.Contains(t, r.message, "more than 1m0s times the measured factor ")
	require.Contains(t, r.message, ": a reason")
}
