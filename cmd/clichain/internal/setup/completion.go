package setup

import (
	"io"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/spf13/cobra"
)

// shell is a shell with a completion script.
type shell struct {
	name, load string
	example    string
	script     func(root *cobra.Command, out io.Writer, describe bool) error
}

var shells = []shell{
	{
		name: "bash", load: `The script needs the package bash-completion.
Start a new shell after you install the script.`,
		example: `  source <(clichain completion bash)
  clichain completion bash > /etc/bash_completion.d/clichain
  clichain completion bash > "$(brew --prefix)/etc/bash_completion.d/clichain"`,
		script: func(root *cobra.Command, out io.Writer, describe bool) error {
			return root.GenBashCompletionV2(out, describe)
		},
	},
	{
		name: "zsh", load: `The script needs "autoload -U compinit; compinit" in ~/.zshrc.
Start a new shell after you install the script.`,
		example: `  source <(clichain completion zsh)
  clichain completion zsh > "${fpath[1]}/_clichain"
  clichain completion zsh --no-descriptions > "${fpath[1]}/_clichain"`,
		script: func(root *cobra.Command, out io.Writer, describe bool) error {
			if describe {
				return root.GenZshCompletion(out)
			}
			return root.GenZshCompletionNoDesc(out)
		},
	},
	{
		name: "fish", load: "Start a new shell after you install the script.",
		example: `  clichain completion fish | source
  clichain completion fish > ~/.config/fish/completions/clichain.fish
  clichain completion fish --no-descriptions | source`,
		script: func(root *cobra.Command, out io.Writer, describe bool) error {
			return root.GenFishCompletion(out, describe)
		},
	},
	{
		name: "powershell", load: "To load the script in every new session, add it to your PowerShell profile.",
		example: `  clichain completion powershell | Out-String | Invoke-Expression
  clichain completion powershell >> $PROFILE
  clichain completion powershell --no-descriptions > clichain.ps1`,
		script: func(root *cobra.Command, out io.Writer, describe bool) error {
			if describe {
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return root.GenPowerShellCompletion(out)
		},
	},
}

// NewCompletion makes the command completion.
func NewCompletion(env *console.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion",
		Short: "Print the completion script of a shell",
		Long: `Print the script that completes commands, flags and values in a shell.
"clichain completion SHELL --help" says how to install it.`,
		Example: `  source <(clichain completion bash)
  clichain completion zsh > "${fpath[1]}/_clichain"
  clichain completion fish > ~/.config/fish/completions/clichain.fish`,
		Args: console.CommandsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	for _, s := range shells {
		cmd.AddCommand(s.command(env))
	}
	return cmd
}

func (s shell) command(env *console.Env) *cobra.Command {
	plain := false
	cmd := &cobra.Command{
		Use:     s.name,
		Short:   "Print the completion script for " + s.name,
		Long:    "Print the completion script for " + s.name + ".\n" + s.load,
		Example: s.example,
		Args:    console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return console.OutputError(s.script(cmd.Root(), env.Out, !plain))
		},
	}
	cmd.Flags().BoolVar(&plain, "no-descriptions", false, "complete without descriptions")
	return cmd
}
