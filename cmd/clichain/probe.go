package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/proc"
)

// probeTime bounds the probes, which run side by side. Some CLIs need seconds
// for their version.
const probeTime = 4 * time.Second

// probeAll asks every CLI that could be started for its version.
func probeAll(ctx context.Context, patients []patient) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var running sync.WaitGroup
	for i := range patients {
		if p := &patients[i]; p.Installed && len(p.Problems) == 0 {
			running.Go(func() { p.probe(ctx) })
		}
	}
	running.Wait()
}

// probe runs the CLI as a person would, with the whole environment. It is
// killed at once when the time is over: there is nothing to save.
func (p *patient) probe(ctx context.Context) {
	result, err := proc.Run(ctx, proc.Command{
		Path: p.Path, Args: []string{p.Path, "--version"}, Env: os.Environ(), Grace: -1, Limit: 1 << 20,
	})
	version, _, _ := strings.Cut(strings.TrimSpace(result.Stdout.Text()), "\n")
	switch {
	case err != nil:
		p.fail(clichain.ReasonSpawn, err.Error())
	case result.Cause != nil && ctx.Err() != nil:
		p.fail(clichain.ReasonTimeout, "--version gave no answer in "+probeTime.String())
	case result.Cause != nil:
		p.fail(clichain.ReasonBadOutput, "--version: "+result.Cause.Error())
	case result.ExitCode != 0 || version == "":
		p.fail(clichain.ReasonExit, strings.TrimSuffix(fmt.Sprintf("--version: exit status %d: %s", result.ExitCode, lastLine(result.Stderr.Text())), ": "))
	default:
		p.Version = shorten(oneLine(version), 60)
	}
}

func (p *patient) fail(code clichain.Reason, message string) {
	p.Problems = append(p.Problems, problem{code, message, "run `" + p.Path + " --version` to see what is wrong"})
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return oneLine(s[strings.LastIndexByte(s, '\n')+1:])
}
