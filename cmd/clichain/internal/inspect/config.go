package inspect

import (
	"cmp"
	"errors"
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
	"github.com/clichain/clichain/conversation"
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
		return console.Fail(console.ExitNothing, errors.New("no settings file is used"))
	}
	path, err := filepath.Abs(place.Value)
	if err != nil {
		return console.Usagef("%s: %v", place.Source, err)
	}
	_, err = fmt.Fprintln(r.Out, path)
	return console.OutputError(err)
}

// settingsReport has the settings in effect and their sources.
type settingsReport struct {
	File     string       `json:"file"`     // path, even if the file does not exist; "": no file is used
	Found    bool         `json:"found"`    // the file exists
	Profile  string       `json:"profile"`  // selected profile; "": none
	Profiles []string     `json:"profiles"` // of the file
	Settings []settingRow `json:"settings"`
}

// settingRow is one setting. Value has the form of the environment variable.
type settingRow struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	Source   string `json:"source"`            // variable, profile, file or default
	Variable string `json:"variable"`          // environment variable that overrides profile and file
	Profile  string `json:"profile,omitempty"` // profile that sets it
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

// NewSettingsReport returns the settings in effect, or an error for an invalid environment variable.
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

// defaultOf returns the default of a setting.
func defaultOf(name string, c selection.Catalog) string {
	chain, _ := c.Split()
	return map[string]string{
		"order": strings.Join(selection.NamesOf(chain), ","), "timeout": clichain.DefaultTimeout.String(),
		"agent_timeout": param.AgentTimeout.String(), "billing": "any", "reserve": "0", "confine": "auto",
		"cooldowns": cmp.Or(selection.DefaultCooldowns(), "off"), "usage.log": "off", "usage.content": "off",
		"conversations": "off", "conversations.age": conversation.DefaultMaxAge.String(),
	}[name]
}

// set returns the settings that do not have their default.
func (r settingsReport) set() []settingRow {
	return slices.DeleteFunc(slices.Clone(r.Settings), func(row settingRow) bool { return row.Source == "default" })
}

// origin describes the source of a setting.
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

// place describes the settings file and the profile.
func (r settingsReport) place() string {
	text := "no settings file is used"
	switch {
	case r.Found:
		text = r.File
	case r.File != "":
		text = r.File + " (does not exist)"
	}
	if r.Profile != "" {
		text += ", profile " + r.Profile
	} else if len(r.Profiles) > 0 {
		text += ", no profile (available: " + strings.Join(r.Profiles, ", ") + ")"
	}
	return terminal.OneLine(text)
}

// settingsTable returns the report as a table, in lines of up to width columns except the path of the file.
func settingsTable(r settingsReport, paint console.Style, width int) string {
	p := console.NewPage(paint, width)
	p.Line(p.Bold(r.place()))
	settingLines(p, r.Settings)
	return p.String()
}

// settingLines writes each setting on one line, or on several lines if its value is long.
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
