package main

import (
	"encoding/json"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// optionFlags are the finer settings of a question.
type optionFlags struct {
	clichain.Options
	systemMode string
	mcp        []string
	agents     string
	extra      []string
}

func (f *optionFlags) register(flags *pflag.FlagSet) {
	flags.Var(&parsed[int]{value: &f.MaxTurns, parse: parseCount, kind: "n"}, "max-turns", "limit for the agent's turns")
	flags.Var(&parsed[float64]{value: &f.MaxBudgetUSD, parse: parseDollars, kind: "usd"}, "max-budget-usd", "limit for the cost")
	flags.StringVar(&f.Effort, "effort", "", "reasoning effort, a `level` the CLI knows")
	flags.StringSliceVar(&f.AllowedTools, "allow-tool", nil, "`tool` that the agent may use, in the CLI's own terms")
	flags.StringSliceVar(&f.DisallowedTools, "deny-tool", nil, "`tool` that it may not")
	flags.StringVar(&f.PermissionMode, "permission-mode", "", "permission `mode`, in the CLI's own terms")
	flags.StringVar(&f.systemMode, "system-mode", "", "append to the CLI's own system prompt, or replace it")
	flags.StringArrayVar(&f.mcp, "mcp-config", nil, "`file` with MCP servers, or the JSON itself")
	flags.BoolVar(&f.StrictMCP, "strict-mcp", false, "no MCP servers but those")
	flags.StringVar(&f.FallbackModel, "fallback-model", "", "`model` the CLI turns to when the first is overloaded")
	flags.StringVar(&f.agents, "agents", "", "`file` with subagents as JSON")
	flags.BoolVar(&f.NoSessionPersistence, "no-session", false, "store nothing to go on from")
	flags.StringArrayVar(&f.AddDirs, "add-dir", nil, "further `directory` to work in")
	flags.StringArrayVar(&f.Images, "image", nil, "image `file` to look at")
	flags.StringArrayVar(&f.extra, "extra", nil, "raw argument for one CLI, as `backend=argument`")
}

// options checks what the library cannot know: where a flag's value came from.
func (f *optionFlags) options() (clichain.Options, error) {
	o := f.Options
	o.SystemMode = call.SystemMode(f.systemMode)
	for _, value := range f.mcp {
		element := json.RawMessage(value)
		if !strings.HasPrefix(strings.TrimSpace(value), "{") {
			element, _ = json.Marshal(value) // a string always marshals
		}
		o.MCPConfig = append(o.MCPConfig, element)
	}
	if f.agents != "" {
		data, err := os.ReadFile(f.agents)
		if err != nil {
			return o, usagef("--agents: %v", err)
		}
		o.Agents = data
	}
	for _, value := range f.extra {
		backend, argument, ok := strings.Cut(value, "=")
		if !ok || backend == "" {
			return o, usagef("--extra: %q: write backend=argument", value)
		}
		if o.Extra == nil {
			o.Extra = map[string][]string{}
		}
		o.Extra[backend] = append(o.Extra[backend], argument)
	}
	return o, nil
}
