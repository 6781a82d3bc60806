package usage

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/quotatext"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/cooldown"
)

// view prints reports.
type view struct {
	*console.Env
	json  bool
	empty string // the text for an empty report
}

// print prints one report.
func (v *view) print(quotas map[string]cooldown.Quota, now time.Time) error {
	if v.json {
		return v.PrintJSON(reportOf(quotas, now))
	}
	return v.Print(v.text(reportOf(quotas, now), console.Columns(v.Out), now))
}

func (v *view) text(r report, width int, now time.Time) string {
	if len(r.Accounts) == 0 {
		return v.empty
	}
	return usageTable(r, v.StyleOf(v.Out), width, now)
}

// watchEvery is the pause between two looks at the store.
const watchEvery = time.Second

// watch shows the reports until ctx ends, and then returns nil. The first look must succeed.
func (v *view) watch(ctx context.Context, look func(context.Context) (map[string]cooldown.Quota, error)) error {
	show := v.lines()
	switch {
	case v.json:
		show = v.documents()
	case v.Redraws(v.Out):
		show = v.redraw(v.Screen())
	}
	var last map[string]cooldown.Quota
	for first := true; ctx.Err() == nil; first = false {
		quotas, err := look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			last = quotas
		case first:
			return console.Fail(console.ExitFailed, err)
		}
		if err := show(last, err, time.Now()); err != nil {
			return err
		}
		pause := time.NewTimer(watchEvery)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
	}
	return nil
}

// show shows the last known quotas at a time, and the error of the last look, which may be nil.
type show func(quotas map[string]cooldown.Quota, failure error, now time.Time) error

// redraw returns a function that replaces the table on a terminal.
func (v *view) redraw(screen *terminal.Screen) show {
	return func(quotas map[string]cooldown.Quota, failure error, now time.Time) error {
		return console.OutputError(screen.Draw(func(width int) string {
			text := v.text(reportOf(quotas, now), width, now)
			if failure != nil {
				message := "cannot read the usage: " + terminal.OneLine(failure.Error())
				text += "\n" + v.StyleOf(v.Out).Red(terminal.Shorten(message, width)) + "\n"
			}
			return text
		}))
	}
}

// lines returns a function that prints a line for each changed window.
func (v *view) lines() show {
	known := map[[2]string]string{} // states by account and window
	return func(quotas map[string]cooldown.Quota, _ error, now time.Time) error {
		r := reportOf(quotas, now)
		var changed strings.Builder
		for i, a := range r.Accounts {
			for _, w := range a.Windows {
				id := [2]string{a.Key, w.Name}
				if state := w.state(); known[id] != state {
					fmt.Fprintln(&changed, now.Format("15:04:05"), windowLine(r.title(i), w, now))
					known[id] = state
				}
			}
		}
		return v.Print(changed.String())
	}
}

// state is different if a reader of the used share and the reset sees a change.
func (w window) state() string {
	used := "unknown"
	if w.Used != nil {
		used = quotatext.Percent(*w.Used)
	}
	return fmt.Sprint(used, w.ResetsAt.Round(time.Minute).Unix(), w.EmptySince.Unix())
}

// documents returns a function that prints each changed report as a line of JSON.
func (v *view) documents() show {
	var known []byte
	return func(quotas map[string]cooldown.Quota, _ error, now time.Time) error {
		var line bytes.Buffer
		if err := console.WriteJSON(&line, reportOf(quotas, now), false); err != nil {
			return err
		}
		if bytes.Equal(line.Bytes(), known) {
			return nil
		}
		known = line.Bytes()
		return v.Print(line.String())
	}
}
