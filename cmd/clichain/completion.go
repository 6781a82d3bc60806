package main

import (
	"fmt"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/batch"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/history"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/queue"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/service"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/settings"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The values of flags that have a fixed set of values.
var (
	accessLevels = []clichain.Access{
		clichain.AccessNone, clichain.AccessRead, clichain.AccessWrite, clichain.AccessFull,
	}
	payers = []settings.Payer{
		settings.Payer(call.BillingSubscription), settings.Payer(call.BillingAPIKey), settings.PayerAny,
	}
	systemModes = []call.SystemMode{call.SystemAppend, call.SystemReplace}
)

// Completions of paths.
var (
	anyFile   = files()
	jsonFile  = files("json")
	directory = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
)

// addCompletions registers the completions of the flags of all commands.
func addCompletions(env *console.Env, root *cobra.Command) {
	byName := completions(env)
	eachCommand(root, func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			complete, ok := byName[flag.Name]
			if !ok {
				value, _ := pflag.UnquoteUsage(flag)
				complete, ok = byValue[value]
			}
			if ok {
				// It fails only for a flag that does not exist or is already registered.
				_ = cmd.RegisterFlagCompletionFunc(flag.Name, complete)
			}
		})
	})
}

func eachCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, do)
	}
}

// byValue maps the name of a flag's value in the help to its completion.
var byValue = map[string]cobra.CompletionFunc{"file": anyFile, "directory": directory}

// completions maps the names of flags to their completions. Flags with the same name take the same values in all
// commands.
func completions(env *console.Env) map[string]cobra.CompletionFunc {
	return map[string]cobra.CompletionFunc{
		"access":      fixedWords(accessLevels),
		"caller":      selection.CompleteName(env),
		"max-access":  fixedWords(accessLevels),
		"permit":      fixedWords(service.PermitWords()),
		"billing":     fixedWords(payers),
		"sandbox":     fixedWords(param.SandboxModes),
		"confine":     fixedWords(param.Confinements),
		"format":      fixedWords(batch.Formats),
		"system-mode": fixedWords(systemModes),
		"priority":    fixedWords(queue.Priorities),
		"reason":      fixedWords(call.Reasons()),
		"state":       fixedWords(jetstream.States),
		"by":          fixedWords(history.Groups),
		"backend":     selection.CompleteNames(env),
		"check":       anyFile,
		"spec":        files("json", "yaml", "yml"),
		"schema":      jsonFile,
		"agents":      jsonFile,
		"mcp-config":  jsonFile,
		"config":      files("yaml", "yml", "json"),
		"profile":     selection.CompleteProfile(env),
		"only":        selection.CompleteNames(env),
		"model":       selection.CompleteName(env),
		"binary":      selection.CompletePair(env, cobra.ShellCompDirectiveDefault),
		"account":     selection.CompletePair(env, cobra.ShellCompDirectiveNoFileComp),
		"extra":       selection.CompletePair(env, cobra.ShellCompDirectiveNoFileComp),
	}
}

func fixedWords[T any](list []T) cobra.CompletionFunc {
	texts := make([]string, len(list))
	for i, word := range list {
		texts[i] = fmt.Sprint(word)
	}
	return cobra.FixedCompletions(texts, cobra.ShellCompDirectiveNoFileComp)
}

func files(endings ...string) cobra.CompletionFunc {
	if len(endings) == 0 {
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	}
	return cobra.FixedCompletions(endings, cobra.ShellCompDirectiveFilterFileExt)
}
