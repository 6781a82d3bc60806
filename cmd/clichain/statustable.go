package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// statusTable is the state of a queue for people, in lines of up to width columns. It is a pure function: what is in it
// depends on nothing else, and names that others have chosen cannot move the cursor.
func statusTable(s *jetstream.Status, paint style, width int, now time.Time) string {
	t := &statusWriter{style: paint, width: max(width, 40), now: now}
	t.counts(s)
	t.unmet(s.Unmet)
	t.workers(s.Workers)
	t.cooldowns(s.Cooldowns)
	t.warnings(s.Warnings)
	return t.text.String()
}

// statusWriter collects the lines of a table.
type statusWriter struct {
	text  strings.Builder
	style style
	width int
	now   time.Time
}

func (t *statusWriter) line(text string) { t.text.WriteString(strings.TrimRight(text, " ") + "\n") }

func (t *statusWriter) title(text string) { t.line("\n" + t.style.bold(shorten(text, t.width))) }

// counts are the lines about the queue as a whole.
func (t *statusWriter) counts(s *jetstream.Status) {
	t.line(t.style.bold(shorten("Queue "+oneLine(s.Name), t.width)))
	waiting := 0
	for _, n := range s.Ready {
		waiting += n
	}
	t.row("waiting", waiting, tally(s.Ready))
	t.row("running", s.Running, "")
	t.row("parked", s.Parked, t.due(s.NextDue))
	t.row("answers", s.Answers, tally(s.Backends))
	t.row("failures", s.Failures, tally(s.Reasons))
	cost := "unknown"
	if usd := s.Usage.CostUSD; usd != nil {
		cost = fmt.Sprintf("$%.4f", *usd)
	}
	if s.JobLimit > 0 {
		t.detailed("stored", bytesText(s.JobBytes), "of "+bytesText(s.JobLimit)+" for jobs and large payloads")
	}
	t.detailed("cost", cost, fmt.Sprintf("%d tokens in, %d out", s.Usage.InputTokens, s.Usage.OutputTokens))
}

func (t *statusWriter) row(label string, n int, detail string) {
	t.detailed(label, strconv.Itoa(n), detail)
}

// detailed writes a label, a value and what it is made of, on as many lines as that needs.
func (t *statusWriter) detailed(label, value, detail string) {
	head := fmt.Sprintf("  %-9s %8s  ", label, value)
	lines := wrap(detail, t.width-len(head))
	if len(lines) == 0 {
		lines = []string{""}
	}
	for _, line := range lines {
		t.line(head + t.style.dim(line))
		head = strings.Repeat(" ", len(head))
	}
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

func (t *statusWriter) due(at time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case !at.After(t.now):
		return "the first is due"
	}
	return "the first for " + roughly(at.Sub(t.now))
}

func (t *statusWriter) workers(list []jetstream.WorkerStatus) {
	if len(list) == 0 {
		t.title("No workers")
		return
	}
	t.title("Workers")
	byName := func(a, b jetstream.WorkerStatus) int { return cmp.Compare(a.Name, b.Name) }
	list = slices.SortedFunc(slices.Values(list), byName)
	names := make([]string, len(list))
	for i, w := range list {
		names[i] = w.Name
	}
	column := t.column(names)
	for _, w := range list {
		mark, paint, what := "✓", t.style.green, ""
		switch {
		case !w.Alive:
			mark, paint, what = "✗", t.style.red, "no sign for "+roughly(t.now.Sub(w.Seen))
		case w.Unstored > 0:
			mark, paint, what = "!", t.style.yellow, "keeps "+plural(w.Unstored, "result", "results")
		case w.RestingUntil.After(t.now):
			mark, paint, what = "–", t.style.yellow, "rests for "+roughly(w.RestingUntil.Sub(t.now))
		}
		t.entry(mark, paint, cells(w.Name, column)+fmt.Sprintf("%7s  ", fmt.Sprintf("%d/%d", w.Running, w.Slots)),
			abilities(what, &w))
	}
}

func (t *statusWriter) cooldowns(list []jetstream.Cooldown) {
	if len(list) == 0 {
		return
	}
	t.title("Resting")
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.Key
	}
	column := t.column(names)
	byKey := func(a, b jetstream.Cooldown) int { return cmp.Compare(a.Key, b.Key) }
	for _, c := range slices.SortedFunc(slices.Values(list), byKey) {
		t.entry("–", t.style.yellow, cells(c.Key, column)+"  ", rest(c.State.Reason, c.State.Until.Sub(t.now)))
	}
}

func rest(reason clichain.Reason, left time.Duration) string {
	return fmt.Sprintf("%s, for %s", cmp.Or(oneLine(string(reason)), "unknown"), roughly(max(left, 0)))
}

// column is the width for names: as wide as they are, up to what leaves room for the rest of the line.
func (t *statusWriter) column(names []string) (width int) {
	for _, name := range names {
		width = max(width, utf8.RuneCountInString(oneLine(name)))
	}
	return min(width, t.width/2-4)
}

// cells is a text of exactly that many columns.
func cells(text string, columns int) string {
	text = shorten(oneLine(text), columns)
	return text + strings.Repeat(" ", columns-utf8.RuneCountInString(text))
}

// entry is one line of a list.
func (t *statusWriter) entry(mark string, paint func(string) string, text, what string) {
	what = shorten(what, t.width-utf8.RuneCountInString(text)-4)
	t.line("  " + paint(mark) + " " + text + t.style.dim(what))
}

func (t *statusWriter) warnings(list []string) {
	if len(list) == 0 {
		return
	}
	t.title("Warnings")
	for _, warning := range list {
		mark := t.style.yellow("!")
		for _, line := range wrap(oneLine(warning), t.width-4) {
			t.line("  " + mark + " " + line)
			mark = " "
		}
	}
}
