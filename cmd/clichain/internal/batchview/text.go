package batchview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/batch"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// statusLine returns the state of a batch that began at a time, in at most width columns.
func statusLine(c *batch.Counts, perSecond float64, began, now time.Time, width int) string {
	parts := []terminal.Part{
		{Text: progress(c), Importance: 9},
		{Text: speed(perSecond), Importance: 4},
		{Text: eta(c, perSecond, began, now), Importance: 7},
		{Text: cost(c.CostUSD), Importance: 6},
		{Text: counted(c.Backends), Importance: 2},
		{Text: some("failed %s", c.Failed), Importance: 8},
		{Text: some("bad %s", c.Bad), Importance: 3},
		{Text: some("running %s", c.Running), Importance: 1},
		{Text: some("put off %s", c.Parked), Importance: 3},
	}
	if c.Rest.After(now) {
		parts = append(parts, terminal.Part{Text: "rests until " + c.Rest.Local().Format("15:04"), Importance: 5})
	}
	return terminal.Fit(width, parts...)
}

func progress(c *batch.Counts) string {
	total := "…"
	if c.Total >= 0 {
		total = number(max(c.Total-c.Bad, c.Done()))
	}
	return number(c.Done()) + "/" + total
}

func speed(perSecond float64) string {
	switch {
	case perSecond <= 0:
		return ""
	case perSecond < 1:
		return fmt.Sprintf("%.1f/min", perSecond*60)
	}
	return fmt.Sprintf("%.1f/s", perSecond)
}

// eta returns the time until the end at this pace. While the batch waits, its pace includes the wait.
func eta(c *batch.Counts, perSecond float64, began, now time.Time) string {
	var wait time.Duration
	if c.Rest.After(now) {
		wait = c.Rest.Sub(now)
		perSecond = float64(c.Done()-c.Before) / c.Rest.Sub(began).Seconds()
	}
	left := c.Left()
	if perSecond <= 0 || left <= 0 {
		return ""
	}
	return "ETA " + roughly(wait+time.Duration(float64(left)/perSecond*float64(time.Second)))
}

// roughly formats a time in its largest unit, or a long time in the two largest units.
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(int(d.Seconds()), 1))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours())/24)
}

// cost formats a cost. Zero has no text.
func cost(usd float64) string {
	if usd <= 0 {
		return ""
	}
	return console.Dollars(usd)
}

// counted lists names with their counts, the most frequent first.
func counted[K ~string](counts map[K]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = terminal.OneLine(string(name)) + " " + number(counts[name])
	}
	return strings.Join(texts, " ")
}

func some(format string, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, number(n))
}

// number formats a number with a blank between groups of three digits.
func number(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + " " + digits[i:]
	}
	return digits
}

// plural formats a number with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return number(n) + " " + noun
}

// summary returns the lines of the summary.
func summary(c *batch.Counts, took time.Duration) []string {
	answered := number(c.Answered) + " answered" + some(" (%s from the cache)", c.Cached)
	head := []string{answered, number(c.Failed) + " failed"}
	if c.Bad > 0 {
		head = append(head, plural(c.Bad, "bad line"))
	}
	if c.Before > 0 {
		head = append(head, number(c.Before)+" of them before")
	}
	head = append(head, "in "+took.Round(100*time.Millisecond).String())
	if c.CostUSD > 0 {
		head = append(head, cost(c.CostUSD))
	}
	lines := []string{strings.Join(head, ", ")}
	if c.Format != "" {
		lines = append(lines, "format of the input: "+string(c.Format))
	}
	if c.Changed > 0 {
		lines = append(lines, fmt.Sprintf("warning: %s under an id that was asked something else before: "+
			"the earlier records are kept; --changed asks again", plural(c.Changed, "line")))
	}
	if len(c.Backends) > 0 {
		lines = append(lines, "answers: "+counted(c.Backends))
	}
	if len(c.Reasons) > 0 {
		lines = append(lines, "failures: "+counted(c.Reasons))
	}
	return lines
}
