package queue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/jetstream"
)

// statusTable returns the state of a queue as a table, in lines of up to width columns. Control characters in names are
// escaped.
func statusTable(s *jetstream.Status, paint console.Style, width int, now time.Time) string {
	p := console.NewPage(paint, width)
	queueCounts(p, s, now)
	unmetJobs(p, s.Unmet, now)
	queueOwners(p, s.Owners)
	queueWorkers(p, s.Workers, now)
	queueCooldowns(p, s.Cooldowns, now)
	if len(s.Warnings) > 0 {
		p.Title("Warnings")
	}
	for _, warning := range s.Warnings {
		p.Hang("  "+p.Yellow("!")+" ", terminal.OneLine(warning), console.Plain)
	}
	return p.String()
}

// queueCounts writes the lines about the queue as a whole.
func queueCounts(p *console.Page, s *jetstream.Status, now time.Time) {
	p.Title("Queue " + s.Name)
	row := func(label, value, detail string) { p.Hang(fmt.Sprintf("  %-9s %8s  ", label, value), detail, p.Dim) }
	waiting := 0
	for _, n := range s.Ready {
		waiting += n
	}
	row("waiting", strconv.Itoa(waiting), tally(s.Ready))
	row("running", strconv.Itoa(s.Running), "")
	row("parked", strconv.Itoa(s.Parked), dueText(s.NextDue, now))
	for _, pause := range s.Pauses {
		row("paused", "", pauseText(pause))
	}
	row("answers", strconv.Itoa(s.Answers), tally(s.Backends))
	row("failures", strconv.Itoa(s.Failures), tally(s.Reasons))
	if s.JobLimit > 0 {
		row("stored", bytesText(s.JobBytes), "of "+bytesText(s.JobLimit)+" for jobs and large payloads")
	}
	if s.ResultLimit > 0 {
		row("results", bytesText(s.ResultBytes),
			fmt.Sprintf("of %s, for %s", bytesText(s.ResultLimit), console.Roughly(s.ResultAge)))
	}
	cost := "unknown"
	if usd := s.Usage.CostUSD; usd != nil {
		cost = console.Dollars(*usd)
	}
	row("cost", cost, fmt.Sprintf("%d tokens in, %d out", s.Usage.InputTokens, s.Usage.OutputTokens))
}

// tally formats counts, such as "9 normal, 3 high", the largest number first.
func tally[K ~string](counts map[K]int) string {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, key := range keys {
		if counts[key] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[key], terminal.OneLine(string(key))))
		}
	}
	return strings.Join(parts, ", ")
}

// bytesText formats a number of bytes in at most eight columns.
func bytesText(n int64) string {
	value := float64(n)
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if value < 1000 {
			return fmt.Sprintf("%.0f %s", value, unit)
		}
		value /= 1024
	}
	return fmt.Sprintf("%.1f GiB", value)
}

// pauseText says whose jobs wait, and until when.
func pauseText(p jetstream.Pause) string {
	text := "all jobs"
	if p.Owner != "" {
		text = "the jobs of " + p.Owner
	}
	return text + untilWords(p.Until)
}

// dueText formats the time of the first delayed job.
func dueText(at, now time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case !at.After(now):
		return "the first is due"
	}
	return "the first for " + console.Roughly(at.Sub(now))
}

// unmetJobs lists the jobs that no worker can take.
func unmetJobs(p *console.Page, list []jetstream.Unmet, now time.Time) {
	if len(list) > 0 {
		p.Title("No worker takes")
	}
	for _, u := range list {
		text := fmt.Sprintf("%s, the first for %s: needs %s: %s",
			console.Plural(u.Jobs, "job", "jobs"), console.Roughly(now.Sub(u.Since)), u.Needs, u.Why)
		p.Hang("  "+p.Red("✗")+" ", terminal.OneLine(text), console.Plain)
	}
}

func queueWorkers(p *console.Page, list []jetstream.WorkerStatus, now time.Time) {
	if len(list) == 0 {
		p.Title("No workers")
		return
	}
	p.Title("Workers")
	byName := func(a, b jetstream.WorkerStatus) int { return cmp.Compare(a.Name, b.Name) }
	list = slices.SortedFunc(slices.Values(list), byName)
	names := make([]string, len(list))
	for i, w := range list {
		names[i] = w.Name
	}
	column := console.Widest(names, p.Width/2-4)
	for _, w := range list {
		mark, what := p.Green("✓"), ""
		switch {
		case !w.Alive:
			mark, what = p.Red("✗"), "no sign for "+console.Roughly(now.Sub(w.Seen))
		case w.Unstored > 0:
			mark, what = p.Yellow("!"), "keeps "+console.Plural(w.Unstored, "result", "results")
		case w.RestingUntil.After(now):
			mark, what = p.Yellow("–"), "rests for "+console.Roughly(w.RestingUntil.Sub(now))
		}
		slots := fmt.Sprintf("%d/%d", w.Running, w.Slots)
		p.Cut(fmt.Sprintf("  %s %s%7s  ", mark, console.Cell(w.Name, column), slots), abilities(what, &w), p.Dim)
	}
}

// abilities lists what a worker announces: its state, its versions, and what it allows jobs.
func abilities(state string, w *jetstream.WorkerStatus) string {
	parts := []string{state, fmt.Sprintf("protocol %d", cmp.Or(w.Protocol, 1)), w.Version, strings.Join(w.Backends, " ")}
	if w.Access > 0 {
		parts = append(parts, "access "+w.Access.String())
	}
	return console.JoinTexts(parts)
}

func queueCooldowns(p *console.Page, list []jetstream.Cooldown, now time.Time) {
	if len(list) == 0 {
		return
	}
	p.Title("Resting")
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.Key
	}
	column := console.Widest(names, p.Width/2-4)
	byKey := func(a, b jetstream.Cooldown) int { return cmp.Compare(a.Key, b.Key) }
	for _, c := range slices.SortedFunc(slices.Values(list), byKey) {
		p.Cut("  "+p.Yellow("–")+" "+console.Cell(c.Key, column)+"  ", rest(c.State.Reason, c.State.Until.Sub(now)), p.Dim)
	}
}

func rest(reason clichain.Reason, left time.Duration) string {
	return fmt.Sprintf("%s, for %s", cmp.Or(terminal.OneLine(string(reason)), "unknown"), console.Roughly(max(left, 0)))
}
