// Package param has the table of the flags that commands share, their values, and the parsers of values.
package param

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/settings"
	"github.com/spf13/pflag"
)

// Values are the values of the flags. Request and Config have the values that need only parsing.
type Values struct {
	PromptFile         string
	NoStdin, Continue  bool
	System, SystemFile string
	Schema, Agents     string // files
	MCP                []string
	Request            clichain.Request

	Only, SpecFiles []string
	Binaries        map[string]string // by the name of a backend, or of the spec of an instance
	Accounts        map[string]string
	Billing         settings.Payer
	Reserve         settings.Reserve
	Budget          time.Duration
	NoCooldown      bool
	Config          clichain.Config
}

func (v *Values) options() *clichain.Options { return &v.Request.Options }

// Add declares the flags that a command has, in the order of the table.
func Add(flags *pflag.FlagSet, command string, v *Values) {
	flags.SortFlags = false
	for _, f := range Table {
		if _, without := f.Without[command]; !without {
			f.add(flags, command, v)
		}
	}
}

// Pick declares only the named flags, for a command that is not one of Commands.
func Pick(flags *pflag.FlagSet, v *Values, names ...string) {
	for _, f := range Table {
		if slices.Contains(names, f.Name) {
			f.add(flags, "", v)
		}
	}
}

func (f *Flag) add(flags *pflag.FlagSet, command string, v *Values) {
	help, ok := f.HelpOf[command]
	if !ok {
		help = f.Help
	}
	one := pflag.NewFlagSet(f.Name, pflag.ContinueOnError)
	f.define(one, f.Name, help, v)
	flag := one.Lookup(f.Name)
	flag.Shorthand = f.Short
	flags.AddFlag(flag)
}

// Prompt is the name of the prompt argument in errors.
const Prompt = "PROMPT"

// FlagOf returns the flag that sets a field of a request or of a configuration, such as "--add-dir" for
// "options.add_dirs[0]". It returns a field without a flag unchanged.
func FlagOf(field string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(field, "options."), "config.")
	name, element, _ := strings.Cut(name, ".")
	name, _, _ = strings.Cut(name, "[")
	element, _, _ = strings.Cut(element, "[")
	if name == "messages" {
		return Prompt
	}
	flag := strings.ReplaceAll(name, "_", "-")
	for _, f := range Table {
		if flag != "" && (f.Field == name || f.Field == "" && f.Name == flag) {
			return strings.TrimSpace("--" + f.Name + " " + element)
		}
	}
	return field
}

// AgentTimeout is the timeout of a backend whose Config.Agent is set.
const AgentTimeout = 10 * time.Minute

// BackendTimeout is the timeout of a backend with this configuration.
func BackendTimeout(cfg *clichain.Config) time.Duration {
	if cfg.Agent {
		return cmp.Or(cfg.Timeout, AgentTimeout)
	}
	return cmp.Or(cfg.Timeout, clichain.DefaultTimeout)
}
