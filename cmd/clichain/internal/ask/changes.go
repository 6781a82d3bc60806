package ask

import (
	"fmt"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// changesTable returns one line for each changed file, in lines of at most width columns.
func changesTable(resp *clichain.Response, style console.Style, width int) string {
	p := console.NewPage(style, width)
	added, deleted := 0, 0
	for _, f := range resp.Changes.Files {
		added, deleted = added+f.Added, deleted+f.Deleted
		lines := fmt.Sprintf("%s %s", p.Green(fmt.Sprintf("+%d", f.Added)), p.Red(fmt.Sprintf("−%d", f.Deleted)))
		if f.Binary {
			lines = "binary"
		}
		name := f.Path
		if f.From != "" {
			name = f.From + " → " + f.Path
		}
		head := fmt.Sprintf("  %-8s  %s  ", f.Kind, pad(lines, 11))
		p.Cut(head, name, paintKind(p.Style, f.Kind))
	}
	p.Line(fmt.Sprintf("%s of %s: %s %s", console.Plural(len(resp.Changes.Files), "file", "files"), resp.Backend,
		p.Green(fmt.Sprintf("+%d", added)), p.Red(fmt.Sprintf("−%d", deleted))))
	return p.String()
}

// pad fills a painted text to a number of columns.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(columns-console.WidthOf(text), 0))
}

func paintKind(style console.Style, kind call.ChangeKind) func(string) string {
	switch kind {
	case call.ChangeAdded:
		return style.Green
	case call.ChangeDeleted:
		return style.Red
	}
	return console.Plain
}

// paintPatch returns a patch with colors and without control characters, for a terminal.
func paintPatch(patch string, style console.Style) string {
	var b strings.Builder
	header := false // the lines before the first hunk of a file
	for line := range strings.Lines(terminal.Visible(patch)) {
		text := strings.TrimSuffix(line, "\n")
		paint := console.Plain
		switch {
		case strings.HasPrefix(text, "diff --git "):
			header, paint = true, style.Bold
		case strings.HasPrefix(text, "@@ "):
			header, paint = false, style.Yellow
		case header:
			paint = style.Dim
		case strings.HasPrefix(text, "+"):
			paint = style.Green
		case strings.HasPrefix(text, "-"):
			paint = style.Red
		}
		b.WriteString(paint(text) + "\n")
	}
	return b.String()
}
