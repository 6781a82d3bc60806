package history

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/calllog"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/spf13/cobra"
)

// logFlags are the flags of log.
type logFlags struct {
	Filter
	limit int
	json  bool
}

// NewLog makes the command log.
func NewLog(env *console.Env) *cobra.Command {
	r, f := selection.NewResolver(env), &logFlags{limit: 20}
	cmd := &cobra.Command{
		Use:   "log [ID]",
		Short: "List the logged calls, or show one of them",
		Long: `List the latest calls in your log, or show the call with an ID. clichain logs
calls only if the setting "usage.log" is on. Prompts and answers are in the log
only if "usage.content" is on too. The log is on this machine.`,
		Example: `  clichain config set usage.log on
  clichain log --since 7d --failed
  clichain log --limit 1000 --json | jq 'select(.backend == "codex") | .usage'`,
		Args: console.AtMostOneArg("log", "ID"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return listCalls(r, f)
			case args[0] == "":
				return console.Usagef("log: the ID is empty: run \"clichain log\" to list the calls with their IDs")
			case f.Filter != (Filter{}):
				return console.Usagef("log: flags that select calls cannot be used with the ID %s", terminal.OneLine(args[0]))
			}
			return showCall(r, args[0], f.json)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.Register(flags)
	flags.Func("limit", fmt.Sprintf("`number`: list the latest calls, at most this many (default %d)", f.limit),
		param.Into(&f.limit, param.Count))
	flags.BoolVar(&f.json, "json", false, "print one JSON object per line")
	r.AddFlags(flags)
	return cmd
}

// listCalls prints the latest calls, the last one at the end.
func listCalls(r *selection.Resolver, f *logFlags) error {
	filter, err := f.records(time.Now())
	if err != nil {
		return err
	}
	var latest []calllog.Record // without texts, which may need much memory
	err = each(r, filter, func(c calllog.Record) error {
		if !f.json {
			c.Prompt, c.Answer, c.Message = nil, "", ""
		}
		if latest = append(latest, c); len(latest) > f.limit {
			latest = latest[1:]
		}
		return nil
	})
	if err != nil {
		return err
	}
	if f.json {
		for _, c := range latest {
			if err := console.WriteJSON(r.Out, c, false); err != nil {
				return err
			}
		}
		return nil
	}
	if len(latest) == 0 {
		return r.Print(f.nothing())
	}
	return r.Print(callLines(latest, r.StyleOf(r.Out), console.LineWidth(r.Out)))
}

// callLines returns one line for each call.
func callLines(list []calllog.Record, style console.Style, width int) string {
	p := console.NewPage(style, width)
	backends := make([]string, len(list))
	for i, c := range list {
		backends[i] = c.Backend
	}
	column := console.Widest(backends, 16)
	for _, c := range list {
		head := p.Dim(console.Cell(c.ID, 12)) + "  " + c.Time.Local().Format("01-02 15:04") + "  " +
			console.Cell(c.Backend, column) + "  "
		p.Cut(head, callText(c), paintOf(p.Style, c))
	}
	return p.String()
}

// callText describes the result of a call.
func callText(c calllog.Record) string {
	parts := []string{string(cmp.Or(c.Reason, calllog.Answered)), console.Duration(c.Duration), usageText(c.Usage)}
	return console.JoinTexts(append(parts, c.Model, c.Project))
}

func usageText(u call.Usage) string {
	if u == (call.Usage{}) {
		return ""
	}
	text := tokens(u.InputTokens) + " in " + tokens(u.OutputTokens) + " out"
	if u.CostUSD != nil {
		text += " " + console.Dollars(*u.CostUSD)
	}
	return text
}

func paintOf(style console.Style, c calllog.Record) func(string) string {
	if c.Reason != "" {
		return style.Red
	}
	return console.Plain
}

// errFound ends the search for a call.
var errFound = errors.New("found")

// showCall prints the call with an id.
func showCall(r *selection.Resolver, id string, asJSON bool) error {
	var found calllog.Record
	err := each(r, calllog.Filter{ID: id}, func(c calllog.Record) error { found = c; return errFound })
	switch {
	case err == nil:
		return console.Fail(console.ExitFailed, fmt.Errorf("log: no call has the id %s", terminal.OneLine(id)))
	case !errors.Is(err, errFound):
		return err
	case asJSON:
		return r.PrintJSON(found)
	}
	return r.Print(callPage(found, r.StyleOf(r.Out), console.LineWidth(r.Out)))
}

// callPage returns all fields of a call.
func callPage(c calllog.Record, style console.Style, width int) string {
	p := console.NewPage(style, width)
	field := func(name, text string) {
		if text != "" {
			p.HangWhole(console.Cell(name, 9)+"  ", terminal.OneLine(text), console.Plain)
		}
	}
	field("id", c.ID)
	field("time", c.Time.Local().Format("2006-01-02 15:04:05"))
	field("backend", c.Backend)
	field("model", c.Model)
	field("result", string(cmp.Or(c.Reason, calllog.Answered)))
	field("duration", console.Duration(c.Duration))
	if c.Usage != (call.Usage{}) {
		field("usage", c.Usage.String())
	}
	field("project", c.Project)
	field("metadata", strings.Join(c.Metadata, ", "))
	for _, a := range c.Attempts {
		text := string(cmp.Or(a.Reason, calllog.Answered))
		if a.Skipped {
			text = "skipped: " + text
		}
		field("attempt", console.JoinTexts([]string{a.Backend + ": " + text, usageText(a.Usage)}))
	}
	field("message", c.Message)
	for _, m := range c.Prompt {
		p.Title(string(m.Role))
		textLines(p, m.Content)
	}
	if c.Answer != "" {
		p.Title("answer")
		textLines(p, c.Answer)
	}
	if c.Truncated {
		p.Line(p.Dim("The texts are not complete."))
	}
	return p.String()
}

// textLines writes a text with its line breaks, without control characters.
func textLines(p *console.Page, text string) {
	for line := range strings.Lines(text) {
		p.Line(terminal.Visible(strings.TrimRight(line, "\r\n")))
	}
}
