package judge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// A report tells the used share or the reset of a window. The rows of the spec select the windows by their names, and
// add the length.
func TestWindows(t *testing.T) {
	rows := []clispec.WindowRow{{Name: "five_.*", Minutes: 300}, {Name: "week", Minutes: 10080}}
	half, reset := new(0.5), noon.Add(time.Hour)
	for name, test := range map[string]struct {
		rows []clispec.WindowRow
		in   call.QuotaWindow
		want []call.QuotaWindow
	}{
		"used share": {nil, call.QuotaWindow{Name: "any", Used: half}, []call.QuotaWindow{{Name: "any", Used: half, ObservedAt: noon}}},
		"reset":      {nil, call.QuotaWindow{Name: "any", ResetsAt: reset}, []call.QuotaWindow{{Name: "any", ResetsAt: reset, ObservedAt: noon}}},
		"time of the report": {
			nil, call.QuotaWindow{Name: "any", Used: half, ObservedAt: noon.Add(-time.Minute)},
			[]call.QuotaWindow{{Name: "any", Used: half, ObservedAt: noon.Add(-time.Minute)}},
		},
		"neither":             {nil, call.QuotaWindow{Name: "any", Length: time.Hour}, nil},
		"share below zero":    {nil, call.QuotaWindow{Name: "any", Used: new(-0.5)}, nil},
		"name with blanks":    {nil, call.QuotaWindow{Name: "any window", Used: half}, nil},
		"length of the row":   {rows, call.QuotaWindow{Name: "five_hour", Used: half}, []call.QuotaWindow{{Name: "five_hour", Used: half, Length: 5 * time.Hour, ObservedAt: noon}}},
		"second row":          {rows, call.QuotaWindow{Name: "week", Used: half}, []call.QuotaWindow{{Name: "week", Used: half, Length: 7 * 24 * time.Hour, ObservedAt: noon}}},
		"reported length":     {rows, call.QuotaWindow{Name: "week", Used: half, Length: time.Hour}, []call.QuotaWindow{{Name: "week", Used: half, Length: time.Hour, ObservedAt: noon}}},
		"window without row":  {rows, call.QuotaWindow{Name: "month", Used: half}, nil},
		"only part of a name": {rows, call.QuotaWindow{Name: "weekly", Used: half}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			j := New(&clispec.Spec{Quota: clispec.QuotaRules{Windows: test.rows}})
			require.Equal(t, test.want, j.Windows([]call.QuotaWindow{test.in}, noon))
		})
	}
}

// A model uses the windows whose row names it or no model. A window that the spec does not know may be for any model.
func TestUsesWindow(t *testing.T) {
	j := New(&clispec.Spec{Quota: clispec.QuotaRules{Windows: []clispec.WindowRow{{Name: "opus", Models: "opus.*"}, {Name: "all"}}}})
	for name, test := range map[string]struct {
		window string
		models []string
		want   bool
	}{
		"named model":      {"opus", []string{"opus-4"}, true},
		"other model":      {"opus", []string{"sonnet"}, false},
		"part of a name":   {"opus", []string{"not-opus"}, false},
		"one of two":       {"opus", []string{"sonnet", "opus-4"}, true},
		"default model":    {"opus", []string{""}, true},
		"no model":         {"opus", nil, false},
		"row of all":       {"all", []string{"sonnet"}, true},
		"row of all, none": {"all", nil, true},
		"unknown window":   {"month", []string{"sonnet"}, true},
	} {
		require.Equal(t, test.want, j.UsesWindow(test.window, test.models...), name)
	}
	require.True(t, New(&clispec.Spec{}).UsesWindow("opus", "sonnet"), "a spec without rows")
}

// A limit event adds its windows to those of earlier events. Only a report of a share makes the used share known.
func TestQuotaOfTally(t *testing.T) {
	limit := func(windows ...call.QuotaWindow) call.Event { return call.Event{Kind: call.EventLimit, Quota: windows} }
	require.Nil(t, add(&Tally{}, limit()).Quota)
	tally := add(&Tally{}, limit(call.QuotaWindow{Name: "week", ResetsAt: noon}))
	require.False(t, tally.KnowsUsed())
	add(tally, limit(), limit(call.QuotaWindow{Name: "opus", Used: new(0.5)}))
	require.True(t, tally.KnowsUsed())
	require.Len(t, tally.Quota, 2)
}
