package container_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/runs"
	"github.com/clichain/clichain/specs"
)

// boxedCodex returns a provider whose CLI, a fake at cli, runs in a container.
func boxedCodex(client, cli string, c clichain.Container, cfg clichain.Config) *clichain.Provider {
	c.Runtime = client
	cfg.Container, cfg.Binary = &c, cli
	return clichain.NewProvider(specs.Codex(), &cfg)
}

func fakeCodex(t *testing.T, steps ...clitest.Step) string {
	t.Helper()
	return clitest.Fake(t, "codex", chaintest.Play(steps...))
}

var places = map[string]clichain.Container{
	"docker exec": {Name: "dev", RunArgs: []string{"--user=0"}}, "podman exec": {Name: "dev"},
	"docker run": {Image: "example/codex"}, "podman run": {Image: "example/codex"},
}

func clientOf(place string) string { return strings.Fields(place)[0] }

func TestContainerAnswers(t *testing.T) {
	for place, c := range places {
		t.Run(place, func(t *testing.T) {
			e, client := newEngine(t, clientOf(place))
			record := filepath.Join(t.TempDir(), "record.json")
			cli := fakeCodex(t, clitest.Step{Record: record}, chaintest.Stdout(chaintest.CodexAnswer("from inside")))
			clitest.NoLeaks(t)
			t.Setenv("OPENAI_API_KEY", "secret-own")
			t.Setenv("STRANGER", "secret-stranger")
			prompt := "it's \x01 `$x`\r\n--help\n" + strings.Repeat("é", 200_000) + "\n"
			p := boxedCodex(client, cli, c, clichain.Config{
				Env: []string{"TOKEN=secret-token", "TMPDIR=/inside/tmp"}, RequestEnv: []string{"CHAT_ID", "JOB_*"},
			})
			resp, err := p.Complete(t.Context(), clichain.Request{
				Messages: clichain.Prompt(prompt).Messages, Access: clichain.AccessRead, Dir: "/usr/bin",
				Env: map[string]string{"CHAT_ID": "7", "JOB_TOKEN": "secret of the job"},
			})
			require.NoError(t, err)
			require.Equal(t, "from inside", resp.Text)
			require.Empty(t, resp.Warnings)

			got, err := clitest.ReadRecord(record)
			require.NoError(t, err)
			require.Equal(t, prompt, string(got.Stdin))
			require.Equal(t, "/usr/bin", got.Dir)
			require.Less(t, got.Pid, 100, "it has a namespace of its own")
			require.Subset(t, got.Env, []string{"OPENAI_API_KEY=secret-own", "TOKEN=secret-token", "CHAT_ID=7", "JOB_TOKEN=secret of the job", "TMPDIR=/inside/tmp", "HOME=/inside", "PATH=" + e.cliDir + ":/usr/bin:/bin"})
			require.NotContains(t, strings.Join(got.Env, "\n"), "stranger")
			for _, call := range e.calls {
				require.NotContains(t, strings.Join(call.Args, " "), "secret")
			}
			if c.Name != "" {
				require.Equal(t, []string{"exec", "sweep"}, e.asked())
			} else {
				require.Equal(t, []string{"run", "rm"}, e.asked())
				require.Equal(t, []string{"dev"}, e.names())
			}
			require.Empty(t, clitest.Survivors(cli))
		})
	}
}

// Temporary files of a call are inside the container, private, and removed afterwards.
func TestContainerFiles(t *testing.T) {
	t.Parallel()
	e, client := newEngine(t, "docker")
	script := "#!/bin/sh\ncat >/dev/null\npwd; stat -c '%a %n' \"$2\" \"$TMPDIR\"; cat \"$2\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(e.cliDir, "boxed"), []byte(script), 0o755))
	clitest.NoLeaks(t)
	p := clichain.NewProvider(boxSpec(), &clichain.Config{Container: &clichain.Container{Runtime: client, Name: "dev"}})
	resp, err := p.Complete(t.Context(), withSystem())
	require.NoError(t, err)
	lines := strings.Split(resp.Text, "\n")
	folder := strings.TrimSuffix(lines[0], "/empty")
	require.Regexp(t, `^/tmp/clichain-\w+$`, folder)
	require.Equal(t, []string{"600 " + folder + "/system.md", "700 " + folder, "secret-system"}, lines[1:])
	require.NoDirExists(t, folder)
	require.NotContains(t, e.inside("ls", "-A", "/tmp"), "clichain-")
}

// The untrusted directory is checked inside the container, before the CLI starts.
func TestUntrustedFolderInside(t *testing.T) {
	t.Parallel()
	e, client := newEngine(t, "docker")
	require.NoError(t, os.WriteFile(filepath.Join(e.cliDir, "boxed"), []byte("#!/bin/sh\necho fine\n"), 0o755))
	clitest.NoLeaks(t)
	work, err := filepath.EvalSymlinks(t.TempDir()) // this engine shares the files
	require.NoError(t, err)
	below := filepath.Join(work, "below")
	require.NoError(t, os.Mkdir(below, 0o700))
	ask := func(cfg clichain.Config) error {
		cfg.Container = &clichain.Container{Runtime: client, Name: "dev"}
		req := clichain.Prompt("hi")
		req.Access, req.Dir = clichain.AccessRead, below
		_, err := clichain.NewProvider(boxSpec(), &cfg).Complete(t.Context(), req)
		return err
	}
	require.NoError(t, ask(clichain.Config{}))
	require.NoError(t, os.Mkdir(filepath.Join(work, ".boxed"), 0o700))
	be := chaintest.RequireReason(t, clichain.ReasonUntrustedDir, ask(clichain.Config{}))
	require.Contains(t, be.Message, filepath.Join(work, ".boxed"))
	require.Contains(t, be.HintText(), "Config.TrustDir")
	require.NoError(t, ask(clichain.Config{TrustDir: true}))
	require.NoError(t, ask(clichain.Config{Env: []string{"HOME=" + work}}), "the user's own")
}

// runaways are processes that escape from a kill of the CLI, its process group or its session.
var runaways = []clitest.Step{
	{Ignore: []string{"INT"}},
	{Spawn: &clitest.Spawn{Setsid: true, Steps: []clitest.Step{{Hang: true}}}},
	{Spawn: &clitest.Spawn{Daemon: true, Steps: []clitest.Step{{Hang: true}}}},
}

// hangingBox starts a call that leaves runaways, and returns when they run. It doubles the timeout until the runaways
// start in time.
func hangingBox(t *testing.T, ctx context.Context, client string, c clichain.Container, cfg clichain.Config, more ...clitest.Step) (cli string, wait func() error) {
	t.Helper()
	for ; cfg.Timeout < time.Minute; cfg.Timeout *= 2 {
		started := filepath.Join(t.TempDir(), "started")
		cli = fakeCodex(t, append(append(more, runaways...), clitest.Step{Record: started}, clitest.Step{Hang: true})...)
		p := boxedCodex(client, cli, c, cfg)
		over := make(chan error, 1)
		go func() {
			_, err := p.Complete(ctx, clichain.Prompt("hi"))
			over <- err
		}()
		for tick := time.Tick(time.Millisecond); len(over) == 0; <-tick {
			if _, err := clitest.ReadRecord(started); err == nil {
				require.Len(t, clitest.Survivors(cli), 3)
				return cli, func() error { return <-over }
			}
		}
		if t.Logf("it was over before: %v", <-over); cfg.Timeout < 0 {
			break
		}
	}
	t.Fatal("the runaways never ran")
	return "", nil
}

// An engine on another machine is the hard case, because this machine does not see its processes.
func TestNothingIsLeftInside(t *testing.T) {
	t.Parallel()
	var registry runs.Registry
	stops := map[string]struct {
		cfg    clichain.Config
		stop   func(cancel context.CancelFunc, e *engine)
		reason clichain.Reason
	}{
		"timeout":    {clichain.Config{Timeout: 1500 * time.Millisecond}, nil, clichain.ReasonTimeout},
		"cancel":     {clichain.Config{Timeout: -1}, func(cancel context.CancelFunc, _ *engine) { cancel() }, clichain.ReasonCanceled},
		"abort":      {clichain.Config{Timeout: -1, Registry: &registry}, func(context.CancelFunc, *engine) { registry.KillAll("k") }, clichain.ReasonCanceled},
		"client die": {clichain.Config{Timeout: -1}, func(_ context.CancelFunc, e *engine) { e.killClients() }, clichain.ReasonKilled},
	}
	for place, c := range map[string]clichain.Container{"docker exec": {Name: "dev"}, "podman run": {Image: "i"}} {
		for name, test := range stops {
			t.Run(place+" "+name, func(t *testing.T) {
				e, client := newEngine(t, clientOf(place))
				e.foreign = true
				clitest.NoLeaks(t)
				ctx, cancel := context.WithCancel(runs.WithKey(t.Context(), "k", ""))
				defer cancel()
				cli, wait := hangingBox(t, ctx, client, c, test.cfg)
				if test.stop != nil {
					test.stop(cancel, e)
				}
				chaintest.RequireReason(t, test.reason, wait())
				require.Empty(t, clitest.Survivors(cli))
				require.Equal(t, []string{"dev"}, e.names(), "and no container but that of others")
			})
		}
	}
}

// killClients kills the client processes, as another program might.
func (e *engine) killClients() {
	for _, client := range []string{"docker", "podman"} {
		for _, s := range clitest.Survivors(filepath.Join(e.dir, client)) {
			_ = syscall.Kill(s.Pid, syscall.SIGKILL) // it may have exited
		}
	}
}

// A process that ignores SIGTERM is killed after about a second.
func TestStubbornInside(t *testing.T) {
	t.Parallel()
	e, client := newEngine(t, "docker")
	e.foreign = true
	clitest.NoLeaks(t)
	ctx, cancel := context.WithCancel(t.Context())
	cli, wait := hangingBox(t, ctx, client, clichain.Container{Name: "dev"}, clichain.Config{Timeout: -1}, clitest.Step{Ignore: []string{"TERM"}})
	cancel()
	start := time.Now()
	chaintest.RequireReason(t, clichain.ReasonCanceled, wait())
	require.Greater(t, time.Since(start), 900*time.Millisecond)
	require.Empty(t, clitest.Survivors(cli))
}

// A success leaves no process either.
func TestNothingIsLeftInsideAfterAnAnswer(t *testing.T) {
	t.Parallel()
	e, client := newEngine(t, "docker")
	e.foreign = true
	clitest.NoLeaks(t)
	cli := fakeCodex(t, append(runaways[1:], chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("ok")))...)
	resp, err := boxedCodex(client, cli, clichain.Container{Name: "dev"}, clichain.Config{}).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Empty(t, resp.Warnings)
	require.Empty(t, clitest.Survivors(cli))
}

// denySweeps makes it impossible to end the processes inside.
func denySweeps(args []string) string {
	if args[len(args)-1] != "" && strings.Contains(strings.Join(args, " "), "CLICHAIN_CALL=") {
		return "the engine is on strike"
	}
	return ""
}

// The control: without the sweep all runaways survive, and the call reports that, so the other tests would notice.
func TestWithoutTheSweepTheySurvive(t *testing.T) {
	t.Parallel()
	t.Run("failure", func(t *testing.T) {
		e, client := newEngine(t, "docker")
		e.foreign, e.deny = true, denySweeps
		ctx, cancel := context.WithCancel(t.Context())
		cli, wait := hangingBox(t, ctx, client, clichain.Container{Name: "dev"}, clichain.Config{Timeout: -1})
		cancel()
		err := wait()
		chaintest.RequireReason(t, clichain.ReasonCanceled, err)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "left in the container: exit status 1: the engine is on strike")
		require.Len(t, clitest.Survivors(cli), 3)
	})
	t.Run("success", func(t *testing.T) {
		e, client := newEngine(t, "docker")
		e.foreign, e.deny = true, denySweeps
		cli := fakeCodex(t, append(runaways[1:], chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("ok")))...)
		resp, err := boxedCodex(client, cli, clichain.Container{Name: "dev"}, clichain.Config{}).Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		require.Len(t, resp.Warnings, 1)
		require.Contains(t, resp.Warnings[0], "the engine is on strike")
		require.Len(t, clitest.Survivors(cli), 2)
	})
}

// With an engine on this machine the container gets the mark of the run, so that the guards of runs on this machine
// cover it.
func TestLocalEngineIsGuardedFromOutside(t *testing.T) {
	t.Parallel()
	e, client := newEngine(t, "docker")
	e.deny = denySweeps
	ctx, cancel := context.WithCancel(t.Context())
	cli, wait := hangingBox(t, ctx, client, clichain.Container{Name: "dev"}, clichain.Config{Timeout: -1})
	cancel()
	require.ErrorContains(t, wait(), "on strike")
	require.Empty(t, clitest.Survivors(cli))
}
