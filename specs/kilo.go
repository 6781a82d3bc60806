package specs

import (
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Kilo is the Kilo Code CLI, a fork of opencode.
func Kilo() clispec.Spec {
	o := openCode{
		name: "kilo",
		// The CLI leaves out its own long text only for the agents that make titles.
		lean: "title",
		// The CLI has more tools than opencode, such as background processes.
		write: `"*":"deny","read":"allow","grep":"allow","glob":"allow","list":"allow","edit":"allow",` +
			`"external_directory":"deny"`,
		config: []string{"kilo.json", "kilo.jsonc", "opencode.json", "opencode.jsonc", "config.json"},
	}
	s := o.spec()
	s.Confine = kiloPaths(o)
	s.ProviderSlug, s.CheckedWith = "kilo-cli", "7.7.9"
	s.Packages = []string{"@kilocode/cli", "@kilocode/cli-linux-x64"}
	s.Hints[call.ReasonNotInstalled] = "npm install -g @kilocode/cli"
	s.FolderFiles = []string{
		"./.kilo", "./.kilocode", "./.opencode", "./kilo.json", "./kilo.jsonc", "./opencode.json", "./opencode.jsonc",
		"./.kilocodemodes", "./.kilocoderules",
	}
	for _, row := range quietGit() { // the CLI inspects the repository by itself
		row.When = unset("trust_dir")
		s.Env = append(s.Env, row)
	}
	s.Live = clispec.LiveRules{} // not tested
	s.Args = slices.DeleteFunc(
		s.Args, func(r clispec.ArgRow) bool { return slices.Contains(r.When.Output, clispec.OutputLive) },
	)
	// After an error the CLI may not exit.
	for i := range s.Events {
		s.Events[i].Terminal = s.Events[i].Terminal || s.Events[i].Kind == call.EventError
	}
	return s
}
