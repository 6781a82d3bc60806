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
		Use:   "man FOLDER",
		Short: "Write the manual pages into a folder",
		Long: `Write the manual pages, one for each command, into a folder, which is made where
there is none. "man" finds them in the folder man1 of each entry of MANPATH, and
of share/man beside each entry of PATH.`,
		Example:           `  clichain man ~/.local/share/man/man1 && man clichain-ask`,
		Hidden:            true, // it is of use once
		Args:              console.ExactlyOneArg("man", "FOLDER"),
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
		if sub.IsAvailableCommand() {
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
		"text": roff, "paragraphs": roffParagraphs, "name": PageName, "flags": ShownFlags, "value": flagValue,
		"usage":       FlagUsage,
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
{{- with flags .}}
.SH OPTIONS
{{- range .}}
.TP
.B {{with .Shorthand}}\-{{.}}, {{end}}\-\-{{text .Name}}{{with value .}} \fI{{text .}}\fR{{end}}
{{usage . | text}}
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
{{- range .Commands}}{{if .IsAvailableCommand}}
.BR {{name . | text}} (1)
{{- end}}{{end}}
`

// PageName is the name of a command's page, such as clichain-specs-lint.
func PageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// ShownFlags are the flags that the help of a command shows, in its order.
func ShownFlags(cmd *cobra.Command) (shown []*pflag.Flag) {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			shown = append(shown, flag)
		}
	})
	return shown
}

func flagValue(flag *pflag.Flag) string {
	word, _ := pflag.UnquoteUsage(flag)
	return word
}

// FlagUsage returns the description of a flag without the quotes around the name of its value.
func FlagUsage(flag *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(flag)
	return usage
}

// roffParagraphs keeps the lines of a paragraph in which a line is indented, and fills the others.
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

// roff writes a text so that no part of it is a request, an escape or a dash of typography.
func roff(text string) string {
	text = strings.NewReplacer(
		`\`, `\e`, "-", `\-`, "~", `\(ti`, "^", `\(ha`, "`", `\(ga`, "'", `\(aq`, `"`, `\(dq`, "\n.", "\n\\&.",
	).Replace("\n" + text)
	return text[len("\n"):]
}
