package param

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/settings"
	"github.com/clichain/clichain/specs"
)

// Confinements are the values of --confine.
var Confinements = []call.Confinement{call.ConfineAuto, call.ConfineRequired, call.ConfineOff}

// SandboxModes are the values of --sandbox.
var SandboxModes = []clichain.SandboxPolicy{clichain.SandboxAuto, clichain.SandboxOn, clichain.SandboxOff}

// Into returns the function that parses a flag's value and stores it. pflag adds the flag and the value to an error.
func Into[T any](value *T, parse func(string) (T, error)) func(string) error {
	return func(text string) (err error) {
		*value, err = parse(text)
		return err
	}
}

// Duration parses a duration above zero.
func Duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New("use a positive duration with a unit, such as 90s or 5m")
	}
	return d, nil
}

// Count parses a whole number above zero.
func Count(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return 0, errors.New("write a whole number above zero")
	}
	return n, nil
}

// Dollars parses an amount above zero.
func Dollars(text string) (float64, error) {
	d, err := strconv.ParseFloat(text, 64)
	if err != nil || !(d > 0) || math.IsInf(d, 0) {
		return 0, errors.New("write an amount in US dollars, such as 0.50")
	}
	return d, nil
}

// Access parses an access level.
func Access(text string) (access clichain.Access, err error) {
	if err := access.UnmarshalText([]byte(text)); err != nil || text == "" {
		return 0, errors.New("use none, read, write or full")
	}
	return access, nil
}

// Payer parses a kind of billing.
func Payer(text string) (payer settings.Payer, err error) {
	if err := payer.UnmarshalText([]byte(text)); err != nil {
		return "", errors.New("use subscription, api_key or any")
	}
	return payer, nil
}

// Accounts parses the accounts of backends.
func Accounts(text string) (accounts settings.Accounts, err error) {
	return accounts, accounts.UnmarshalText([]byte(text))
}

// Reserve parses a reserve.
func Reserve(text string) (reserve settings.Reserve, err error) {
	return reserve, reserve.UnmarshalText([]byte(text))
}

// OneOf returns a parser that accepts only the given words.
func OneOf[T ~string](words ...T) func(string) (T, error) {
	return func(text string) (T, error) {
		if !slices.Contains(words, T(text)) {
			return "", fmt.Errorf("use one of %q", words)
		}
		return T(text), nil
	}
}

// Names parses names of backends, separated by commas.
func Names(text string) (names []string, err error) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		builtin := specs.Every()
		return nil, fmt.Errorf("name at least one backend, such as %s,%s", builtin[0].Name, builtin[1].Name)
	}
	return names, nil
}

func (v *Values) setBinary(text string) error {
	name, path, ok := strings.Cut(text, "=")
	if !ok || name == "" || path == "" {
		return errors.New("write backend=path, such as claude=/opt/claude/bin/claude")
	}
	if strings.ContainsRune(path, filepath.Separator) { // a name without a directory is looked up in PATH
		abs, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		path = abs
	}
	set(&v.Binaries, name, path)
	return nil
}

func (v *Values) setAccount(text string) error {
	name, account, ok := strings.Cut(text, "=")
	if !ok || name == "" || account == "" {
		return errors.New("write backend=account, such as claude=team")
	}
	v.SetAccount(name, account)
	return nil
}

// SetAccount sets the account of a backend.
func (v *Values) SetAccount(name, account string) { set(&v.Accounts, name, account) }

func (v *Values) setEnv(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return errors.New("write NAME=value, such as JOB_ID=7")
	}
	set(&v.Request.Env, name, value)
	v.Config.RequestEnv = append(v.Config.RequestEnv, name)
	return nil
}

func (v *Values) addExtra(text string) error {
	backend, argument, ok := strings.Cut(text, "=")
	if !ok || backend == "" {
		return errors.New("write backend=argument, such as codex=--full-auto")
	}
	extra := &v.options().Extra
	set(extra, backend, append((*extra)[backend], argument))
	return nil
}

func set[T any](values *map[string]T, name string, value T) {
	if *values == nil {
		*values = map[string]T{}
	}
	(*values)[name] = value
}
