package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/calllog"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
)

// Groups are the values of --by.
var Groups = []Group{ByDay, ByBackend, ByModel, ByProject}

// Group is what a row of the table has in common.
type Group string

// The groups. ByBackend counts the runs of each backend, also those before the answer of another backend.
const (
	ByDay     Group = "day"
	ByBackend Group = "backend"
	ByModel   Group = "model"
	ByProject Group = "project"
)

// Options select and group the calls of [Print].
type Options struct {
	Filter
	By   Group // empty: ByDay
	JSON bool
}

// Set reports whether a flag of the options is set, except JSON.
func (o Options) Set() bool { return o.By != "" || o.Filter != (Filter{}) }

// summary is the table as JSON.
type summary struct {
	By    Group  `json:"by"`
	Rows  []*row `json:"rows"`
	Total row    `json:"total"`
}

// row has the sums of one group.
type row struct {
	Key    string     `json:"key,omitempty"` // empty: unknown
	Calls  int        `json:"calls"`
	Failed int        `json:"failed"`
	Usage  call.Usage `json:"usage,omitzero"` // its cost is the sum of the known costs; nil: no cost is known
}

func (r *row) add(reason call.Reason, usage call.Usage) {
	r.Calls++
	if reason != "" {
		r.Failed++
	}
	r.Usage = r.Usage.Add(usage)
}

// Print prints the number of calls, their failures, tokens and cost, in one row for each group.
func Print(r *selection.Resolver, o Options) error {
	o.By = cmp.Or(o.By, ByDay)
	filter, err := o.records(time.Now())
	if err != nil {
		return err
	}
	s, err := summarize(r, filter, o.By)
	if err != nil {
		return err
	}
	if o.JSON {
		return r.PrintJSON(s)
	}
	if s.Total.Calls == 0 {
		return r.Print(o.nothing())
	}
	return r.Print(s.table(r.StyleOf(r.Out), console.Columns(r.Out)))
}

// summarize adds up the selected calls.
func summarize(r *selection.Resolver, filter calllog.Filter, by Group) (summary, error) {
	s := summary{By: by, Rows: []*row{}}
	rows := map[string]*row{}
	add := func(key string, reason call.Reason, usage call.Usage) {
		if rows[key] == nil {
			rows[key] = &row{Key: key}
		}
		rows[key].add(reason, usage)
	}
	err := each(r, filter, func(c calllog.Record) error {
		s.Total.add(c.Reason, c.Usage)
		switch by {
		case ByDay:
			add(c.Time.Local().Format(time.DateOnly), c.Reason, c.Usage)
		case ByModel:
			add(c.Model, c.Reason, c.Usage)
		case ByProject:
			add(c.Project, c.Reason, c.Usage)
		case ByBackend:
			runs := c.Attempts
			if len(runs) == 0 && c.Backend != "" { // another program wrote it
				runs = []calllog.Attempt{{Backend: c.Backend, Reason: c.Reason, Usage: c.Usage}}
			}
			for _, a := range runs {
				if !a.Skipped {
					add(a.Backend, a.Reason, a.Usage)
				}
			}
		}
		return nil
	})
	s.Rows = append(s.Rows, slices.Collect(maps.Values(rows))...)
	slices.SortFunc(s.Rows, func(a, b *row) int {
		byCalls := 0 // days are in their order
		if by != ByDay {
			byCalls = cmp.Compare(b.Calls, a.Calls)
		}
		return cmp.Or(byCalls, cmp.Compare(a.Key, b.Key))
	})
	return s, err
}

const minKey = 12 // columns that a key has at least

// table returns the summary in lines of up to width columns.
func (s summary) table(style console.Style, width int) string {
	p := console.NewPage(style, width)
	calls := "calls"
	if s.By == ByBackend {
		calls = "runs"
	}
	cells := [][]string{{calls, "failed", "input", "output", "cost"}}
	for _, r := range s.Rows {
		cells = append(cells, r.cells())
	}
	total := len(cells)
	cells = append(cells, s.Total.cells())
	keys := []string{string(s.By)}
	for _, r := range s.Rows {
		keys = append(keys, cmp.Or(r.Key, "-"))
	}
	keys = append(keys, "all calls")
	widths, column := console.Widths(cells), 0
	for drop := 2; ; drop++ { // without the tokens if a row is too narrow for them
		rest := p.Width
		for _, w := range widths {
			rest -= 2 + w
		}
		column = console.Widest(keys, rest)
		if column >= console.Widest(keys, minKey) || drop > 3 {
			break
		}
		for i := range cells {
			cells[i] = slices.Delete(cells[i], 2, 3)
		}
		widths = console.Widths(cells)
	}
	for i, key := range keys {
		line := ""
		for j, text := range cells[i] {
			line += "  " + fmt.Sprintf("%*s", widths[j], text)
		}
		line = console.Cell(key, column) + line
		switch i {
		case 0, total:
			line = p.Bold(line)
		}
		p.Line(line)
	}
	return p.String()
}

func (r *row) cells() []string {
	return []string{
		strconv.Itoa(r.Calls), strconv.Itoa(r.Failed), tokens(r.Usage.InputTokens), tokens(r.Usage.OutputTokens),
		cost(r.Usage.CostUSD),
	}
}

// tokens formats a number of tokens in at most 6 columns.
func tokens(n int64) string {
	switch {
	case n < 10_000:
		return strconv.FormatInt(n, 10)
	case n < 10_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}

// cost formats a cost that may be unknown.
func cost(usd *float64) string {
	if usd == nil {
		return "-"
	}
	return console.Dollars(*usd)
}
