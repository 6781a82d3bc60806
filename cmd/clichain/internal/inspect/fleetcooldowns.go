package inspect

import (
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/spf13/cobra"
)

// NewFleetCooldowns makes the command cooldowns of the command queue.
func NewFleetCooldowns(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	list, clear := cooldownsListCommand(r, true), cooldownsClearCommand(r, true)
	list.Long = `List the backends in cooldown, with the reason and the end of each cooldown. All
workers of the server skip them.`
	list.Example = `  clichain queue cooldowns list --nats nats://127.0.0.1:4222
  clichain queue cooldowns list --json
  clichain queue cooldowns list --store jobs`
	clear.Long = `Clear the cooldowns that all workers of a server share: those of the named
backends, or of all backends without NAME. The next job tries these backends
again. If a limit still applies, that job starts a new cooldown.`
	clear.Example = `  clichain queue cooldowns clear --nats nats://127.0.0.1:4222
  clichain queue cooldowns clear codex claude
  clichain queue cooldowns clear codex --store jobs`
	return cooldownsGroup(r, &cobra.Command{
		Use:   "cooldowns",
		Short: "List or clear the cooldowns of a fleet",
		Long: `All workers of a server share their cooldowns. After a failure such as a usage
limit, all of them skip the backend until its cooldown ends.`,
		Example: `  clichain queue cooldowns list --nats nats://127.0.0.1:4222
  clichain queue cooldowns clear codex
  clichain queue cooldowns list --json`,
	}, list, clear)
}
