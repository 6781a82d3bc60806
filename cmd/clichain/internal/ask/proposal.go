package ask

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/workspace"
)

// proposal is what happens to the changes of an agent. The zero value shows them and asks on a terminal, and prints
// the patch otherwise.
type proposal struct {
	dir    string
	apply  bool
	patch  string // a file
	branch string
}

// proposed is the JSON output of work.
type proposed struct {
	Response *clichain.Response `json:"response"`
	Applied  bool               `json:"applied"`
	Patch    string             `json:"patch_file,omitempty"`
	Branch   string             `json:"branch,omitempty"`
	Commit   string             `json:"branch_commit,omitempty"`
	Error    any                `json:"error,omitempty"`
}

// settle shows the changes and applies them as the flags say.
func (p *proposal) settle(ctx context.Context, env *console.Env, asJSON bool, resp *clichain.Response) error {
	for _, warning := range resp.Warnings {
		fmt.Fprintf(env.Err, "clichain: %s: warning: %s\n", resp.Backend, terminal.OneLine(warning))
	}
	out := proposed{Response: resp}
	if resp.Changes == nil || len(resp.Changes.Files) == 0 {
		return p.nothing(env, asJSON, out)
	}
	if !asJSON {
		if err := p.show(env, resp); err != nil {
			return err
		}
	}
	err := p.deliver(ctx, env, asJSON, resp, &out)
	if !asJSON {
		return err
	}
	if failed, ok := errors.AsType[*console.ExitError](err); ok {
		out.Error = console.FailureOf(failed, failed.Status)
		err = console.Fail(failed.Status, nil)
	}
	return cmp.Or(env.PrintJSON(out), err)
}

// nothing reports an agent that changed no file. Its answer may explain it.
func (p *proposal) nothing(env *console.Env, asJSON bool, out proposed) error {
	if asJSON {
		if err := env.PrintJSON(out); err != nil {
			return err
		}
		return console.Fail(console.ExitNoChange, nil)
	}
	fmt.Fprintln(env.Err, visible(out.Response.Text))
	return console.Fail(console.ExitNoChange, fmt.Errorf("%s changed no file", out.Response.Backend))
}

// show prints the answer and the list of files on stderr. On a terminal, the patch follows.
func (p *proposal) show(env *console.Env, resp *clichain.Response) error {
	fmt.Fprintln(env.Err, visible(resp.Text))
	fmt.Fprint(env.Err, changesTable(resp, env.StyleOf(env.Err), console.Columns(env.Err)))
	if p.apply || p.patch != "" || p.branch != "" {
		return nil
	}
	if terminal.Is(env.Out) {
		return env.Print(paintPatch(resp.Changes.Patch, env.StyleOf(env.Out)))
	}
	return env.Print(resp.Changes.Patch)
}

// deliver writes, commits or applies the changes, and notes in out what it did.
func (p *proposal) deliver(
	ctx context.Context, env *console.Env, asJSON bool, resp *clichain.Response, out *proposed,
) (err error) {
	switch {
	case p.patch != "":
		if err = os.WriteFile(p.patch, []byte(resp.Changes.Patch), 0o666); err != nil {
			return p.keep(out, fmt.Errorf("--patch: %w", err))
		}
		out.Patch = p.patch
		return nil
	case p.branch != "":
		out.Commit, err = workspace.Commit(ctx, p.dir, p.branch, subject(resp.Text), resp.Changes)
	case p.apply, !asJSON && terminal.Is(env.In) && terminal.Is(env.Out) && p.confirmed(ctx, env):
		err = workspace.Apply(ctx, p.dir, resp.Changes)
		out.Applied = err == nil
	default:
		return context.Cause(ctx) // of a signal during the question
	}
	if err != nil {
		return p.keep(out, err)
	}
	out.Branch = p.branch
	return p.report(env, out)
}

func (p *proposal) report(env *console.Env, out *proposed) error {
	switch {
	case out.Branch != "":
		fmt.Fprintf(env.Err, "clichain: committed to the branch %s\n", out.Branch)
	case out.Applied:
		fmt.Fprintf(env.Err, "clichain: applied to %s\n", terminal.OneLine(p.dir))
	}
	return nil
}

// keep writes the patch to a file of the working directory after an error, because the work of an agent is expensive.
func (p *proposal) keep(out *proposed, err error) error {
	status := console.ExitFailed
	if _, ok := errors.AsType[*workspace.ConflictError](err); ok {
		status = console.ExitConflict
	}
	file, kept := os.CreateTemp(".", "clichain-*.patch")
	if kept != nil {
		return console.Fail(status, fmt.Errorf("%w; the patch cannot be kept: %w", err, kept))
	}
	_, kept = io.WriteString(file, out.Response.Changes.Patch)
	if kept = errors.Join(kept, file.Close()); kept != nil {
		return console.Fail(status, fmt.Errorf("%w; the patch cannot be kept: %w", err, kept))
	}
	out.Patch = file.Name()
	return console.Fail(status, fmt.Errorf("%w; the patch is in %s", err, out.Patch))
}

// confirmed asks whether to apply the changes.
func (p *proposal) confirmed(ctx context.Context, env *console.Env) bool {
	fmt.Fprintf(env.Err, "Apply these changes to %s? [y/N] ", terminal.OneLine(p.dir))
	answer := make(chan string, 1)
	go func() { // ends with the process if the user sends a signal instead of an answer
		line, _ := bufio.NewReader(env.In).ReadString('\n')
		answer <- line
	}()
	select {
	case <-ctx.Done():
		return false
	case line := <-answer:
		return strings.EqualFold(strings.TrimSpace(line), "y") || strings.EqualFold(strings.TrimSpace(line), "yes")
	}
}

// subject returns the message of a commit: the first line of the answer, at most 72 characters.
func subject(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return terminal.Shorten(terminal.OneLine(line), 72)
}

func visible(text string) string { return terminal.Visible(strings.TrimRight(text, "\n")) }
