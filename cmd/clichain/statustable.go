package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// statusTable is the state of a queue for people, in lines of up to width columns. It is a pure function: what is in it
// depends on nothing else, and names that others have chosen cannot move the cursor.
func statusTable(s *jetstream.Status, paint style, width int, now time.Time) string {
	p := newPage(paint, width)
	queueCounts(p, s, now)
	unmetJobs(p, s.Unmet, now)
	queueWorkers(p, s.Workers, now)
	queueCooldowns(p, s.Cooldowns, now)
	if len(s.Warnings) > 0 {
		p.title("Warnings")
	}
	for _, warning := range s.Warnings {
		p.hang("  "+p.yellow("!")+" ", oneLine(warning), unpainted)
	}
	return p.String()
}

// queueCounts writes the lines about the queue as a whole.
func queueCounts(p *page, s *jetstream.Status, now time.Time) {
	p.title("Queue " + s.Name)
	row := func(label, value, detail string) { p.hang(fmt.Sprintf("  %-9s %8s  ", label, value), detail, p.dim) }
	waiting := 0
	for _, n := range s.Ready {
		waiting += n
	}
	row("waiting", strconv.Itoa(waiting), tally(s.Ready))
	row("running", strconv.Itoa(s.Running), "")
	row("parked", strconv.Itoa(s.Parked), dueText(s.NextDue, now))
	row("answers", strconv.Itoa(s.Answers), tally(s.Backends))
	row("failures", strconv.Itoa(s.Failures), tally(s.Reasons))
	if s.JobLimit > 0 {
		row("stored", bytesText(s.JobBytes), "of "+bytesText(s.JobLimit)+" for jobs and large payloads")
	}
	cost := "unknown"
	if usd := s.Usage.CostUSD; usd != nil {
		cost = fmt.Sprintf("$%.4f", *usd)
	}
	row("cost", cost, fmt.Sprintf("%d tokens in, %d out", s.Usage.InputTokens, s.Usage.OutputTokens))
}

// tally is "3 high, 9 normal": the largest number first.
func tally[K ~string](counts map[K]int) string {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, key := range keys {
		if counts[key] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[key], oneLine(string(key))))
		}
	}
	return strings.Join(parts, ", ")
}

// bytesText is a number of bytes in at most eight columns.
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

// dueText says when the first parked job is due.
func dueText(at, now time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case !at.After(now):
		return "the first is due"
	}
	return "the first for " + roughly(at.Sub(now))
}

// unmetJobs lists the jobs that no worker can take.
func unmetJobs(p *page, list []jetstream.Unmet, now time.Time) {
	if len(list) > 0 {
		p.title("No worker takes")
	}
	for _, u := range list {
		text := fmt.Sprintf("%s, the first for %s: needs %s: %s",
			plural(u.Jobs, "job", "jobs"), roughly(now.Sub(u.Since)), u.Needs, u.Why)
		p.hang("  "+p.red("✗")+" ", oneLine(text), unpainted)
	}
}

func queueWorkers(p *page, list []jetstream.WorkerStatus, now time.Time) {
	if len(list) == 0 {
		p.title("No workers")
		return
	}
	p.title("Workers")
	byName := func(a, b jetstream.WorkerStatus) int { return cmp.Compare(a.Name, b.Name) }
	list = slices.SortedFunc(slices.Values(list), byName)
	names := make([]string, len(list))
	for i, w := range list {
		names[i] = w.Name
	}
	column := widest(names, p.width/2-4)
	for _, w := range list {
		mark, what := p.green("✓"), ""
		switch {
		case !w.Alive:
			mark, what = p.red("✗"), "no sign for "+roughly(now.Sub(w.Seen))
		case w.Unstored > 0:
			mark, what = p.yellow("!"), "keeps "+plural(w.Unstored, "result", "results")
		case w.RestingUntil.After(now):
			mark, what = p.yellow("–"), "rests for "+roughly(w.RestingUntil.Sub(now))
		}
		slots := fmt.Sprintf("%d/%d", w.Running, w.Slots)
		p.cut(fmt.Sprintf("  %s %s%7s  ", mark, cells(w.Name, column), slots), abilities(what, &w), p.dim)
	}
}

// abilities is what a worker announces: its state, its versions, and what it offers to jobs.
func abilities(state string, w *jetstream.WorkerStatus) string {
	parts := []string{state, fmt.Sprintf("protocol %d", cmp.Or(w.Protocol, 1)), w.Version, strings.Join(w.Backends, " ")}
	if w.Access > 0 {
		parts = append(parts, "access "+w.Access.String())
	}
	return joinTexts(parts)
}

// joinTexts joins the texts that are not empty with commas.
func joinTexts(parts []string) string {
	return strings.Join(slices.DeleteFunc(parts, func(text string) bool { return text == "" }), ", ")
}

func queueCooldowns(p *page, list []jetstream.Cooldown, now time.Time) {
	if len(list) == 0 {
		return
	}
	p.title("Resting")
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.Key
	}
	column := widest(names, p.width/2-4)
	byKey := func(a, b jetstream.Cooldown) int { return cmp.Compare(a.Key, b.Key) }
	for _, c := range slices.SortedFunc(slices.Values(list), byKey) {
		p.cut("  "+p.yellow("–")+" "+cells(c.Key, column)+"  ", rest(c.State.Reason, c.State.Until.Sub(now)), p.dim)
	}
}

func rest(reason clichain.Reason, left time.Duration) string {
	return fmt.Sprintf("%s, for %s", cmp.Or(oneLine(string(reason)), "unknown"), roughly(max(left, 0)))
}
