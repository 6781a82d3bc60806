package main

import (
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
	configVariable  = "CLICHAIN_CONFIG" // a file, or "off"
	profileVariable = "CLICHAIN_PROFILE"
)

// namedValue is a value and what it comes from, for messages.
type namedValue struct{ value, source string }

// settingsFlags say where settings come from.
type settingsFlags struct{ config, profile string }

func (a *app) addSettingsFlags(flags *pflag.FlagSet) {
	flags.StringVar(&a.from.config, "config", "", "settings `file`, or off (CLICHAIN_CONFIG)")
	flags.StringVar(&a.from.profile, "profile", "", "`name` of a profile of the settings file (CLICHAIN_PROFILE)")
}

// chosen are the settings that hold where no flag says otherwise, each from the first that has it: the environment, the
// profile, the settings file.
type chosen struct {
	settings.Values
	file    *settings.File // nil: there is none
	path    string         // of the settings file, also where there is none; empty: none is read
	profile namedValue     // empty: none
	sources map[string]source
	wrong   map[string]error // by the name of a setting: the mistake in its variable
}

// source is where a setting came from. The zero value means that nothing sets it.
type source struct {
	Variable string // of the environment
	Profile  string // of the file
	Line     int    // of the file
}

// settings reads the settings once. What is wrong with one variable is told where that setting is used, as a flag may
// stand in its place.
func (a *app) settings() (*chosen, error) {
	if a.chosen != nil {
		return a.chosen, nil
	}
	if err := a.secretInVariable(); err != nil {
		return nil, err
	}
	c := &chosen{sources: map[string]source{}, wrong: map[string]error{}}
	if err := a.loadSettings(c); err != nil {
		return nil, err
	}
	for _, k := range knobs {
		c.choose(k, a.Getenv(k.variable))
	}
	a.chosen = c
	return c, nil
}

// secretInVariable refuses what would be printed.
func (a *app) secretInVariable() error {
	names := []string{configVariable, profileVariable}
	for _, k := range knobs {
		names = append(names, k.variable)
	}
	for _, name := range names {
		if settings.Secret(a.Getenv(name)) {
			return console.Usagef("%s looks like a secret: keep it in a variable that the CLI reads", name)
		}
	}
	return nil
}

// choose takes one setting from the first that has it.
func (c *chosen) choose(k knob, variable string) {
	if strings.TrimSpace(variable) != "" {
		if err := k.read(&c.Values, variable); err != nil {
			c.wrong[k.name] = console.Usagef("%s=%q: %v", k.variable, variable, err)
		}
		c.sources[k.name] = source{Variable: k.variable}
		return
	}
	if c.file == nil {
		return
	}
	profile := c.file.Profiles[c.profile.value]
	for _, layer := range []struct {
		values  *settings.Values
		profile string
	}{{&profile, c.profile.value}, {&c.file.Values, ""}} {
		if k.text(layer.values) != "" {
			k.copy(&c.Values, layer.values)
			c.sources[k.name] = source{Profile: layer.profile, Line: c.file.Line(layer.profile, k.name)}
			return
		}
	}
}

// loadSettings reads the file, and finds the profile in it.
func (a *app) loadSettings(c *chosen) error {
	place, err := a.settingsPath()
	if err != nil {
		return err
	}
	if place.value != "" {
		if c.path, err = filepath.Abs(place.value); err != nil {
			return console.Usagef("%s: %v", place.source, err)
		}
	}
	if c.profile = (namedValue{a.from.profile, "--profile"}); c.profile.value == "" {
		c.profile = namedValue{a.Getenv(profileVariable), profileVariable}
	}
	_, err = os.Lstat(c.path)
	none := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	if place.source != "" || !none { // nothing has to be at the default place
		if c.file, err = loadSettingsFile(place); err != nil {
			return err
		}
	}
	return c.checkProfile()
}

// settingsPath is the place of the settings file, with what names it; the default place has no source, and no file at
// all has no value. A relative path of the environment would depend on the working directory, which may be anybody's.
func (a *app) settingsPath() (namedValue, error) {
	place := namedValue{a.from.config, "--config"}
	if place.value == "" {
		place = namedValue{a.Getenv(configVariable), configVariable}
		if place.value != "" && place.value != "off" && !filepath.IsAbs(place.value) {
			return place, console.Usagef("%s=%q: write an absolute path, or off", configVariable, place.value)
		}
	}
	switch place.value {
	case "off":
		return namedValue{}, nil
	case "":
		path, _ := settings.DefaultPath() // without a home there is no file
		return namedValue{value: path}, nil
	}
	return place, nil
}

func loadSettingsFile(place namedValue) (*settings.File, error) {
	file, err := settings.Load(place.value)
	if all, ok := errors.AsType[*settings.LoadError](err); ok {
		return nil, console.Usagef("%s", strings.Join(problemLines(place.value, all.Problems), "\n  "))
	}
	if err != nil && place.source != "" {
		return nil, console.Usagef("%s: %s", place.source, strings.TrimPrefix(err.Error(), "settings: "))
	}
	if err != nil {
		return nil, console.Usagef("%v (%s=off goes on without settings)", err, configVariable)
	}
	return file, nil
}

func (c *chosen) checkProfile() error {
	name := c.profile.value
	if name == "" {
		return nil
	}
	if c.file == nil {
		where := "no settings file is read"
		if c.path != "" {
			where = "there is no settings file " + c.path
		}
		return console.Usagef("%s: no profile %q: %s", c.profile.source, name, where)
	}
	if _, ok := c.file.Profiles[name]; !ok {
		return console.Usagef("%s: no profile %q in %s: %s", c.profile.source, name, c.path, c.profileNames())
	}
	return nil
}

func (c *chosen) profileNames() string {
	if len(c.file.Profiles) == 0 {
		return "it has none"
	}
	return "it has " + terminal.OneLine(strings.Join(slices.Sorted(maps.Keys(c.file.Profiles)), ", "))
}

// origin names where a setting came from, for messages.
func (c *chosen) origin(name string) string {
	from := c.sources[name]
	switch {
	case from.Variable != "":
		return from.Variable
	case from.Profile != "":
		return fmt.Sprintf("%s:%d: profiles.%s.%s", c.path, from.Line, from.Profile, name)
	}
	return fmt.Sprintf("%s:%d: %s", c.path, from.Line, name)
}

// checkSpecs holds a file of specs that the settings file names to what holds for that itself, as it too is read
// without being named for the call.
func (c *chosen) checkSpecs(file string) error {
	if c.sources["specs"].Variable != "" {
		return nil
	}
	if err := settings.CheckFile(file); err != nil {
		return console.Usagef("%s: %s", c.origin("specs"), strings.TrimPrefix(err.Error(), "settings: "))
	}
	return nil
}

// limit is the flag's value, else that of a setting.
func (c *chosen) limit(flag time.Duration, name string, value settings.Duration) (time.Duration, error) {
	if flag > 0 {
		return flag, nil
	}
	return time.Duration(value), c.wrong[name]
}

// settle gives a question the settings that no flag of it says.
func (a *app) settle(f *param.Values) error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	f.Config.Shim = a.Shim
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
		payer, err = c.Billing, c.wrong["billing"]
	}
	f.Config.Billing = payer.Billing()
	return err
}
