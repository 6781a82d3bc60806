package accept

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/machine"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/proc"
)

// Command is a program that checks answers. It gets the text of the answer on standard input, and accepts the answer
// with the exit code 0. Use [NewCommand]. A Command is safe for concurrent use.
type Command struct {
	path string
	args []string
}

// NewCommand returns the Command of a program and its arguments. A program without a directory in its name is looked
// up on PATH. The error wraps [os/exec.ErrNotFound] if there is no such program.
func NewCommand(program string, args ...string) (*Command, error) {
	dir, _ := os.Getwd() // without it, no relative path is found
	path, err := machine.Lookup(program, dir, os.Getenv("PATH"))
	if err != nil {
		return nil, fmt.Errorf("accept: %w", err)
	}
	return &Command{path: path, args: append([]string{program}, args...)}, nil
}

// stopGrace is the minimum time between the deadline of the context and the kill of the program.
const stopGrace = 500 * time.Millisecond

// Accept runs the program, for ChainConfig.Accept. The program runs in the Dir of the request, or else in the working
// directory of this process. It has the environment of this process, and these variables: CLICHAIN_BACKEND,
// CLICHAIN_MODEL, CLICHAIN_SESSION, CLICHAIN_DIR and CLICHAIN_ACCESS. The error has the last lines of stderr, or else
// of stdout. At the end of ctx, the program and its descendants are terminated.
func (c *Command) Accept(ctx context.Context, req call.Request, resp *call.Response) error {
	if req.Dir != "" {
		var err error
		if req.Dir, err = filepath.Abs(req.Dir); err != nil {
			return fmt.Errorf("the check %s did not start: %w", c.args[0], err)
		}
	}
	command := proc.Command{
		Path: c.path, Args: c.args, Env: environ(req, resp), Dir: req.Dir, Stdin: []byte(resp.Text),
	}
	if deadline, ok := ctx.Deadline(); ok {
		command.KillAt, _ = chainview.HardEnd(ctx, deadline)
		if least := deadline.Add(stopGrace); command.KillAt.Before(least) {
			command.KillAt = least
		}
	}
	result, err := proc.Run(ctx, command)
	switch {
	case err != nil:
		return fmt.Errorf("the check %s did not start: %w", c.args[0], err)
	case result.Cause != nil:
		return result.Cause
	case result.Signal != "":
		return c.refusal(result, "was ended by "+result.Signal)
	case result.ExitCode != 0:
		return c.refusal(result, fmt.Sprintf("exited with %d", result.ExitCode))
	}
	return nil
}

// refusal returns the error of a program that did not accept the answer.
func (c *Command) refusal(result proc.Result, how string) error {
	redactor := plaintext.NewRedactor(os.Environ())
	said := plaintext.LastLines(redactor.Clean(result.Stderr.Text()))
	if said == "" {
		said = plaintext.LastLines(redactor.Clean(result.Stdout.Text()))
	}
	if said == "" {
		return fmt.Errorf("the check %s %s", c.args[0], how)
	}
	return fmt.Errorf("the check %s %s: %s", c.args[0], how, said)
}

// environ returns the environment of this process, with the variables about the answer.
func environ(req call.Request, resp *call.Response) []string {
	list := os.Environ()
	for _, v := range [][2]string{
		{"CLICHAIN_BACKEND", resp.Backend}, {"CLICHAIN_MODEL", resp.Model}, {"CLICHAIN_SESSION", resp.Session},
		{"CLICHAIN_DIR", req.Dir}, {"CLICHAIN_ACCESS", req.Access.String()},
	} {
		list = append(list, v[0]+"="+strings.ReplaceAll(v[1], "\x00", ""))
	}
	return list
}
