package conformance_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// longPrompt returns a prompt that is longer than a pipe's buffer. The rest of it waits until the CLI reads.
func longPrompt(size int) string {
	const line = "a line of a long prompt\n"
	return strings.Repeat(line, size/len(line)) + "the end"
}

// A real CLI may be stopped at any time. It must send the whole prompt to its model, or nothing.
func TestHalfPromptOfStoppedCLI(t *testing.T) {
	for _, name := range home.Names() {
		t.Run(name, func(t *testing.T) {
			longUnless(t, isFirst(name))
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			prompt := longPrompt(300 << 10)
			c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
			ask := func(within time.Duration) error {
				ctx, cancel := context.WithTimeout(t.Context(), within)
				defer cancel()
				req := clichain.Prompt(prompt)
				req.Model = models[name]
				_, err := c.Complete(ctx, req)
				return err
			}
			began := time.Now()
			require.NoError(t, ask(minute))
			whole := time.Since(began)
			clitest.Busy(t)
			answers := 1
			for range 4 * *rounds {
				if err := ask(time.Duration(random.Int64N(int64(2 * whole)))); err == nil {
					answers++
				} else {
					require.ErrorIs(t, err, context.DeadlineExceeded)
				}
			}
			calls := c.server.Calls()
			require.GreaterOrEqual(t, len(calls), answers)
			for _, call := range calls {
				require.True(t, strings.Contains(call.Prompt(), prompt), "%d of %d bytes", len(call.Prompt()), len(prompt))
			}
			t.Logf("%s: %d requests, %d answers", name, len(calls), answers)
		})
	}
}

// A script starts the CLI in its own session, so no signal reaches it. The call stops before the CLI reads its
// prompt.
func TestHalfPromptOfUnsignaledCLI(t *testing.T) {
	for _, name := range home.Names() {
		t.Run(name, func(t *testing.T) {
			longUnless(t, isFirst(name))
			prompt := longPrompt(300 << 10)
			c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
			cfg := c.Config()
			script := "#!/bin/sh\ntrap '' INT TERM\nsleep 0.1\nexec setsid -w '" + cfg.Binary + "' \"$@\"\n"
			cfg.Binary, cfg.Timeout = filepath.Join(t.TempDir(), name), 200*time.Millisecond
			cfg.Confine = call.ConfineOff // the script starts a program that is not part of its installation
			require.NoError(t, os.WriteFile(cfg.Binary, []byte(script), 0o700))
			deaf := clichain.NewProvider(specOf(t, name), &cfg)
			req := clichain.Prompt(prompt)
			req.Model = models[name]
			for range *rounds {
				_, err := deaf.Complete(t.Context(), req)
				require.ErrorIs(t, err, clichain.ErrTimeout)
			}
			for _, call := range c.server.Calls() {
				require.True(t, strings.Contains(call.Prompt(), prompt), "%d of %d bytes", len(call.Prompt()), len(prompt))
			}
		})
	}
}
