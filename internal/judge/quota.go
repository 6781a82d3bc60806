package judge

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/pattern"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/quota"
)

// windowRow is a compiled row of QuotaRules.Windows.
type windowRow struct {
	name   *regexp.Regexp
	models *regexp.Regexp // nil: all
	length time.Duration
}

func compileWindows(rows []clispec.WindowRow) (compiled []windowRow) {
	for _, row := range rows {
		c := windowRow{name: plaintext.Whole(row.Name), length: time.Duration(row.Minutes) * time.Minute}
		if row.Models != "" {
			c.models = plaintext.Whole(row.Models)
		}
		compiled = append(compiled, c)
	}
	return compiled
}

var (
	windowName = pattern.Of(`^[a-z][a-z0-9_]{0,63}$`)
	// anyWindow is the row of a spec without rows.
	anyWindow = windowRow{}
)

// Windows returns the windows of the plan in a report that was read at now. It drops the windows that tell nothing, and
// the values that cannot be true. It never fails, because no vendor documents the reports.
func (j *Judge) Windows(report []call.QuotaWindow, now time.Time) (windows []call.QuotaWindow) {
	for _, w := range report {
		row, ok := j.windowRow(w.Name)
		if w.ObservedAt.IsZero() {
			w.ObservedAt = now
		}
		if w = quota.Clean(w, now); !ok || w.Used == nil && w.ResetsAt.IsZero() {
			continue
		}
		w.Length = cmp.Or(w.Length, row.length)
		windows = append(windows, w)
	}
	return windows
}

func (j *Judge) windowRow(name string) (row windowRow, ok bool) {
	if !windowName().MatchString(name) {
		return row, false
	}
	if len(j.windows) == 0 {
		return anyWindow, true
	}
	i := slices.IndexFunc(j.windows, func(r windowRow) bool { return r.name.MatchString(name) })
	if i < 0 {
		return row, false
	}
	return j.windows[i], true
}

// UsesWindow reports whether a call of one of the models may use the window of that name. An empty model is the
// default of the CLI, which may be any model.
func (j *Judge) UsesWindow(window string, models ...string) bool {
	row, ok := j.windowRow(window)
	return !ok || row.models == nil || slices.ContainsFunc(models, func(model string) bool {
		return model == "" || row.models.MatchString(model)
	})
}

// KnowsUsed reports whether the CLI has reported the used share of a window.
func (t *Tally) KnowsUsed() bool {
	return slices.ContainsFunc(t.Quota, func(w call.QuotaWindow) bool { return w.Used != nil })
}
