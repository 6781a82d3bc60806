package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/configedit"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/spf13/cobra"
)

// NewConfig makes the command config.
func NewConfig(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	asJSON := false
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the settings and where each one came from",
		Long: `Show the settings that apply unless a flag overrides them. Each has its source:
an environment variable, a profile, the settings file, or the default; the first
of these that has the setting wins.

The settings file is clichain/config.yaml in $XDG_CONFIG_HOME or ~/.config. Use
--config or CLICHAIN_CONFIG for another file, or "off" for none. A file that
other users can change is rejected, and the working directory is never read.`,
		Example: `  clichain config
  clichain config --profile ci --json
  clichain config set timeout 60s`,
		Args: console.CommandsOnly,
		RunE: func(*cobra.Command, []string) error { return showSettings(r, asJSON) },

		SuggestionsMinimumDistance: 2,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		configPathCommand(r), configedit.NewSet(env), configedit.NewUnset(env), configedit.NewEdit(env))
	r.AddFlags(cmd.Flags())
	return cmd
}

func configPathCommand(r *selection.Resolver) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "path",
		Short: "Print the path of the settings file",
		Long: `Print the path of the settings file, even if the file does not exist. The exit
code is 3 if no settings file is used.`,
		Example: `  clichain config path
  clichain config path --config work.yaml
  cat "$(clichain config path)"`,
		Args: console.NoArgs,
		RunE: func(*cobra.Command, []string) error { return showSettingsPath(r) },
	}
	r.AddFlags(cmd.Flags())
	return cmd
}

func showSettingsPath(r *selection.Resolver) error {
	place, err := r.SettingsPath()
	if err != nil {
		return err
	}
	if place.Value == "" {
		return console.Fail(console.ExitNothing, fmt.Errorf("no settings file is read here"))
	}
	path, err := filepath.Abs(place.Value)
	if err != nil {
		return console.Usagef("%s: %v", place.Source, err)
	}
	_, err = fmt.Fprintln(r.Out, path)
	return console.OutputError(err)
}

// settingsReport says which settings hold, and why.
type settingsReport struct {
	File     string       `json:"file"`     // its path, also where there is none; empty: none is read
	Found    bool         `json:"found"`    // there is one
	Profile  string       `json:"profile"`  // that holds; empty: none
	Profiles []string     `json:"profiles"` // of the file
	Settings []settingRow `json:"settings"`
}

// settingRow is one setting, with its value as its variable would say it.
type settingRow struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	Source   string `json:"source"`            // variable, profile, file or default
	Variable string `json:"variable"`          // that would win over profile and file
	Profile  string `json:"profile,omitempty"` // of the file, that it came from
	Line     int    `json:"line,omitempty"`    // of the file
}

func showSettings(r *selection.Resolver, asJSON bool) error {
	c, err := r.Catalog(nil)
	if err != nil {
		return err
	}
	report, err := NewSettingsReport(r, c)
	if err != nil {
		return err
	}
	if asJSON {
		return r.PrintJSON(report)
	}
	return r.Print(settingsTable(report, r.StyleOf(r.Out), console.LineWidth(r.Out)))
}

// NewSettingsReport has the settings that hold; the error is that of a variable.
func NewSettingsReport(r *selection.Resolver, c selection.Catalog) (settingsReport, error) {
	s, err := r.Settings()
	if err != nil {
		return settingsReport{}, err
	}
	report := settingsReport{File: s.Path, Found: s.File != nil, Profile: s.Profile.Value, Profiles: []string{}}
	if s.File != nil {
		report.Profiles = slices.AppendSeq(report.Profiles, maps.Keys(s.File.Profiles))
		slices.Sort(report.Profiles)
	}
	for _, k := range selection.Entries {
		if err := s.Invalid[k.Name]; err != nil {
			return settingsReport{}, err
		}
		from := s.Sources[k.Name]
		row := settingRow{
			Name: k.Name, Value: k.Text(&s.Values), Variable: k.Variable, Profile: from.Profile, Line: from.Line,
			Source: from.Kind(),
		}
		if from == (selection.Source{}) {
			row.Value = defaultOf(k.Name, c)
		}
		report.Settings = append(report.Settings, row)
	}
	return report, nil
}

// defaultOf is what holds without a setting.
func defaultOf(name string, c selection.Catalog) string {
	chain, _ := c.Split()
	return map[string]string{
		"order": strings.Join(selection.NamesOf(chain), ","), "timeout": clichain.DefaultTimeout.String(),
		"agent_timeout": param.AgentTimeout.String(), "billing": "any",
		"cooldowns": cmp.Or(selection.DefaultCooldowns(), "off"),
	}[name]
}

// set are the settings that something sets.
func (r settingsReport) set() []settingRow {
	return slices.DeleteFunc(slices.Clone(r.Settings), func(row settingRow) bool { return row.Source == "default" })
}

// origin is where a setting came from, in words.
func (row settingRow) origin() string {
	switch row.Source {
	case "variable":
		return row.Variable
	case "profile":
		return fmt.Sprintf("profile %s, line %d", terminal.OneLine(row.Profile), row.Line)
	case "file":
		return fmt.Sprintf("file, line %d", row.Line)
	}
	return row.Source
}

// place is the settings file and the profile, in words.
func (r settingsReport) place() string {
	text := "no settings file is read"
	switch {
	case r.Found:
		text = r.File
	case r.File != "":
		text = r.File + ", which is not there"
	}
	if r.Profile != "" {
		text += ", profile " + r.Profile
	} else if len(r.Profiles) > 0 {
		text += ", without one of its profiles: " + strings.Join(r.Profiles, ", ")
	}
	return terminal.OneLine(text)
}

// settingsTable is the report for people, in lines of up to width columns, but for the place of the file.
func settingsTable(r settingsReport, paint console.Style, width int) string {
	p := console.NewPage(paint, width)
	p.Line(p.Bold(r.place()))
	settingLines(p, r.Settings)
	return p.String()
}

// settingLines has a line for each setting, and more where its value needs them.
func settingLines(p *console.Page, rows []settingRow) {
	name, origin, value := 0, 0, 1
	for _, row := range rows {
		name, origin = max(name, len(row.Name)), max(origin, terminal.Width(row.origin()))
	}
	for _, row := range rows {
		if n := terminal.Width(terminal.OneLine(row.Value)); n+name+origin+6 <= p.Width {
			value = max(value, n)
		}
	}
	for _, row := range rows {
		head, text := "  "+console.Cell(row.Name, name)+"  ", cmp.Or(terminal.OneLine(row.Value), "-")
		if terminal.Width(text) <= value {
			p.Line(head + console.Cell(text, value) + "  " + p.Dim(row.origin()))
			continue
		}
		p.Line(head + p.Dim(row.origin()))
		for _, line := range console.BreakAt(text, p.Width-name-4) {
			p.Line(strings.Repeat(" ", name+4) + line)
		}
	}
}
