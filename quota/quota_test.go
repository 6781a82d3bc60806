package quota_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/quota"
)

var start = time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC) // a Friday

func after(d time.Duration) time.Time { return start.Add(d) }

func fiveHours(used float64, resets, observed time.Time) call.QuotaWindow {
	return call.QuotaWindow{Name: "five_hour", Used: &used, Length: 5 * time.Hour, ResetsAt: resets, ObservedAt: observed}
}

func TestWindowAt(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*call.QuotaWindow)
		now    time.Time
		used   float64 // -1: unknown
		resets bool
		seen   time.Time
	}{
		"before the reset":              {nil, after(time.Hour), 0.63, true, start},
		"at the reset":                  {nil, after(2 * time.Hour), 0, false, after(2 * time.Hour)},
		"long after the reset":          {nil, after(1000 * time.Hour), 0, false, after(2 * time.Hour)},
		"unknown use before reset":      {func(w *call.QuotaWindow) { w.Used = nil }, after(time.Hour), -1, true, start},
		"unknown use after reset":       {func(w *call.QuotaWindow) { w.Used = nil }, after(3 * time.Hour), 0, false, after(2 * time.Hour)},
		"no reset, within length":       {func(w *call.QuotaWindow) { w.ResetsAt = time.Time{} }, after(4 * time.Hour), 0.63, false, start},
		"no reset, after length":        {func(w *call.QuotaWindow) { w.ResetsAt = time.Time{} }, after(6 * time.Hour), 0, false, after(5 * time.Hour)},
		"neither reset nor length":      {bare, after(7 * 24 * time.Hour), 0.63, false, start},
		"neither, after Longest":        {bare, after(quota.Longest), -1, false, start},
		"no time at all":                {func(w *call.QuotaWindow) { bare(w); w.ObservedAt = time.Time{} }, start, -1, false, time.Time{}},
		"length, but no time":           {func(w *call.QuotaWindow) { w.ResetsAt, w.ObservedAt = time.Time{}, time.Time{} }, start, -1, false, time.Time{}},
		"use above the plan":            {func(w *call.QuotaWindow) { w.Used = new(1.7) }, start, 1, true, start},
		"negative use":                  {func(w *call.QuotaWindow) { w.Used = new(-1.7) }, start, -1, true, start},
		"infinite use":                  {func(w *call.QuotaWindow) { w.Used = new(math.Inf(1)) }, start, -1, true, start},
		"reset in 1970":                 {func(w *call.QuotaWindow) { w.ResetsAt = time.Unix(0, 0) }, after(time.Hour), 0.63, false, start},
		"use that is no number":         {func(w *call.QuotaWindow) { w.Used = new(math.NaN()) }, start, -1, true, start},
		"negative length":               {func(w *call.QuotaWindow) { w.Length = -1 }, start, 0.63, true, start},
		"reset after Longest":           {func(w *call.QuotaWindow) { w.ResetsAt = after(2 * quota.Longest) }, start, 0.63, false, start},
		"observed in the future":        {func(w *call.QuotaWindow) { w.ObservedAt = after(time.Hour) }, start, 0.63, true, start},
		"observed after its reset":      {func(w *call.QuotaWindow) { w.ObservedAt = after(3 * time.Hour) }, after(4 * time.Hour), 0, false, after(3 * time.Hour)},
		"not begun, long ago":           {func(w *call.QuotaWindow) { w.Used, w.ResetsAt = new(0.0), time.Time{} }, after(100 * time.Hour), 0, false, start},
		"length of a year is no length": {func(w *call.QuotaWindow) { w.ResetsAt, w.Length = time.Time{}, 9000*time.Hour }, after(quota.Longest), -1, false, start},
	} {
		t.Run(name, func(t *testing.T) {
			w := fiveHours(0.63, after(2*time.Hour), start)
			if test.change != nil {
				test.change(&w)
			}
			before := w
			got := quota.At(w, test.now)
			if test.used < 0 {
				require.Nil(t, got.Used)
			} else {
				require.NotNil(t, got.Used)
				require.Equal(t, test.used, *got.Used)
			}
			require.Equal(t, test.resets, !got.ResetsAt.IsZero())
			require.Equal(t, test.seen, got.ObservedAt)
			require.Equal(t, before, w, "the argument stays")
			require.Equal(t, got, quota.At(got, test.now), "At of its own result")
		})
	}
}

func bare(w *call.QuotaWindow) { w.ResetsAt, w.Length = time.Time{}, 0 }

func TestWindowAtLaterIsTheSameInOneOrTwoSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := windows(0).Draw(t, "window")
		first := rapid.Int64Range(0, int64(quota.Longest)).Draw(t, "first")
		second := rapid.Int64Range(0, 2*int64(quota.Longest)).Draw(t, "second")
		now := after(24*time.Hour + time.Duration(first)) // after all reports
		later := now.Add(time.Duration(second))
		require.Equal(t, quota.At(w, later), quota.At(quota.At(w, now), later))
	})
}

// windows are reports of one window between start and a day after it. known is the share of reports with all fields.
func windows(known int) *rapid.Generator[call.QuotaWindow] {
	return rapid.Custom(func(t *rapid.T) call.QuotaWindow {
		has := func(field string) bool { return known == 100 || rapid.IntRange(0, 3).Draw(t, field) > 0 }
		w := call.QuotaWindow{Name: "five_hour"}
		if has("used") {
			w.Used = new(float64(rapid.IntRange(0, 4).Draw(t, "quarters")) / 4)
		}
		if has("observed") {
			w.ObservedAt = after(time.Duration(rapid.IntRange(0, 24).Draw(t, "hours")) * time.Hour)
		}
		if has("length") {
			w.Length = 5 * time.Hour
		}
		if has("resets") {
			w.ResetsAt = w.ObservedAt.Add(time.Duration(rapid.IntRange(1, 10).Draw(t, "halves")) * 30 * time.Minute)
		}
		return w
	})
}

func TestMerge(t *testing.T) {
	reset, nextReset := after(2*time.Hour), after(7*time.Hour)
	reported := fiveHours(0.63, reset, start)
	with := func(w call.QuotaWindow, change func(*call.QuotaWindow)) call.QuotaWindow { change(&w); return w }
	for name, test := range map[string]struct{ next, want call.QuotaWindow }{
		"later report":            {fiveHours(0.7, reset, after(time.Hour)), fiveHours(0.7, reset, after(time.Hour))},
		"later report, less used": {fiveHours(0.5, reset, after(time.Hour)), fiveHours(0.5, reset, after(time.Hour))},
		"earlier report":          {fiveHours(0.7, reset, after(-time.Hour)), reported},
		"same time, more used":    {fiveHours(0.7, reset, start), fiveHours(0.7, reset, start)},
		"same time, less used":    {fiveHours(0.5, reset, start), reported},
		"unknown use": {
			call.QuotaWindow{Name: "five_hour", ResetsAt: reset.Add(time.Minute), ObservedAt: after(time.Hour)},
			fiveHours(0.63, reset.Add(time.Minute), start),
		},
		"unknown use of the next period": {
			call.QuotaWindow{Name: "five_hour", ResetsAt: nextReset, ObservedAt: after(3 * time.Hour)},
			with(fiveHours(0, nextReset, after(3*time.Hour)), func(w *call.QuotaWindow) { w.Used = nil }),
		},
		"unknown use after an early reset": {
			call.QuotaWindow{Name: "five_hour", ResetsAt: after(6 * time.Hour), ObservedAt: after(time.Hour)},
			with(fiveHours(0, after(6*time.Hour), after(time.Hour)), func(w *call.QuotaWindow) { w.Used = nil }),
		},
		"unknown reset": {
			call.QuotaWindow{Name: "five_hour", Used: new(0.9), ObservedAt: after(time.Hour)},
			fiveHours(0.9, reset, after(time.Hour)),
		},
		"unknown reset of the next period": {
			call.QuotaWindow{Name: "five_hour", Used: new(0.1), ObservedAt: after(3 * time.Hour)},
			fiveHours(0.1, time.Time{}, after(3*time.Hour)),
		},
		"not begun after an early reset": {
			fiveHours(0, time.Time{}, after(time.Hour)), fiveHours(0, time.Time{}, after(time.Hour)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, []call.QuotaWindow{test.want}, quota.Merge([]call.QuotaWindow{reported}, []call.QuotaWindow{test.next}))
		})
	}
}

func TestMergeSortsByLength(t *testing.T) {
	of := func(name string, length time.Duration) call.QuotaWindow {
		return call.QuotaWindow{Name: name, Length: length}
	}
	got := quota.Merge(
		[]call.QuotaWindow{of("week", 168*time.Hour), of("b", 0), of("day", 24*time.Hour)},
		[]call.QuotaWindow{of("a", 0), of("hours", 5*time.Hour), of("another week", 168*time.Hour)})
	var names []string
	for _, w := range got {
		names = append(names, w.Name)
	}
	require.Equal(t, []string{"hours", "day", "another week", "week", "a", "b"}, names)
}

// The order in which reports arrive does not matter. So several processes can merge them in any order.
func TestMergeIsIndependentOfOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := windows(0).Draw(t, "a"), windows(0).Draw(t, "b")
		ab, ba := merged(a, b), merged(b, a)
		require.Equal(t, ab, ba)
		require.Equal(t, ab, merged(append(ab, a, b)...), "reports that are known change nothing")
		full := rapid.SliceOfN(windows(100), 1, 6).Draw(t, "full")
		forth := merged(full...)
		slices.Reverse(full)
		require.Equal(t, forth, merged(full...))
	})
}

func merged(reports ...call.QuotaWindow) (known []call.QuotaWindow) {
	for _, w := range reports {
		known = quota.Merge(known, []call.QuotaWindow{w})
	}
	return known
}

// Within one period of a window, only a later report lowers the use.
func TestMergeKeepsUseWithinPeriod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := windows(0).Draw(t, "a"), windows(0).Draw(t, "b")
		got := merged(a, b)[0]
		for _, w := range []call.QuotaWindow{a, b} {
			samePeriod := w.ResetsAt.Equal(got.ResetsAt) && got.ObservedAt.Before(quota.End(w))
			if samePeriod && w.Used != nil && !w.ObservedAt.Before(got.ObservedAt) {
				require.NotNil(t, got.Used)
				require.GreaterOrEqual(t, *got.Used, *w.Used)
			}
		}
	})
}

func TestRate(t *testing.T) {
	w := fiveHours(0.6, after(2*time.Hour), start) // 3 h of the window have passed
	perHour, ok := quota.Rate(w, after(time.Hour))
	require.True(t, ok)
	require.InDelta(t, 0.2, perHour, 1e-9)
	require.True(t, quota.UsedUp(w, start).IsZero(), "used up just at the reset")

	w.Used = new(0.75)
	require.WithinDuration(t, after(time.Hour), quota.UsedUp(w, start), time.Second)
	require.Equal(t, after(90*time.Minute), quota.UsedUp(w, after(90*time.Minute)), "not in the past")
	require.Equal(t, start, quota.UsedUp(fiveHours(1, after(time.Hour), start), start))

	require.True(t, quota.UsedUp(fiveHours(0, after(time.Hour), start), start).IsZero())
	for name, unknown := range map[string]call.QuotaWindow{
		"use":    {Length: 5 * time.Hour, ResetsAt: after(time.Hour), ObservedAt: start},
		"length": {Used: new(0.5), ResetsAt: after(time.Hour), ObservedAt: start},
		"reset":  {Used: new(0.5), Length: 5 * time.Hour, ObservedAt: start},
		"start":  fiveHours(0.5, after(5*time.Hour), start),
	} {
		_, ok := quota.Rate(unknown, start)
		require.False(t, ok, name)
		require.True(t, quota.UsedUp(unknown, start).IsZero(), name)
	}
	_, ok = quota.Rate(w, after(2*time.Hour))
	require.False(t, ok, "after the reset")
}

func TestPerHour(t *testing.T) {
	week := call.QuotaWindow{Name: "seven_day", Used: new(0.5), Length: 168 * time.Hour, ResetsAt: after(100 * time.Hour), ObservedAt: start}
	left, known := quota.PerHour([]call.QuotaWindow{fiveHours(0.6, after(2*time.Hour), start), week}, start)
	require.True(t, known)
	require.InDelta(t, 0.005, left, 1e-9, "the week has the least")

	left, _ = quota.PerHour([]call.QuotaWindow{fiveHours(0.6, after(2*time.Hour), start), {Name: "x"}}, after(time.Hour))
	require.InDelta(t, 0.4, left, 1e-9)
	left, _ = quota.PerHour([]call.QuotaWindow{fiveHours(0.6, after(2*time.Hour), start)}, after(3*time.Hour))
	require.InDelta(t, 0.2, left, 1e-9, "after the reset the whole length is left")
	left, _ = quota.PerHour([]call.QuotaWindow{fiveHours(0, after(2*time.Hour), start)}, after(2*time.Hour-time.Nanosecond))
	require.InDelta(t, 60, left, 1e-9, "at most for the last minute")
	for _, none := range [][]call.QuotaWindow{nil, {{Name: "x", ResetsAt: after(time.Hour)}}, {{Name: "x", Used: new(0.5), ObservedAt: start}}} {
		_, known = quota.PerHour(none, start)
		require.False(t, known)
	}
}
