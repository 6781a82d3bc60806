package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// streams returns the names of all streams on the server.
func (f *fleet) streams() (names []string) {
	f.t.Helper()
	nc, err := nats.Connect(f.url)
	require.NoError(f.t, err)
	defer nc.Close()
	stream, err := js.New(nc)
	require.NoError(f.t, err)
	lister := stream.StreamNames(f.t.Context())
	for name := range lister.Name() {
		names = append(names, name)
	}
	require.NoError(f.t, lister.Err())
	return names
}

// TestMistypedQueue checks that commands that read a queue do not create one.
func TestMistypedQueue(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.answers("queue", "submit", "--queue", "nightly", "--id", "mine", "hi")
	before := f.streams()
	for _, args := range [][]string{
		{"queue", "status", "--once"}, {"queue", "result", "mine"}, {"queue", "list"},
		{"queue", "retry", "--all"}, {"queue", "drop", "--all"},
	} {
		_, stderr, status := f.run(append(args, "--queue", "nigthly")...)
		require.Equal(t, console.ExitUsage, status, args)
		require.Contains(t, stderr, `--queue: there is no queue "nigthly": it has "nightly"`, args)
		require.ElementsMatch(t, before, f.streams(), args)
	}
	_, stderr, status := f.run("queue", "result", "--queue", "nightly", "mine")
	require.Equal(t, console.ExitFailed, status)
	require.Contains(t, stderr, `job "mine": the job has no result yet`)
	_, stderr, status = f.run("queue", "result", "--queue", "nightly", "--wait", "other")
	require.Equal(t, console.ExitUsage, status)
	require.Contains(t, stderr, `there is no job "other" in the queue`)
}

// TestFleetCooldowns lists and clears the cooldowns of a fleet. The file of the user must stay unchanged.
func TestFleetCooldowns(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	require.Equal(t, "no backend is in cooldown\n", f.answers("cooldowns", "list", "--nats", f.url))
	require.Empty(t, f.streams())
	nc, err := nats.Connect(f.url)
	require.NoError(t, err)
	defer nc.Close()
	shared, err := jetstream.OpenCooldowns(t.Context(), nc, nil)
	require.NoError(t, err)
	defer shared.Close()
	for _, key := range []string{"codex@one", "codex@two/gpt-5.5", "claude@one"} {
		require.NoError(t, shared.Update(t.Context(), key, func(cooldown.State) cooldown.State {
			return cooldown.State{Failures: 1, Reason: clichain.ReasonUsageLimit, Until: time.Now().Add(time.Hour)}
		}))
	}
	list := f.answers("cooldowns", "list", "--nats", f.url)
	require.Contains(t, list, "codex/gpt-5.5  until ")
	require.Contains(t, list, "after usage_limit")
	require.Equal(t, "no backend is in cooldown\n", f.answers("cooldowns", "list"), "NATS_URL alone chooses no fleet")
	require.Contains(t, f.answers("cooldowns", "list", "--json", "--nats", f.url), `"backend":"claude"`)
	_, stderr, status := f.run("cooldowns", "clear", "--nats", f.url, "cluade")
	require.Equal(t, console.ExitUsage, status)
	require.Contains(t, stderr, `unknown backend "cluade"`)
	require.Equal(t, "cleared: codex, codex/gpt-5.5\n", f.answers("cooldowns", "clear", "codex", "--nats", f.url))
	require.NotContains(t, f.answers("cooldowns", "list", "--nats", f.url), "codex")
	require.Equal(t, f.answers("cooldowns", "list", "--nats", f.url), f.answers("queue", "cooldowns", "list"))
	require.Contains(t, f.answers("queue", "cooldowns", "list", "--json"), `"backend":"claude"`)
	_, stderr, status = f.run("queue", "cooldowns", "clear", "cluade")
	require.Equal(t, console.ExitUsage, status)
	require.Contains(t, stderr, `unknown backend "cluade"`)
	require.Equal(t, "cleared: claude\n", f.answers("queue", "cooldowns", "clear"))
	require.Equal(t, "no backend is in cooldown\n", f.answers("queue", "cooldowns", "list"))
}

// If --queue and NATS_URL are set, the workers of the queue answer a batch.
func TestBatchQueueFromEnvironment(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.fake("claude", "answer", "from the fleet")
	w := f.worker("--queue", "lines", "--only", "claude")
	out := f.answers("batch", "-i", f.lines(1), "-o", "-", "--queue", "lines", "--quiet")
	require.Contains(t, out, "from the fleet")
	_, log := w.stop(os.Interrupt)
	require.Contains(t, log, "job answered")
}

// TestSubmitToFullQueue checks that a full queue rejects a job, that the error names the limit, and that status shows
// it.
func TestSubmitToFullQueue(t *testing.T) {
	t.Parallel()
	s := consoletest.NATSServer(t, func(o *server.Options) { o.JetStreamMaxStore = 4 << 20 })
	f := &fleet{newWorld(t), s.ClientURL()}
	prompt := filepath.Join(t.TempDir(), "prompt")
	require.NoError(t, os.WriteFile(prompt, bytes.Repeat([]byte("x"), 700<<10), 0o600))
	stderr, status := "", 0
	for range 10 {
		if _, stderr, status = f.run("queue", "submit", "--prompt-file", prompt); status != 0 {
			break
		}
	}
	require.Equal(t, console.ExitFailed, status)
	require.Contains(t, stderr, "the queue is full: no space for a job of ")
	require.Contains(t, stderr, "of at most 2097152 bytes")
	table := f.answers("queue", "status")
	require.Regexp(t, `stored +1\.?[0-9]* MiB +of 2 MiB for jobs and large payloads`, table)
}
