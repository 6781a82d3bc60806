package queue

import (
	"strings"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/jetstream"
)

// blockRows bounds the rows that a jobTable holds. The columns are aligned within a block.
const blockRows = 1000

// jobTable prints jobs as a table. It prints the header before the first job.
type jobTable struct {
	env     *console.Env
	now     time.Time
	rows    [][]string
	printed bool
}

// add adds a job, and prints the rows if the block is full.
func (t *jobTable) add(i *jetstream.JobInfo) error {
	if len(t.rows) == 0 && !t.printed {
		t.rows = append(t.rows, []string{"ID", "STATE", "OWNER", "PRIORITY", "AGE", "REASON"})
	}
	age := "-"
	if !i.Submitted.IsZero() {
		age = console.Roughly(t.now.Sub(i.Submitted))
	}
	t.rows = append(t.rows, []string{
		i.ID, string(i.State), orDash(i.Owner), orDash(string(i.Priority)), age, reasonText(i),
	})
	if len(t.rows) < blockRows {
		return nil
	}
	return t.flush()
}

// flush prints the rows. On a terminal it shortens the last column.
func (t *jobTable) flush() error {
	p := console.NewPage(t.env.StyleOf(t.env.Out), console.LineWidth(t.env.Out))
	widths := console.Widths(t.rows)
	for _, row := range t.rows {
		head := ""
		for column, text := range row[:len(row)-1] {
			head += console.Cell(text, widths[column]) + "  "
		}
		p.Cut(head, row[len(row)-1], console.Plain)
	}
	t.rows, t.printed = nil, true
	return t.env.Print(p.String())
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// reasonText describes the last failure of a job, and the time for which the job waits.
func reasonText(i *jetstream.JobInfo) string {
	parts := []string{string(i.Reason)}
	if !i.Until.IsZero() {
		parts = append(parts, "until "+i.Until.Local().Format("2006-01-02 15:04"))
	}
	if i.SideEffects {
		parts = append(parts, "may have changed something")
	}
	text := console.JoinTexts(parts)
	if i.Message != "" {
		text += ": " + i.Message
	}
	return orDash(strings.TrimPrefix(text, ": "))
}
