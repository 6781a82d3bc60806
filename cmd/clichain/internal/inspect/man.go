package inspect

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// NewMan makes the command man.
func NewMan(env *console.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIRECTORY",
		Short: "Write the manual pages into a directory",
		Long: `Write one manual page for each command and each help topic into a directory, and
create the directory if it does not exist. "man" searches the directory man1 in
each entry of MANPATH, and in share/man next to each entry of PATH.`,
		Example: `  clichain man ~/.local/share/man/man1 && man clichain-ask
  clichain man ./man && man ./man/clichain-batch.1
  clichain man "$PREFIX/share/man/man1"`,
		Args:              console.ExactlyOneArg("man", "DIRECTORY"),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return console.Usagef("man: %v", err)
			}
			return writeManPages(manPage(), cmd.Root(), args[0])
		},
	}
}

// writeManPages writes the page of cmd and of all commands below it that the help shows.
func writeManPages(page *template.Template, cmd *cobra.Command, dir string) error {
	var text strings.Builder
	if err := page.Execute(&text, cmd); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, PageName(cmd)+".1"), []byte(text.String()), 0o644); err != nil {
		return console.Usagef("man: %v", err)
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			if err := writeManPages(page, sub, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// manPage makes the template of a command's page, in the macros of man(7).
func manPage() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"text": roff, "paragraphs": roffParagraphs, "name": PageName, "groups": console.GroupedFlags, "flags": flagLines,
		"description": func(cmd *cobra.Command) string { return cmp.Or(cmd.Long, cmd.Short) },
	}).Parse(manText))
}

const manText = `.TH {{name . | text}} 1 "" "{{text .Root.Name}} {{text .Root.Version}}"
.SH NAME
{{name . | text}} \- {{text .Short}}
.SH SYNOPSIS
.B {{text .UseLine}}
.SH DESCRIPTION
{{paragraphs (description .)}}
{{- with groups .}}
.SH OPTIONS
{{- range .}}
.SS {{text .Title}}
{{- range flags .}}
.TP
.B {{with .Shorthand}}\-{{.}}, {{end}}\-\-{{text .Name}}{{with .Value}} \fI{{text .}}\fR{{end}}
{{text .Usage}}
{{- end}}
{{- end}}
{{- end}}
{{- with .Example}}
.SH EXAMPLES
{{paragraphs .}}
{{- end}}
.SH SEE ALSO
{{- if .HasParent}}
.BR {{name .Parent | text}} (1)
{{- end}}
{{- range .Commands}}{{if or .IsAvailableCommand .IsAdditionalHelpTopicCommand}}
.BR {{name . | text}} (1)
{{- end}}{{end}}
`

// PageName is the name of a command's page, such as clichain-specs-lint.
func PageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// flagLine is the entry of a flag in a manual page.
type flagLine struct{ Name, Shorthand, Value, Usage string }

func flagLines(g console.FlagGroup) (lines []flagLine) {
	g.Flags.VisitAll(func(flag *pflag.Flag) {
		value, usage := console.FlagText(flag)
		lines = append(lines, flagLine{flag.Name, flag.Shorthand, value, usage})
	})
	return lines
}

// roffParagraphs keeps the line breaks of a paragraph that has an indented line, and lets man fill the others.
func roffParagraphs(text string) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString("\n.PP\n")
		}
		lines := roff(paragraph)
		if strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ") {
			lines = ".nf\n" + lines + "\n.fi"
		}
		b.WriteString(lines)
	}
	return b.String()
}

// roff escapes a text for man(7).
func roff(text string) string {
	text = strings.NewReplacer(
		`\`, `\e`, "-", `\-`, "~", `\(ti`, "^", `\(ha`, "`", `\(ga`, "'", `\(aq`, `"`, `\(dq`, "\n.", "\n\\&.",
	).Replace("\n" + text)
	return text[len("\n"):]
}
