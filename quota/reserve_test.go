package quota_test

import (
	"encoding/json"
	"flag"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/quota"
)

// office reserves a share in office hours only.
var office = quota.Reserve{
	Share: 0.3, Backends: map[string]float64{"codex": 0.5},
	Rules:    []quota.Rule{{Days: "sat,sun"}, {Hours: "18:00-24:00"}},
	Location: time.UTC,
}

// expiring reserves nothing of a window in the half hour before its reset.
var expiring = quota.Reserve{Share: 0.3, UseExpiring: 30 * time.Minute}

func TestReserveCheck(t *testing.T) {
	used := func(share float64) []call.QuotaWindow {
		return []call.QuotaWindow{fiveHours(share, after(2*time.Hour), start)}
	}
	evening := after(4 * time.Hour)
	for name, test := range map[string]struct {
		reserve quota.Reserve
		backend string
		windows []call.QuotaWindow
		until   time.Time // zero: the call is permitted
	}{
		"zero reserve and a used-up window": {quota.Reserve{}, "claude", used(1), time.Time{}},
		"below the rest":                    {office, "claude", used(0.69), time.Time{}},
		"the rest is used":                  {office, "claude", used(0.7), after(2 * time.Hour)},
		"backend with its own share":        {office, "codex", used(0.5), after(2 * time.Hour)},
		"no windows":                        {office, "claude", nil, time.Time{}},
		"unknown use":                       {office, "claude", []call.QuotaWindow{{Name: "x", ResetsAt: after(time.Hour)}}, time.Time{}},
		"the rule changes before the reset": {office, "claude", []call.QuotaWindow{week(0.9, after(100*time.Hour))}, evening},
		"two blocking windows": {
			quota.Reserve{Share: 0.3}, "claude", append(used(0.9), week(0.9, after(100*time.Hour))), after(100 * time.Hour),
		},
		"no reset, but a length": {
			quota.Reserve{Share: 0.3}, "claude", []call.QuotaWindow{fiveHours(0.9, time.Time{}, start)}, after(5 * time.Hour),
		},
		"neither reset nor length": {
			quota.Reserve{Share: 0.3}, "claude", []call.QuotaWindow{{Name: "x", Used: new(0.9), ObservedAt: start}}, after(quota.Longest),
		},
		"the whole plan by day": {
			quota.Reserve{Share: 1, Rules: office.Rules, Location: time.UTC}, "claude", nil, evening,
		},
		"used up, before the expiring time": {expiring, "claude", used(1), after(2 * time.Hour)},
		"before the expiring time":          {expiring, "claude", used(0.9), after(90 * time.Minute)},
		"in the expiring time":              {expiring, "claude", []call.QuotaWindow{fiveHours(0.9, after(30*time.Minute), start)}, time.Time{}},
		"used up in the expiring time":      {expiring, "claude", []call.QuotaWindow{fiveHours(1, after(20*time.Minute), start)}, after(20 * time.Minute)},
		"expiring, but not the week": {
			expiring, "claude", []call.QuotaWindow{fiveHours(0.9, after(time.Minute), start), week(0.9, after(100*time.Hour))},
			after(100*time.Hour - 30*time.Minute),
		},
		"rule of another backend": {
			quota.Reserve{Share: 0.3, Rules: []quota.Rule{{Backends: []string{"codex"}}}}, "claude", used(0.9), after(2 * time.Hour),
		},
		"rule of the backend": {
			quota.Reserve{Share: 0.3, Rules: []quota.Rule{{Backends: []string{"codex"}}}}, "codex", used(0.9), time.Time{},
		},
		"the first rule applies": {
			quota.Reserve{Rules: []quota.Rule{{Hours: "14:00-15:00", Share: 0.5}, {Share: 0.1}}, Location: time.UTC}, "claude", used(0.6), after(time.Hour),
		},
		"night that began on a listed day": {
			quota.Reserve{Rules: []quota.Rule{{Days: "thu", Hours: "20:00-15:30", Share: 0.5}}, Location: time.UTC}, "claude", used(0.6), after(90 * time.Minute),
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, test.reserve.Problem())
			until, ok := test.reserve.Check(test.backend, test.windows, start)
			require.Equal(t, test.until.IsZero(), ok)
			require.True(t, test.until.Equal(until), "until %v, want %v", until, test.until)
		})
	}
	until, ok := quota.Reserve{Share: 1}.Check("claude", nil, start)
	require.False(t, ok)
	require.True(t, until.IsZero(), "the whole plan at all times")
}

func week(used float64, resets time.Time) call.QuotaWindow {
	return call.QuotaWindow{Name: "seven_day", Used: &used, Length: 168 * time.Hour, ResetsAt: resets, ObservedAt: start}
}

// An old report counts like a new one until the reset.
func TestReserveCheckOfOldReport(t *testing.T) {
	windows := []call.QuotaWindow{week(0.6, after(100*time.Hour)), fiveHours(0.8, after(time.Hour), start)}
	r := quota.Reserve{Share: 0.3}
	_, ok := r.Check("claude", windows, after(59*time.Minute))
	require.False(t, ok)
	_, ok = r.Check("claude", windows, after(time.Hour))
	require.True(t, ok, "the five hours are over, and the week permits the call")
	_, ok = quota.Reserve{Share: 0.4}.Check("claude", windows, after(99*time.Hour))
	require.False(t, ok)
}

// Check finds the same answer as a search minute by minute, with an independent reading of the rules.
func TestReserveCheckFindsFirstPermittedMinute(t *testing.T) {
	shares := rapid.SampledFrom([]float64{0, 0.25, 0.5, 0.75, 1})
	rules := rapid.Custom(func(t *rapid.T) quota.Rule {
		return quota.Rule{
			Days:  rapid.SampledFrom([]string{"", "fri", "sat,sun", "sun-mon", "Fri,Monday"}).Draw(t, "days"),
			Hours: rapid.SampledFrom([]string{"", "18:00-24:00", "00:00-07:30", "22:15-06:00", "14:00-13:59"}).Draw(t, "hours"),
			Share: shares.Draw(t, "share"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		r := quota.Reserve{Share: shares.Draw(t, "share"), Rules: rapid.SliceOfN(rules, 0, 3).Draw(t, "rules"), Location: time.UTC}
		r.UseExpiring = time.Duration(rapid.IntRange(0, 600).Draw(t, "expiring")) * time.Minute
		require.Empty(t, r.Problem())
		now := after(time.Duration(rapid.IntRange(0, 7*24*60).Draw(t, "minute")) * time.Minute)
		var windows []call.QuotaWindow
		for _, name := range []string{"a", "b"} {
			used := float64(rapid.IntRange(0, 4).Draw(t, "used")) / 4
			resets := now.Add(time.Duration(rapid.IntRange(1, 3*24*60).Draw(t, "resets")) * time.Minute)
			windows = append(windows, call.QuotaWindow{Name: name, Used: &used, ResetsAt: resets, ObservedAt: now})
		}
		until, ok := r.Check("claude", windows, now)
		require.Equal(t, permits(r, windows, now), ok)
		if ok {
			return
		}
		at := now
		for !permits(r, windows, at) && at.Before(now.Add(11*24*time.Hour)) {
			at = at.Add(time.Minute)
		}
		if at.Before(now.Add(11 * 24 * time.Hour)) {
			require.Equal(t, at, until)
		} else {
			require.True(t, until.IsZero(), until)
		}
	})
}

// permits is a slow and simple form of Check, for days and hours in UTC.
func permits(r quota.Reserve, windows []call.QuotaWindow, at time.Time) bool {
	share := r.Share
	for _, rule := range r.Rules {
		today, yesterday := listed(rule.Days, at.Weekday()), listed(rule.Days, at.AddDate(0, 0, -1).Weekday())
		clock := at.Format("15:04")
		from, to, _ := strings.Cut(rule.Hours, "-")
		applies := today
		switch {
		case rule.Hours == "":
		case from < to:
			applies = today && from <= clock && clock < to
		default:
			applies = today && from <= clock || yesterday && clock < to
		}
		if applies {
			share = rule.Share
			break
		}
	}
	for _, w := range windows {
		expires := r.UseExpiring > 0 && !at.Before(w.ResetsAt.Add(-r.UseExpiring))
		if share > 0 && at.Before(w.ResetsAt) && (*w.Used >= 1 || *w.Used >= 1-share && !expires) {
			return false
		}
	}
	return share < 1
}

func listed(days string, day time.Weekday) bool {
	return days == "" || strings.Contains(map[string]string{
		"fri": "Friday", "sat,sun": "Saturday Sunday", "sun-mon": "Sunday Monday", "Fri,Monday": "Friday Monday",
	}[days], day.String())
}

// In the night of a change of the clock, the rules follow the clock on the wall.
func TestReserveCheckWhenClockChanges(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	havana, err := time.LoadLocation("America/Havana") // the clock changes at midnight
	require.NoError(t, err)
	for name, test := range map[string]struct {
		location *time.Location
		rule     quota.Rule
		now      string // in UTC
		until    string
	}{
		"winter":                     {berlin, quota.Rule{Hours: "06:00-08:00"}, "2026-11-20T00:00:00Z", "2026-11-20T05:00:00Z"},
		"summer":                     {berlin, quota.Rule{Hours: "06:00-08:00"}, "2026-07-20T00:00:00Z", "2026-07-20T04:00:00Z"},
		"before the clock goes on":   {berlin, quota.Rule{Hours: "06:00-08:00"}, "2026-03-28T23:30:00Z", "2026-03-29T04:00:00Z"},
		"before the clock goes back": {berlin, quota.Rule{Hours: "06:00-08:00"}, "2026-10-24T22:30:00Z", "2026-10-25T05:00:00Z"},
		"next day after the change":  {berlin, quota.Rule{Days: "mon"}, "2026-10-24T22:30:00Z", "2026-10-25T23:00:00Z"},
		"day without a midnight":     {havana, quota.Rule{Days: "sun"}, "2026-03-08T00:00:00Z", "2026-03-08T05:00:00Z"},
		"missing hour":               {berlin, quota.Rule{Days: "sun", Hours: "02:00-03:00"}, "2026-03-29T00:30:00Z", "2026-04-05T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339, test.now)
			require.NoError(t, err)
			r := quota.Reserve{Share: 1, Rules: []quota.Rule{test.rule}, Location: test.location}
			until, ok := r.Check("claude", nil, now)
			require.False(t, ok)
			require.Equal(t, test.until, until.UTC().Format(time.RFC3339))
			_, ok = r.Check("claude", nil, until)
			require.True(t, ok)
			_, ok = r.Check("claude", nil, until.Add(-time.Nanosecond))
			require.False(t, ok)
		})
	}
}

func TestReserveProblem(t *testing.T) {
	require.Empty(t, quota.Reserve{}.Problem())
	require.Empty(t, office.Problem())
	rule := func(r quota.Rule) quota.Reserve { return quota.Reserve{Rules: []quota.Rule{{}, r}} }
	for problem, r := range map[string]quota.Reserve{
		"share is 30: use a share from 0 to 1, such as 0.3 for 30 %":                    {Share: 30},
		"share is 1.1: use a share from 0 to 1, such as 0.011 for 1.1 %":                {Share: 1.1},
		"share is -1: use a share from 0 to 1, such as 0.3":                             {Share: -1},
		"share is NaN: use a share from 0 to 1, such as 0.3":                            {Share: math.NaN()},
		"backends.codex is 1.5: use a share from 0 to 1, such as 0.015 for 1.5 %":       {Backends: map[string]float64{"claude": 1, "codex": 1.5}},
		"rules[1].share is 101: use a share from 0 to 1, such as 0.3":                   rule(quota.Rule{Share: 101}),
		`rules[1].days is "weekend": use days such as "sat,sun" or "mon-fri"`:           rule(quota.Rule{Days: "weekend"}),
		`rules[1].days is "mon-": use days such as "sat,sun" or "mon-fri"`:              rule(quota.Rule{Days: "mon-"}),
		`rules[1].days is "mon,": use days such as "sat,sun" or "mon-fri"`:              rule(quota.Rule{Days: "mon,"}),
		`rules[1].hours is "18-24": use a start and an end such as "18:00-24:00"`:       rule(quota.Rule{Hours: "18-24"}),
		`rules[1].hours is "18:00": use a start and an end such as "18:00-24:00"`:       rule(quota.Rule{Hours: "18:00"}),
		`rules[1].hours is "18:00-18:00": use a start and an end such as "18:00-24:00"`: rule(quota.Rule{Hours: "18:00-18:00"}),
		`rules[1].hours is "24:00-06:00": use a start and an end such as "18:00-24:00"`: rule(quota.Rule{Hours: "24:00-06:00"}),
		`rules[1].hours is "18:00-24:30": use a start and an end such as "18:00-24:00"`: rule(quota.Rule{Hours: "18:00-24:30"}),
	} {
		require.Equal(t, problem, r.Problem())
	}
}

func TestReserveNamed(t *testing.T) {
	require.Empty(t, quota.Reserve{Share: 1}.Named())
	reserve := quota.Reserve{
		Backends: map[string]float64{"gemini": 0.5, "codex": 1},
		Rules:    []quota.Rule{{Share: 1}, {Backends: []string{"claude", "codex"}}},
	}
	require.Equal(t, []string{"claude", "codex", "gemini"}, reserve.Named())
}

func TestReserveJSON(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	r := office
	r.Location, r.UseExpiring = berlin, 30*time.Minute
	data, err := json.Marshal(r)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"share": 0.3, "backends": {"codex": 0.5}, "location": "Europe/Berlin", "use_expiring": "30m0s",
		"rules": [{"days": "sat,sun", "share": 0}, {"hours": "18:00-24:00", "share": 0}]
	}`, string(data))
	var got quota.Reserve
	require.NoError(t, json.Unmarshal(data, &got))
	require.Equal(t, r, got)
	require.NoError(t, json.Unmarshal([]byte("0.4"), &got))
	require.Equal(t, quota.Reserve{Share: 0.4}, got)
	require.ErrorContains(t, json.Unmarshal([]byte(`{"location": "Berlin"}`), &got),
		`location is "Berlin": use the name of a time zone, such as Europe/Berlin`)
	require.ErrorContains(t, json.Unmarshal([]byte(`{"use_expiring": "soon"}`), &got), `use_expiring is "soon": use a time`)
	require.Error(t, json.Unmarshal([]byte(`"much"`), &got))
}

// checkWeeks checks a property of 40 scenes, or of as many as the flag -rapid.checks asks for.
func checkWeeks(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	if checks := flag.Lookup("rapid.checks").Value; checks.String() == "100" {
		require.NoError(t, checks.Set("40"))
		defer func() { require.NoError(t, checks.Set("100")) }()
	}
	rapid.Check(t, property)
}
