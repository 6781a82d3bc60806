package quota

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
)

// Reserve is the share of each usage window that a chain leaves to other users of the plan. The zero value reserves
// nothing. It is a plain value that can be stored as JSON or YAML, with Location as its name ("location"), such as
// "Europe/Berlin".
type Reserve struct {
	// Share is the reserved share of each window, from 0 to 1. With 0.3, a backend is asked while less than 0.7 of each
	// window is used. With 0, usage windows do not matter. With 1, the backend is not asked, also if its use is
	// unknown.
	Share float64 `json:"share" yaml:"share"`
	// Backends are the shares of single backends by name, which override Share.
	Backends map[string]float64 `json:"backends,omitempty" yaml:"backends,omitempty"`
	// Rules are times at which another share is reserved. The first rule for the backend and the time applies, and
	// overrides Share and Backends.
	Rules []Rule `json:"rules,omitempty" yaml:"rules,omitempty"`
	// UseExpiring is the time before the reset of a window in which nothing of it is reserved, because it would expire
	// unused. It has no effect on a share of 1. Zero: none. JSON and YAML have it as text ("use_expiring"), such as "30m".
	UseExpiring time.Duration `json:"-" yaml:"-"`
	// Location is the time zone of the rules. Nil: time.Local.
	Location *time.Location `json:"-" yaml:"-"`
}

// IsZero reports whether nothing is ever reserved.
func (r Reserve) IsZero() bool { return r.Share == 0 && len(r.Backends)+len(r.Rules) == 0 }

// Named returns the names in Backends and Rules, sorted, each once.
func (r Reserve) Named() []string {
	names := slices.Collect(maps.Keys(r.Backends))
	for _, rule := range r.Rules {
		names = append(names, rule.Backends...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Rule is a share that is reserved at some times of the week. A Rule without Days and Hours applies always.
type Rule struct {
	// Days are days of the week, such as "sat,sun" or "mon-fri". Empty: every day.
	Days string `json:"days,omitempty" yaml:"days,omitempty"`
	// Hours are the hours of these days, such as "18:00-24:00". Hours that end on the next day, such as "22:00-06:00",
	// belong to the day on which they start. Empty: the whole day.
	Hours string `json:"hours,omitempty" yaml:"hours,omitempty"`
	// Backends are the names of the backends for which the rule applies. Nil: all.
	Backends []string `json:"backends,omitempty" yaml:"backends,omitempty"`
	// Share is the reserved share, from 0 to 1. With 0, the chain may use the whole plan.
	Share float64 `json:"share" yaml:"share"`
}

// Check reports whether the reserve permits a call of the backend now. It does if less than the rest of each window is
// used; a window with unknown use permits the call. Otherwise until is the first time at which the reserve will permit
// a call if the plan is not used before. That is the reset of a window, or the time at which another rule applies. It
// is zero if there is no such time in the next [Longest].
//
// An old report has the same effect as a new one until its window resets. The account has used at least that much, so a
// report that forbids a call stays valid. A report that permits a call may be too old, but that call brings a new one.
// So the calls in flight can pass the reserve by one each.
//
// The reserve must be valid; see [Reserve.Problem].
func (r Reserve) Check(backend string, windows []call.QuotaWindow, now time.Time) (until time.Time, ok bool) {
	times := r.times(backend)
	if r.permits(times, windows, now) {
		return time.Time{}, true
	}
	var next []time.Time
	for _, w := range windows {
		end := End(At(w, now))
		next = append(next, end.Add(-r.UseExpiring), end)
	}
	for _, t := range times {
		next = append(next, t.changes(now)...)
	}
	slices.SortFunc(next, time.Time.Compare)
	for _, t := range next {
		if t.After(now) && r.permits(times, windows, t) {
			return t, false
		}
	}
	return time.Time{}, false
}

// permits reports whether less than the rest of each window is used at a time.
func (r Reserve) permits(times []timed, windows []call.QuotaWindow, at time.Time) bool {
	i := slices.IndexFunc(times, func(t timed) bool { return t.includes(at) })
	reserved := times[i].share // the last one applies always
	if reserved <= 0 || reserved >= 1 {
		return reserved <= 0
	}
	return !slices.ContainsFunc(windows, func(w call.QuotaWindow) bool {
		rest := 1 - reserved
		if w = At(w, at); r.UseExpiring > 0 && !End(w).After(at.Add(r.UseExpiring)) {
			rest = 1
		}
		return w.Used != nil && *w.Used >= rest
	})
}

// times returns the shares that may apply to a backend. The first one whose time has come applies, at the latest the
// last one.
func (r Reserve) times(backend string) (times []timed) {
	location := r.Location
	if location == nil {
		location = time.Local
	}
	for _, rule := range r.Rules {
		if rule.Backends != nil && !slices.Contains(rule.Backends, backend) {
			continue
		}
		if week, problem := parseWeek(rule.Days, rule.Hours); problem == "" {
			times = append(times, timed{rule.Share, week, location})
		}
	}
	usual, ok := r.Backends[backend]
	if !ok {
		usual = r.Share
	}
	return append(times, timed{usual, always, location})
}

// Problem describes the first mistake in a reserve, with its field, its value and a remedy, or returns "".
func (r Reserve) Problem() string {
	if problem := shareProblem("share", r.Share); problem != "" {
		return problem
	}
	for _, name := range slices.Sorted(maps.Keys(r.Backends)) {
		if problem := shareProblem(fmt.Sprintf("backends.%s", name), r.Backends[name]); problem != "" {
			return problem
		}
	}
	for i, rule := range r.Rules {
		field := fmt.Sprintf("rules[%d].", i)
		if problem := shareProblem(field+"share", rule.Share); problem != "" {
			return problem
		}
		if _, problem := parseWeek(rule.Days, rule.Hours); problem != "" {
			return field + problem
		}
	}
	if r.UseExpiring < 0 || r.UseExpiring > Longest {
		return fmt.Sprintf("use_expiring is %v: use a time from 0 to %v, such as 30m", r.UseExpiring, Longest)
	}
	return ""
}

func shareProblem(field string, share float64) string {
	switch {
	case share >= 0 && share <= 1:
		return ""
	case share > 1 && share <= 100:
		return fmt.Sprintf("%s is %v: use a share from 0 to 1, such as %.6g for %v %%", field, share, share/100, share)
	}
	return fmt.Sprintf("%s is %v: use a share from 0 to 1, such as 0.3", field, share)
}

// plainReserve has Reserve's fields without its methods.
type plainReserve Reserve

type reserveJSON struct {
	plainReserve
	UseExpiring string `json:"use_expiring,omitempty"`
	Location    string `json:"location,omitempty"`
}

// MarshalJSON returns the reserve with its location and its time as texts.
func (r Reserve) MarshalJSON() ([]byte, error) {
	out := reserveJSON{plainReserve: plainReserve(r)}
	if r.UseExpiring != 0 {
		out.UseExpiring = r.UseExpiring.String()
	}
	if r.Location != nil {
		out.Location = r.Location.String()
	}
	return json.Marshal(out)
}

// UnmarshalJSON parses the output of MarshalJSON. It also accepts a number, which is the share.
func (r *Reserve) UnmarshalJSON(data []byte) error {
	*r = Reserve{}
	if json.Unmarshal(data, &r.Share) == nil {
		return nil
	}
	var in reserveJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*r = Reserve(in.plainReserve)
	if in.UseExpiring != "" {
		if err := within("use_expiring", r.setExpiring(in.UseExpiring)); err != nil {
			return err
		}
	}
	if in.Location == "" {
		return nil
	}
	return within("location", r.setLocation(in.Location))
}
