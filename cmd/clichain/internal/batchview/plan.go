package batchview

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/clichain/clichain/batch"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// ErrNoBackend is the error of a plan whose lines no backend would answer.
var ErrNoBackend = errors.New("no backend takes any of the lines")

// PlanError returns the reason why no line would run, or nil if a line would run or if there is no line. It wraps
// [ErrNoBackend] if the lines are valid.
func PlanError(p *batch.Plan) error {
	left := p.Good - p.Done
	switch {
	case p.Good == 0 && p.Bad > 0:
		return fmt.Errorf("no line can run: %s", plural(p.Bad, "bad line"))
	case left > 0 && !p.Elsewhere && len(p.First) == 0:
		return fmt.Errorf("no line can run now: %w: %s", ErrNoBackend, counted(p.Nobody))
	}
	return nil
}

// PrintPlan prints a plan as text.
func PrintPlan(w io.Writer, p *batch.Plan) error {
	lines := []string{fmt.Sprintf("%s, %d bad, %d done before: %d would run",
		plural(p.Good, "good line"), p.Bad, p.Done, p.Good-p.Done)}
	if p.Format != "" {
		lines = append(lines, fmt.Sprintf("  %-13s %s", "format", p.Format))
	}
	if p.Changed > 0 {
		lines = append(lines, planned("changed", p.Changed, "asked before for something else"))
	}
	if p.Elsewhere && p.Good > p.Done {
		lines = append(lines, "  where, the workers of the queue decide")
	}
	for _, name := range slices.Sorted(maps.Keys(p.First)) {
		lines = append(lines, planned(name, p.First[name], "asked first"))
	}
	for _, reason := range slices.Sorted(maps.Keys(p.Nobody)) {
		lines = append(lines, planned("nobody", p.Nobody[reason], string(reason)))
	}
	for _, s := range slices.SortedFunc(maps.Keys(p.Skips), compareSkips) {
		lines = append(lines, planned(s.Backend, p.Skips[s], "passed over: "+string(s.Reason)))
	}
	lines = append(lines, kinds(p)...)
	for _, mistake := range p.Mistakes {
		lines = append(lines, "  "+terminal.OneLine(mistake))
	}
	if more := p.Bad - len(p.Mistakes); more > 0 {
		lines = append(lines, "  and "+number(more)+" more")
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

func planned(name string, lines int, how string) string {
	return fmt.Sprintf("  %-13s %-10s %s", terminal.OneLine(name), plural(lines, "line"), how)
}

func compareSkips(a, b batch.Skip) int {
	return cmp.Or(cmp.Compare(a.Backend, b.Backend), cmp.Compare(a.Reason, b.Reason))
}

// maxKinds limits the kinds of lines that a plan shows.
const maxKinds = 20

// kinds returns the most frequent kinds of lines.
func kinds(p *batch.Plan) (lines []string) {
	names := slices.SortedFunc(maps.Keys(p.Kinds), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.Kinds[b], p.Kinds[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		if i == maxKinds {
			return append(lines, "  and "+number(len(names)-i)+" more kinds of lines")
		}
		lines = append(lines, planned("may", p.Kinds[name], name))
	}
	return lines
}
