// Package mcpserver has the command mcp, an MCP server on stdin and stdout through which an agent asks other agents.
package mcpserver

import (
	"context"
	"fmt"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/inspect"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/service"
	"github.com/clichain/clichain/cmd/clichain/internal/usage"
	"github.com/clichain/clichain/permit"
	"github.com/clichain/clichain/runs"
	"github.com/spf13/cobra"
)

// mcpFlags are the flags of mcp.
type mcpFlags struct {
	ask         param.Values // the flags about backends
	permissions permit.Permissions
	caller      string
	jobs, depth int
	logJSON     bool
}

// NewMCP makes the command mcp.
func NewMCP(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	f := &mcpFlags{jobs: service.DefaultSlots, depth: 1}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Answer the calls of an agent, as an MCP server",
		Long: `Serve the tools ask, second_opinion, usage and doctor to an MCP client on stdin
and stdout, until stdin is closed. The client is an agent that starts this
command, such as claude or codex.

By default the tools ask with access none; --max-access and --permit allow more.
The log, which has no prompts and no answers, goes to stderr.`,
		Example: `  clichain mcp
  clichain mcp --only claude,gemini --timeout 3m
  clichain mcp --max-access read --permit dir=/srv/repo`,
		Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return service.UnlessStopped(cmd.Context(), runMCP(cmd.Context(), r, f))
		},
	}
	f.register(cmd)
	r.AddFlags(cmd.Flags())
	return cmd
}

func (f *mcpFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.FuncP("jobs", "j", fmt.Sprintf("`number`: limit of concurrent calls (default %d)", f.jobs),
		param.Into(&f.jobs, param.Count))
	flags.Func("max-access", "`level`: highest access of a call: none, read, write or full (default none)",
		param.Into(&f.permissions.Access, param.Access))
	service.AddPermitFlag(flags, &f.permissions, "dir", "model", "bytes")
	flags.StringVar(&f.caller, "caller", "", "`name`: backend of the client (default by the name that the client sends)")
	flags.Func("max-depth", "`number`: limit of calls that contain one another (default 1)",
		param.Into(&f.depth, param.Count))
	flags.BoolVar(&f.logJSON, "log-json", false, "write the log as JSON")
	param.Add(flags, cmd.Name(), &f.ask)
}

// runMCP validates the flags before it serves. A client shows a server that ends at its start as broken, so the command
// also serves if no backend is available: the tool doctor then shows the reasons.
func runMCP(ctx context.Context, r *selection.Resolver, f *mcpFlags) error {
	f.ask.Config.RedactAnswers = true // the answers go to the service of another vendor
	selected, err := r.Select(&f.ask)
	if err != nil {
		return err
	}
	c, err := r.Catalog(f.ask.SpecFiles)
	if err != nil {
		return err
	}
	if f.caller != "" {
		if _, err := c.Choose("--caller", []string{f.caller}); err != nil {
			return err
		}
	}
	s := &server{
		chain: selected.NewChainOf, specs: c.All, caller: f.caller, permissions: f.permissions,
		jobs: f.jobs, depth: runs.Depth(), maxDepth: f.depth, log: service.NewLog(r.Env, f.logJSON),
		usage:  func(ctx context.Context) (any, error) { return usage.Report(ctx, r) },
		doctor: func(ctx context.Context) (any, error) { return inspect.Checkup(ctx, r, f.ask) },
	}
	for _, p := range selected.Providers {
		s.backends = append(s.backends, backend{p, p.Spec()})
	}
	if err := s.serve(ctx, r.In, r.Out); err != nil {
		return console.Fail(console.ExitFailed, err)
	}
	return nil
}
