// Package selection chooses the backends of a command by its settings, its files of specs and its flags.
package selection

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/settings"
	"github.com/spf13/pflag"
)

const (
	ConfigVariable  = "CLICHAIN_CONFIG" // a file, or "off"
	profileVariable = "CLICHAIN_PROFILE"
)

// Resolver reads the settings of a command, and selects its backends from the settings and the flags.
type Resolver struct {
	*console.Env
	ConfigFlag, ProfileFlag string    // of the flags
	settings                *Settings // nil: not read yet
}

// NewResolver makes the Resolver of one command.
func NewResolver(env *console.Env) *Resolver { return &Resolver{Env: env} }

// AddFlags declares --config and --profile.
func (r *Resolver) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&r.ConfigFlag, "config", "", "settings `file`, or off for none (CLICHAIN_CONFIG)")
	flags.StringVar(&r.ProfileFlag, "profile", "", "`name` of a profile in the settings file (CLICHAIN_PROFILE)")
}

// Settings are the settings that apply unless a flag overrides them. Each comes from the first of these that has it:
// the environment, the profile, the settings file.
type Settings struct {
	settings.Values
	File    *settings.File // nil: the file does not exist
	Path    string         // path of the settings file, even if it does not exist; "": no file is used
	Profile Sourced        // empty: none
	Sources map[string]Source
	Invalid map[string]error // errors of environment variables, by setting
}

// Sourced is a value with the flag or the environment variable that sets it.
type Sourced struct{ Value, Source string }

// Source is the source of a setting. The zero value means the default.
type Source struct {
	Variable string // of the environment
	Profile  string // of the file
	Line     int    // of the file
}

// Kind returns "variable", "profile", "file" or "default".
func (s Source) Kind() string {
	switch {
	case s.Variable != "":
		return "variable"
	case s.Profile != "":
		return "profile"
	case s.Line > 0:
		return "file"
	}
	return "default"
}

// Settings reads the settings once. The error of an environment variable is in Invalid, because a flag may override the
// variable.
func (r *Resolver) Settings() (*Settings, error) {
	if r.settings != nil {
		return r.settings, nil
	}
	if err := r.secretInVariable(); err != nil {
		return nil, err
	}
	c := &Settings{Sources: map[string]Source{}, Invalid: map[string]error{}}
	if err := r.loadSettings(c); err != nil {
		return nil, err
	}
	for _, e := range Entries {
		c.choose(e, r.Getenv(e.Variable))
	}
	r.settings = c
	return c, nil
}

// secretInVariable rejects a variable that looks like a secret, because commands print settings.
func (r *Resolver) secretInVariable() error {
	names := []string{ConfigVariable, profileVariable}
	for _, e := range Entries {
		names = append(names, e.Variable)
	}
	for _, name := range names {
		if settings.Secret(r.Getenv(name)) {
			return console.Usagef("%s looks like a secret: put it in an environment variable that the CLI reads", name)
		}
	}
	return nil
}

// choose sets one setting from its first source.
func (c *Settings) choose(e Entry, variable string) {
	if strings.TrimSpace(variable) != "" {
		if err := e.read(&c.Values, variable); err != nil {
			c.Invalid[e.Name] = console.Usagef("%s=%q: %v", e.Variable, variable, err)
		}
		c.Sources[e.Name] = Source{Variable: e.Variable}
		return
	}
	if c.File == nil {
		return
	}
	profile := c.File.Profiles[c.Profile.Value]
	for _, layer := range []struct {
		values  *settings.Values
		profile string
	}{{&profile, c.Profile.Value}, {&c.File.Values, ""}} {
		if e.Text(layer.values) != "" {
			e.copy(&c.Values, layer.values)
			c.Sources[e.Name] = Source{Profile: layer.profile, Line: c.File.Line(layer.profile, e.Name)}
			return
		}
	}
}

// loadSettings reads the file and finds the profile.
func (r *Resolver) loadSettings(c *Settings) error {
	place, err := r.SettingsPath()
	if err != nil {
		return err
	}
	if place.Value != "" {
		if c.Path, err = filepath.Abs(place.Value); err != nil {
			return console.Usagef("%s: %v", place.Source, err)
		}
	}
	if c.Profile = (Sourced{r.ProfileFlag, "--profile"}); c.Profile.Value == "" {
		c.Profile = Sourced{r.Getenv(profileVariable), profileVariable}
	}
	_, err = os.Lstat(c.Path)
	none := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	if place.Source != "" || !none { // the default file may be missing
		if c.File, err = LoadSettingsFile(place); err != nil {
			return err
		}
	}
	return c.checkProfile()
}

// SettingsPath returns the path of the settings file and its source. The default path has no source. The value is ""
// if no file is used. A relative path in the environment is an error, because it depends on the working directory.
func (r *Resolver) SettingsPath() (Sourced, error) {
	place := Sourced{r.ConfigFlag, "--config"}
	if place.Value == "" {
		place = Sourced{r.Getenv(ConfigVariable), ConfigVariable}
		if place.Value != "" && place.Value != "off" && !filepath.IsAbs(place.Value) {
			return place, console.Usagef("%s=%q: write an absolute path, or off", ConfigVariable, place.Value)
		}
	}
	switch place.Value {
	case "off":
		return Sourced{}, nil
	case "":
		path, _ := settings.DefaultPath() // without a home directory no file is used
		return Sourced{Value: path}, nil
	}
	return place, nil
}

// LoadSettingsFile reads a settings file. The error has one line for each problem.
func LoadSettingsFile(place Sourced) (*settings.File, error) {
	file, err := settings.Load(place.Value)
	if all, ok := errors.AsType[*settings.LoadError](err); ok {
		return nil, console.Usagef("%s", strings.Join(ProblemLines(place.Value, all.Problems), "\n  "))
	}
	if err != nil && place.Source != "" {
		return nil, console.Usagef("%s: %s", place.Source, strings.TrimPrefix(err.Error(), "settings: "))
	}
	if err != nil {
		return nil, console.Usagef("%v (use %s=off to continue without settings)", err, ConfigVariable)
	}
	return file, nil
}

func (c *Settings) checkProfile() error {
	name := c.Profile.Value
	if name == "" {
		return nil
	}
	if c.File == nil {
		where := "no settings file is used"
		if c.Path != "" {
			where = "there is no settings file " + c.Path
		}
		return console.Usagef("%s: no profile %q: %s", c.Profile.Source, name, where)
	}
	if _, ok := c.File.Profiles[name]; !ok {
		return console.Usagef("%s: no profile %q in %s: %s", c.Profile.Source, name, c.Path, c.profileNames())
	}
	return nil
}

func (c *Settings) profileNames() string {
	if len(c.File.Profiles) == 0 {
		return "it has none"
	}
	return "it has " + terminal.OneLine(strings.Join(slices.Sorted(maps.Keys(c.File.Profiles)), ", "))
}

// origin describes the source of a setting.
func (c *Settings) origin(name string) string {
	from := c.Sources[name]
	switch {
	case from.Variable != "":
		return from.Variable
	case from.Profile != "":
		return fmt.Sprintf("%s:%d: profiles.%s.%s", c.Path, from.Line, from.Profile, name)
	}
	return fmt.Sprintf("%s:%d: %s", c.Path, from.Line, name)
}

// checkSpecs applies the checks of the settings file to a spec file that the settings file names, because both are read
// without a flag.
func (c *Settings) checkSpecs(file string) error {
	if c.Sources["specs"].Variable != "" {
		return nil
	}
	if err := settings.CheckFile(file); err != nil {
		return console.Usagef("%s: %s", c.origin("specs"), strings.TrimPrefix(err.Error(), "settings: "))
	}
	return nil
}

// limit returns the value of the flag, or else of the setting.
func (c *Settings) limit(flag time.Duration, name string, value settings.Duration) (time.Duration, error) {
	if flag > 0 {
		return flag, nil
	}
	return time.Duration(value), c.Invalid[name]
}

// Settle sets the flags that were not given from the settings.
func (r *Resolver) Settle(f *param.Values) error {
	c, err := r.Settings()
	if err != nil {
		return err
	}
	f.Config.Shim = r.Shim
	name, value := "timeout", c.Timeout
	if f.Config.Agent {
		name, value = "agent_timeout", c.AgentTimeout
	}
	if f.Config.Timeout, err = c.limit(f.Config.Timeout, name, value); err != nil {
		return err
	}
	if f.Budget, err = c.limit(f.Budget, "budget", c.Budget); err != nil {
		return err
	}
	payer := f.Billing
	if payer == "" {
		payer, err = c.Billing, c.Invalid["billing"]
	}
	f.Config.Billing = payer.Billing()
	if f.Reserve == "" {
		f.Reserve, err = c.Reserve, cmp.Or(err, c.Invalid["reserve"])
	}
	for name, account := range c.Accounts.Map() {
		if f.Accounts[name] == "" {
			f.SetAccount(name, account)
		}
	}
	err = cmp.Or(err, c.Invalid["accounts"])
	if f.Config.Confine == "" {
		f.Config.Confine, err = c.Confine, cmp.Or(err, c.Invalid["confine"])
	}
	return err
}
